"""Speed and memory of training steps, beside MarianMT of transformers and the machine's limit.

    python benchmarks/model.py --peer PEER_PYTHON [--threads 1] [--rounds 5] [--output FILE]

PEER_PYTHON is the interpreter of a venv with torch and transformers. Every model runs in a process
of its own; the steps alternate, so that what else the machine does hits all of them alike. In every
round the rate of a large matrix product is measured too: the limit is the model's floating-point
operations on real tokens at that rate. Figures are medians over the rounds. Time is CPU time of all
threads: it hardly depends on what else the machine does, which wall time would.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import VOCABULARY

from concatmt.corpus.batch import WindowBatch
from concatmt.files import write_json
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.loss import LossConfig, discount_weights, window_loss
from concatmt.model.products import linear
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer

TOKENS = 4096  # padded target tokens of a batch
BATCHES = 4
ENCODINGS = ["s4to4", "s4to4+pers", "s4to4+shift8+pers", "s4to4+1hot+pers", "s4to4+sin+pers",
             "s4to4+lrn+pers", "s4to4+1hot+pers+pse", "s4to4+lrn+pers+pse"]  # fmt: skip


def make_batches(vocabulary: int, tokens: int = TOKENS) -> list[WindowBatch]:
    """Windows of 4 sentences of 8.6 +- 4.9 tokens (the paper's En-Ru corpus), by length.

    A translation's length is its source's, give or take a fifth.
    """
    random = np.random.default_rng(1)
    lengths = np.clip(random.gamma(3.08, 2.79, (4000, 4)), 1, 60)

    def side(lengths: Any) -> list[list[list[int]]]:
        rows = np.maximum(np.rint(lengths), 1).astype(int)
        return [[random.integers(4, vocabulary, n).tolist() for n in row] for row in rows]

    noise = random.lognormal(0, 0.2, lengths.shape)
    pairs = sorted(zip(side(lengths), side(lengths * noise), strict=True), key=_cost)
    batches = []
    for start in np.linspace(600, 3200, BATCHES).astype(int):
        end = start + 1
        while (end + 1 - start) * max(_cost(pair) for pair in pairs[start : end + 1]) <= tokens:
            end += 1
        batches.append(WindowBatch.from_lists(*map(list, zip(*pairs[start:end], strict=True))))
    return batches


def _cost(pair: tuple[list[list[int]], list[list[int]]]) -> int:
    return max(sum(len(sentence) + 1 for sentence in window) for window in pair)


def build(size: str, system: str) -> Transformer:
    """One of our models, in training mode."""
    torch.manual_seed(0)
    vocabulary = VOCABULARY[size]
    config = ModelConfig(
        architecture=SIZES[size],
        system=parse_system(system),
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
    )
    return Transformer(config).train()


def step(model: Transformer, batch: WindowBatch) -> float:
    """Forward, loss and backward; the loss per token."""
    model.zero_grad(set_to_none=True)
    weights = discount_weights(batch.target, model.config.system.context_discount)
    loss = window_loss(model(batch), model.output.weight, batch.target, weights, LossConfig()).mean
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def flops(batch: WindowBatch, size: str) -> float:
    """Of forward and backward on the real tokens: matrix products of layers, scores and output."""
    shape = SIZES[size]
    dim, layers, inner = shape.dim, shape.encoder.layers, shape.encoder.feed_forward
    source, target = batch.source.lengths.double(), batch.target.lengths.double()
    encoder = source * (4 * dim**2 + 2 * dim * inner) + 2 * source**2 * dim
    cross = source * 2 * dim**2 + 2 * source * target * dim
    decoder = target * (6 * dim**2 + 2 * dim * inner) + target**2 * dim
    output = target * dim * VOCABULARY[size]
    return float(6 * (layers * (encoder + cross + decoder) + output).sum())


def gemm_rate() -> float:
    """Floating-point operations per CPU second of a large matrix product, best of three.

    By the library that multiplies in a model too.
    """
    a, b = torch.rand(2048, 2048), torch.rand(2048, 2048)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        linear(a, b)
        seconds.append(time.process_time() - start)
    return float(2 * 2048**3 / min(seconds))


def serve(spec: dict[str, Any]) -> None:
    """Our side of the worker protocol (see model_peer.py); `gemm` asks for the machine's rate."""
    torch.set_num_threads(spec["threads"])
    batches = make_batches(spec["vocabulary"], spec["tokens"])
    models = {name: build(spec["size"], name) for name in spec["systems"]}
    for line in sys.stdin:
        if line.strip() == "gemm":
            print(json.dumps({"rate": gemm_rate()}), flush=True)
            continue
        number, name = line.split()
        start = time.process_time()
        loss = step(models[name], batches[int(number) % len(batches)])
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak_mb": peak, "loss": loss}), flush=True)


class Worker:
    """A process that runs steps on demand."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line, wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def our_worker(size: str, threads: int, systems: list[str], tokens: int = TOKENS) -> Worker:
    """A process with one or several of our models."""
    spec = {
        "size": size,
        "threads": threads,
        "systems": systems,
        "vocabulary": VOCABULARY[size],
        "tokens": tokens,
    }
    return Worker([sys.executable, __file__, "--worker", json.dumps(spec)])


def write_batches(path: Path, batches: Iterable[WindowBatch]) -> None:
    """Write batches as plain arrays, which the peer can read."""
    arrays = {}
    for i, batch in enumerate(batches):
        arrays[f"source{i}"] = batch.source.tokens.numpy()
        arrays[f"target{i}"] = batch.target.tokens.numpy()
        arrays[f"shifted{i}"] = batch.target.shifted_right().tokens.numpy()
    np.savez(path, **arrays)  # type: ignore[arg-type]


def peer_worker(
    peer: str, size: str, threads: int, batches: Path, count: int, optimise: bool = False
) -> Worker:
    """A process with the peer's model of the same size, and `count` batches."""
    shape = SIZES[size]
    spec = {
        "dim": shape.dim,
        "layers": shape.encoder.layers,
        "heads": shape.encoder.heads,
        "ffn": shape.encoder.feed_forward,
        "dropout": shape.dropout,
        "vocabulary": VOCABULARY[size],
        "threads": threads,
        "batches": str(batches),
        "count": count,
        "optimise": optimise,
    }
    script = str(Path(__file__).with_name("model_peer.py"))
    return Worker([peer, script, json.dumps(spec)])


def compare(peer: str, size: str, threads: int, rounds: int) -> dict[str, Any]:
    """Ours and the peer, step by step in turn."""
    batches = make_batches(VOCABULARY[size])
    tokens = [batch.target.token_count for batch in batches]
    work = [flops(batch, size) for batch in batches]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batches.npz"
        write_batches(file, batches)
        ours = our_worker(size, threads, ["s4to4"])
        theirs = peer_worker(peer, size, threads, file, BATCHES)
        ours.ask("0 s4to4")
        theirs.ask("0")
        rows = []
        for i in range(rounds):
            which = i % BATCHES
            rate = ours.ask("gemm")["rate"]
            a, b = ours.ask(f"{i} s4to4"), theirs.ask(str(i))
            limit = tokens[which] * rate / work[which]
            rows.append(
                {
                    "tokens_per_second": tokens[which] / a["seconds"],
                    "peer_tokens_per_second": tokens[which] / b["seconds"],
                    "limit_tokens_per_second": limit,
                    "ratio_to_peer": b["seconds"] / a["seconds"],
                    "share_of_limit": tokens[which] / a["seconds"] / limit,
                    "peak_mb": a["peak_mb"],
                    "peer_peak_mb": b["peak_mb"],
                }
            )
        ours.close()
        theirs.close()
    medians = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    return {**medians, "rounds": rows}


def overheads(size: str, threads: int, rounds: int) -> dict[str, Any]:
    """What each encoding costs over plain positions, in per cent of a step's time.

    In every round all systems run the same batch, in an order that rotates: a step is slower or
    faster by what ran before it. `median` is that of the rounds' ratios to plain `s4to4`, with the
    95% interval of the bootstrap over rounds; `fastest` compares the fastest steps.
    """
    worker = our_worker(size, threads, ENCODINGS)
    for name in ENCODINGS:
        worker.ask(f"0 {name}")
    seconds: dict[str, list[float]] = {name: [] for name in ENCODINGS}
    for i in range(rounds):
        first = i % len(ENCODINGS)
        for name in ENCODINGS[first:] + ENCODINGS[:first]:
            seconds[name].append(worker.ask(f"0 {name}")["seconds"])
    worker.close()
    plain = np.array(seconds[ENCODINGS[0]])
    draws = np.random.default_rng(1).integers(0, rounds, (10_000, rounds))
    costs = {}
    for name in ENCODINGS[1:]:
        ratios = 100 * (np.array(seconds[name]) / plain - 1)
        low, high = np.quantile(np.median(ratios[draws], axis=1), [0.025, 0.975])
        costs[name] = {
            "median": float(np.median(ratios)),
            "interval": [float(low), float(high)],
            "fastest": 100 * (min(seconds[name]) / float(plain.min()) - 1),
        }
    return {"seconds": seconds, "costs": costs}


def signal_costs(size: str, repeats: int = 40) -> dict[str, dict[str, float]]:
    """Milliseconds of what an encoding does in a step, alone: its vectors, sums and gradients.

    A whole step takes seconds and varies by more than this; here the same shapes run by themselves.
    """
    batch = make_batches(VOCABULARY[size])[0]
    costs = {}
    for name in ENCODINGS:
        model = build(size, name)
        seconds = [_signal_seconds(model, batch) for _ in range(repeats)]
        costs[name] = {
            "fastest": 1000 * min(seconds),
            "median": 1000 * statistics.median(seconds),
        }
    return costs


def _signal_seconds(model: Transformer, batch: WindowBatch) -> float:
    shape = model.config.architecture
    seconds = 0.0
    for side, layers in (
        (batch.source, shape.encoder.layers),
        (batch.target.shifted_right(), shape.decoder.layers),
    ):
        x = torch.zeros(*side.tokens.shape, shape.dim, requires_grad=True)
        gradient = torch.ones_like(x)
        start = time.process_time()
        t = FIRST_POSITION + torch.arange(side.tokens.shape[1])
        signal = model.encoding(t, side.segments, batch.sentences[:, None])
        y = x + signal.input
        for _ in range(layers - 1 if signal.block is not None else 0):
            y = y + signal.block
        y.backward(gradient)
        seconds += time.process_time() - start
    return seconds


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", nargs="*", default=["small", "base"])
    parser.add_argument("--overheads", nargs="*", default=["small"])
    parser.add_argument("--overhead-rounds", type=int, default=16)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        serve(json.loads(arguments.worker))
        return
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/model.py", *sys.argv[1:]]),
        "threads": arguments.threads,
        "rounds": arguments.rounds,
        "torch": torch.__version__,
        "padded_tokens": TOKENS,
    }
    for size in arguments.sizes:
        if arguments.peer:
            results[size] = compare(arguments.peer, size, arguments.threads, arguments.rounds)
            print(size, json.dumps(results[size], indent=1), flush=True)
    torch.set_num_threads(arguments.threads)
    for size in arguments.overheads:
        key = f"{size}_overhead_percent"
        results[key] = overheads(size, arguments.threads, arguments.overhead_rounds)
        results[f"{size}_signal_ms"] = signal_costs(size)
        print(key, json.dumps(results[key]["costs"], indent=1), flush=True)
        print("alone", json.dumps(results[f"{size}_signal_ms"], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
