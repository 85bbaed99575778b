"""Forecasts a run before its first update: sizes, measured speed, time, memory.

Speed is measured on a few of the run's own batches. It leaves no trace: weights, position in
the data and all random numbers are as before.
"""

import os
import resource
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from concatmt.corpus.batch import WindowBatch
from concatmt.processor import multiplies_bfloat16
from concatmt.training.objective import seed_batch
from concatmt.training.tuning import count

if TYPE_CHECKING:
    from concatmt.training.trainer import Trainer

PROBE_SECONDS = 3.0  # after a first batch to warm up
PROBE_BATCHES = 8
MOMENTS = 2  # numbers that Adam keeps per parameter
FLOAT_BYTES = 4
HEAP = 1.25  # how far the heap grows beyond its size after a few batches (see `heap`)
HIGH_PADDING = 0.15
HIGH_SHARE = 0.2  # of parameters in embeddings; above this it pays to freeze them
LOW_DISCOUNT = 0.1


@dataclass(frozen=True, slots=True)
class Forecast:
    """Measured speed and memory, and what follows from them."""

    parameters: int
    trained: int
    tokens: int  # target tokens in an epoch, context included
    updates: int  # updates in an epoch
    speed: float  # target tokens per second, all processes
    memory: float  # bytes per process

    @classmethod
    def measure(cls, trainer: "Trainer") -> "Forecast":
        """Run a few batches forward and backward; in all processes at the same time."""
        stream, processes = trainer.stream, trainer.processes
        seconds, tokens = _probe(trainer)
        speed = torch.tensor([tokens / max(seconds, 1e-9)], dtype=torch.float64)
        speed = processes.sum(speed.to(processes.device))
        trained = count(trainer.trained)
        return cls(
            count(trainer.model.parameters()),
            trained,
            int(stream.windows.lengths()[1].sum()),
            len(stream) * processes.world // trainer.batches,
            float(speed),
            _peak(processes.device) + MOMENTS * FLOAT_BYTES * trained,
        )

    def lines(self, trainer: "Trainer") -> list[str]:
        """Lines for the console."""
        seconds = self.tokens / self.speed / max(self.updates, 1)  # per update
        config, state = trainer.config, trainer.state
        limits = [
            (config.max_updates, 1, "updates"),
            (config.max_epochs, self.updates, "epochs"),
        ]
        ends = [(n * size - state.update, f"{n:,} {what}") for n, size, what in limits if n]
        left, until = min(ends, default=(self.updates, "an epoch"))
        share = "" if self.trained == self.parameters else f", {self.trained:,} of them trained"
        return [
            f"{self.parameters:,} parameters{share}; {self.tokens:,} target tokens an epoch in"
            f" {self.updates:,} updates",
            f"{self.speed:,.0f} target tokens/s, {seconds:.1f} s an update:"
            f" {duration(left * seconds)} to {until}, validations apart;"
            f" {self.memory / 1e9:.1f} GB of memory a process",
        ]


def _probe(trainer: "Trainer") -> tuple[float, int]:
    """Seconds and target tokens of a few of this process's batches."""
    stream, processes = trainer.stream, trainer.processes
    places = range(processes.rank, len(stream.plan), processes.world)[: PROBE_BATCHES + 1]
    batches = (stream.windows.batch(stream.plan[place]) for place in places)
    _backward(trainer, next(batches), 0)
    started, tokens = time.monotonic(), 0
    for index, batch in enumerate(batches, start=1):
        tokens += batch.target.token_count
        _backward(trainer, batch, index)
        if time.monotonic() - started > PROBE_SECONDS:
            break
    else:
        if not tokens:  # there is only one batch
            batch = stream.windows.batch(stream.plan[places[0]])
            tokens += batch.target.token_count
            _backward(trainer, batch, 0)
    seconds = time.monotonic() - started
    for parameter in trainer.trained.values():
        parameter.grad = None
    return seconds, tokens


def _backward(trainer: "Trainer", batch: WindowBatch, index: int) -> None:
    seed_batch(trainer.seed, 0, index)
    with trainer.precision():
        loss = trainer.objective(batch.to(trainer.processes.device))
    (loss.total / trainer.config.tokens_per_update).backward()
    if trainer.processes.device.type == "cuda":
        torch.cuda.synchronize(trainer.processes.device)


def _peak(device: torch.device) -> float:
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(device))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit * HEAP


def advice(trainer: "Trainer") -> list[str]:
    """Settings that would make this run faster, each with its reason, largest gains first."""
    padding = _padding(trainer)
    config, model, processes = trainer.config, trainer.model, trainer.processes
    on_cpu = processes.device.type == "cpu"
    hints = []
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if on_cpu and processes.world < (cores or 1):
        hints.append(
            f"torchrun --nproc-per-node {cores} -m concatmt train ...: a process for each core"
        )
    if config.precision == "fp32" and (not on_cpu or multiplies_bfloat16()):
        what = "this processor has" if on_cpu else "GPUs have"
        hints.append(f"training.precision=bf16: {what} instructions for it, some twice as fast")
    discount = model.config.system.context_discount
    windows = model.config.system.sentences > 1
    if windows and discount <= LOW_DISCOUNT and config.discounting == "exact":
        hints.append(
            "training.discounting=stochastic: no logits for the context tokens that hardly count"
        )
    embeddings = count(p for name, p in trainer.trained.items() if "embedding" in name)
    share = embeddings / max(count(trainer.trained), 1)
    if config.warm_start is not None and share > HIGH_SHARE:
        hints.append(
            f"training.tuning.embeddings=separator: {share:.0%} of what is trained are embeddings,"
            " which a pretrained model has already"
        )
    if padding > HIGH_PADDING:
        hints.append(
            f"a larger training.batch.tokens: {padding:.0%} of a batch is padding, larger ones find"
            " windows of more equal lengths"
        )
    return hints


def _padding(trainer: "Trainer") -> float:
    """The share of padding in the target side of an epoch's batches."""
    plan, lengths = trainer.stream.plan, trainer.stream.windows.lengths()[1]
    longest = np.maximum.reduceat(lengths[plan.rows], plan.bounds[:-1])
    padded = int((longest * np.diff(plan.bounds)).sum())
    return 1 - int(lengths[plan.rows].sum()) / padded


def duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    seconds = max(0, round(seconds))
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 60} min {seconds % 60} s"
