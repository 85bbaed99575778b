"""The training loop: updates, validations and checkpoints until there is a reason to stop.

An update sums the gradients of a fixed number of batches over all processes and divides them by
what the loss declares (tokens or weights), so it does not depend on the number of processes.
A batch's random numbers depend only on its number, so interruptions leave no trace.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from concatmt.corpus.batch import WindowBatch
from concatmt.corpus.batches import BatchStream
from concatmt.corpus.windows import Windows
from concatmt.errors import UserError
from concatmt.heap import Heap
from concatmt.model.transformer import Transformer
from concatmt.processor import avoid_missing_tiles
from concatmt.training.checkpoints import Checkpoints
from concatmt.training.config import TrainingConfig
from concatmt.training.objective import Objective, Totals, seed_batch, totals_of
from concatmt.training.optimisers import learning_rate, make_optimisers
from concatmt.training.processes import Processes
from concatmt.training.reporter import Reporter
from concatmt.training.run import Run
from concatmt.training.samples import Samples
from concatmt.training.state import TrainingState
from concatmt.training.trackers import Ending
from concatmt.training.validation import Measured, Validator

EXPLOSION = 1e4  # times the running mean of the gradient's norm
MEMORY_OF_NORM = 0.99
ECHO_SECONDS = 0.5  # a launcher may repeat a Ctrl-C that the terminal has already sent


class Trainer:
    """Trains one model on one store; `run()` resumes from the newest checkpoint."""

    def __init__(
        self,
        run: Run,
        model: Transformer,
        config: TrainingConfig,
        train: Windows,
        valid: Windows,
        seed: int,
        processes: Processes,
        samples: Samples | None = None,
    ) -> None:
        """`samples`: documents that the first process translates at every validation."""
        self.config, self.seed, self.processes = config, seed, processes
        self.model = model.to(processes.device).train()
        self.batches, batch = batches_per_update(config, processes.world)
        self.stream = BatchStream(
            train,
            batch,
            seed,
            rank=processes.rank,
            world=processes.world,
            multiple_of=self.batches,
        )
        at_most = config.validation_windows
        self.validator = Validator(valid, batch, processes, at_most)
        self.alone: Validator | None = None  # of the same sentences without context
        if config.validate_sentences and valid.sentences.max() > 1:
            sentences = Windows.of(valid.split, 1)
            self.alone = Validator(sentences, batch, processes, at_most)
        self.samples = samples
        self.objective = Objective(self.model, config)
        self.trained = self.objective.trained
        self.optimisers = make_optimisers(self.model, config.optimiser, self.trained)
        self.scaler = _scaler(config, processes.device)
        self.checkpoints = Checkpoints(run.folder / "checkpoints")
        self.reporter = Reporter(run, config, processes.first)
        self.heap = Heap()
        self.state = TrainingState()
        self._resume(run)
        self.wrapped = self._wrap()
        self.asked_to_stop = False  # this process was
        self.from_keyboard = False  # by Ctrl-C
        self._asked_at = 0.0
        self.interrupted = False  # some process was asked to stop, and all agreed

    def run(self) -> str | None:
        """Train until there is a reason to stop, which is returned.

        Returns None if the process was asked to stop (SIGTERM, Ctrl-C): the run is saved and can be
        resumed.
        """
        ending: Ending = "failed"
        try:
            reason = self._run()
            ending = "stopped" if reason is None else "finished"
        finally:
            self.reporter.close(ending)
        return reason

    def _run(self) -> str | None:
        with self._listening():
            if self.config.warm_start is not None and not self.state.update:
                self.reporter.validation(0, self._measure(), best=False)
            while (reason := self._reason()) is None and not self.interrupted:
                for batches in self.updates():
                    self.update(batches)
                    if self.interrupted or self._reason() is not None:
                        break
            if reason is not None and self.state.validations[-1:] != [self.state.update]:
                self._validate()
        return reason

    def wanted(self) -> list[int]:
        """Updates of the checkpoints that are averaged: the best and its followers."""
        return self.state.to_average(self.config.average)

    def updates(self) -> Iterator[list[WindowBatch]]:
        """The rest of an epoch, in lists of this process's batches for one update each."""
        batches = self.stream.epoch_batches()
        share = self.batches // self.processes.world
        while group := list(islice(batches, share)):
            yield group

    def update(self, batches: list[WindowBatch]) -> None:
        """One update from this process's batches, then validation and checkpoint if due."""
        config = self.config.optimiser
        self.state.update += 1
        rate = learning_rate(config, self.state.update)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
        totals = self._backward(batches)
        norm = self._scale_gradients(totals)
        for optimiser in self.optimisers:
            # All optimisers or none: the scaler would skip only the one whose gradients overflow.
            if math.isfinite(norm):
                self.scaler.step(optimiser)
            optimiser.zero_grad(set_to_none=True)
        self.scaler.update()
        if self.objective.separator is not None:
            self.objective.separator.write()
        self.heap.trim()
        self._check_divergence(totals, norm)
        epoch_share = self.stream.next / len(self.stream)
        place = f"epoch {self.stream.epoch + 1} ({epoch_share:.0%})"
        self.reporter.update(self.state.update, totals, rate, norm, place)
        self._after_update(totals)

    def _after_update(self, totals: Totals) -> None:
        every = self.config.validate_every
        ended = self.stream.next == len(self.stream)
        if ended if every == "epoch" else self.state.update % every == 0:
            self._validate()
        elif totals.stop or (
            self.config.checkpoint_every and self.state.update % self.config.checkpoint_every == 0
        ):
            self._checkpoint()
        self.interrupted = totals.stop > 0

    def _backward(self, batches: list[WindowBatch]) -> Totals:
        """Add up the gradients of this process's batches; returns the totals of all processes."""
        losses, moved = [], []
        first = (self.stream.next - len(batches)) * self.processes.world + self.processes.rank
        for i, batch in enumerate(batches):
            seed_batch(self.seed, self.stream.epoch, first + i * self.processes.world)
            batch = batch.to(self.processes.device)
            last = i == len(batches) - 1
            with self._synchronised(last), self.precision():
                loss = self.wrapped(batch)
                # Divide by a constant so that half precision does not overflow.
                self.scaler.scale(loss.total / self.config.tokens_per_update).backward()
            losses.append(loss)
            moved.append(batch)
        totals = totals_of(losses, moved)
        totals.stop = float(self.asked_to_stop)
        device = self.processes.device
        return Totals.from_tensor(self.processes.sum(totals.to_tensor(device)))

    def _scale_gradients(self, totals: Totals) -> float:
        """Divide the summed gradients by the normaliser and clip them; returns their norm."""
        for optimiser in self.optimisers:
            self.scaler.unscale_(optimiser)
        gradients = [p.grad for p in self.trained.values() if p.grad is not None]
        # DDP has averaged over the processes, but the sum is needed.
        factor = self.config.tokens_per_update * self.processes.world / totals.normaliser
        norm = float(nn.utils.get_total_norm(gradients)) * factor
        clip = self.config.optimiser.clip_norm
        if clip and norm > clip:
            factor *= clip / norm
        torch._foreach_mul_(gradients, factor)
        return norm

    def _check_divergence(self, totals: Totals, norm: float) -> None:
        if self.scaler.is_enabled() and not math.isfinite(norm):
            return  # the scaler has skipped this update and lowered its scale
        usual = self.state.norm
        exploded = usual is not None and norm > EXPLOSION * usual and self.state.update > 100
        if not math.isfinite(totals.weighted) or not math.isfinite(norm) or exploded:
            saved = self.checkpoints.all()
            kept = f"checkpoint {saved[-1].update:,} is kept" if saved else "no checkpoint yet"
            raise UserError(
                f"{self.checkpoints.folder.parent}: diverged at update {self.state.update:,}: loss"
                f" {totals.discounted:.4g}, gradient norm {norm:.4g}; {kept}; lower"
                " training.optimiser.learning_rate"
            )
        self.state.norm = (
            norm if usual is None else MEMORY_OF_NORM * usual + (1 - MEMORY_OF_NORM) * norm
        )

    def _validate(self) -> None:
        measured = self._measure()
        best = self.state.record(getattr(measured.windows, self.config.stop_metric))
        self.reporter.validation(self.state.update, measured, best)
        self._checkpoint()
        self.processes.wait()

    def _measure(self) -> Measured:
        windows = self.validator(self.objective, self.precision)
        alone = None if self.alone is None else self.alone(self.objective, self.precision)
        samples = self.samples if self.processes.first else None
        return Measured(windows, alone, None if samples is None else samples(self.model))

    def _checkpoint(self) -> None:
        if not self.processes.first:
            return
        state = {
            "training": self.state.to_json(),
            "stream": self.stream.state(),
            "scaler": self.scaler.state_dict(),
        }
        try:
            self.checkpoints.write(
                self.state.update, self.model, self.trained, self.optimisers, state
            )
            self.checkpoints.prune(self.state.to_average(self.config.average))
        except OSError as error:
            # A full disk must not end a run of days: the older checkpoint still exists.
            what = f"checkpoint {self.state.update:,} not written: {error.strerror or error}"
            self.reporter.warn(f"{what}; training goes on")

    def _resume(self, run: Run) -> None:
        state = self.checkpoints.restore(self.model, self.trained, self.optimisers)
        if state is not None:
            if self.objective.separator is not None:
                self.objective.separator.read()
            self.state = state.training
            self.stream.restore(state.stream.model_dump())
            self.scaler.load_state_dict(state.scaler)
            self.reporter.say(f"resuming after update {self.state.update:,}")
        self.model.to(self.processes.device)
        self.processes.wait()
        if self.processes.first:
            run.rewind(self.state.update)

    def _reason(self) -> str | None:
        finished = self.stream.epoch + (self.stream.next == len(self.stream))
        return self.state.why_stop(self.config, finished)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Treat SIGTERM and Ctrl-C as a request to save and stop."""
        # A shell makes background processes ignore Ctrl-C, which is then meant for others.
        numbers = [
            number
            for number in (signal.SIGTERM, signal.SIGINT)
            if signal.getsignal(number) != signal.SIG_IGN
        ]
        previous = [(number, signal.signal(number, self._ask_to_stop)) for number in numbers]
        try:
            yield
        finally:
            for number, handler in previous:
                signal.signal(number, handler)

    def _ask_to_stop(self, number: int, _: Any) -> None:
        now = time.monotonic()
        if not self.asked_to_stop:
            self.asked_to_stop, self._asked_at = True, now
            self.from_keyboard = number == signal.SIGINT
            if self.from_keyboard and self.processes.first:
                # Not `print`, which may be what was interrupted.
                os.write(2, b"\nsaving after this update; Ctrl-C again ends at once\n")
        elif number == signal.SIGINT and now - self._asked_at > ECHO_SECONDS:
            raise KeyboardInterrupt

    def _wrap(self) -> Callable[[WindowBatch], Any]:
        module: nn.Module = self.objective
        if self.config.compile:
            module.compile(dynamic=True)
        if self.processes.world > 1:
            cuda = self.processes.device.type == "cuda"
            module = DistributedDataParallel(
                module, device_ids=[self.processes.device.index] if cuda else None
            )
        return module

    def _synchronised(self, last: bool) -> AbstractContextManager[object]:
        if isinstance(self.wrapped, DistributedDataParallel) and not last:
            return self.wrapped.no_sync()
        return nullcontext()

    def precision(self) -> AbstractContextManager[object]:
        """The precision of the forward pass, as a context manager."""
        if self.config.precision == "fp32":
            return nullcontext()
        avoid_missing_tiles()
        dtype = torch.bfloat16 if self.config.precision == "bf16" else torch.float16
        return torch.autocast(self.processes.device.type, dtype=dtype)


def batches_per_update(config: TrainingConfig, world: int) -> tuple[int, Any]:
    """The number of batches in an update, over all processes, and their size.

    The fewest that memory (`batch.tokens`) allows, as a multiple of the number of processes.
    """
    per_process = math.ceil(config.tokens_per_update / (config.batch.tokens * world))
    count = per_process * world
    tokens = math.ceil(config.tokens_per_update / count)
    return count, config.batch.model_copy(update={"tokens": tokens})


def _scaler(config: TrainingConfig, device: torch.device) -> torch.amp.GradScaler:
    fp16 = config.precision == "fp16"
    if fp16 and device.type != "cuda":
        raise UserError("training.precision: fp16 needs a GPU; use fp32 or bf16 on a CPU")
    return torch.amp.GradScaler(device.type, enabled=fp16)
