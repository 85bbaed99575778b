"""Contrastive scoring beside scoring every candidate as a whole window: same model, same scores.

    python benchmarks/score.py SETS... [--size base] [--items 300] [--output scores.json]

SETS are contrastive sets, as Voita's four JSON files; of each the first items are taken, in
proportion to its size. Words become ids of a plain vocabulary, weights are random. Both ways run
on one thread, in turn, and CPU seconds are compared. The whole windows are sorted by length too.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from concatmt.corpus.batch import WindowBatch
from concatmt.decoding.engine import Engine
from concatmt.decoding.pool import PoolConfig
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.evaluation.sets import read_set
from concatmt.files import write_json
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.loss import target_log_probs
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer

VOCABULARY = {"small": 8000, "base": 32000, "tiny": 8000}
BATCH = 64


def read_items(paths: Sequence[Path], count: int, vocabulary: int) -> list[ScoringItem]:
    """`count` items, each word a token."""
    sets = [read_set(path) for path in paths]
    total = sum(len(one.items) for one in sets)

    def encode(sentence: str) -> list[int]:
        words = sentence.split()
        return [4 + sum(map(ord, word)) * 7919 % (vocabulary - 4) for word in words]

    return [
        ScoringItem(
            [encode(s) for s in item.source], [[encode(s) for s in t] for t in item.targets]
        )
        for one in sets
        for item in one.items[: max(1, count * len(one.items) // total)]
    ]


def whole_windows(model: Transformer, items: Sequence[ScoringItem]) -> list[list[float]]:
    """Every candidate on its own, batches by length."""
    pairs = [(item.source, target) for item in items for target in item.targets]
    order = sorted(range(len(pairs)), key=lambda i: sum(map(len, pairs[i][1])))
    found: list[list[float]] = [[] for _ in pairs]
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = WindowBatch.from_lists([pairs[i][0] for i in rows], [pairs[i][1] for i in rows])
            scores = target_log_probs(model(batch), model.output.weight, batch.target)
            for row, length, values in zip(rows, batch.target.lengths, scores, strict=True):
                found[row] = values[:length].tolist()
    return found


def compare(size: str, items: Sequence[ScoringItem], rounds: int) -> dict[str, Any]:
    """Both ways in turn."""
    torch.manual_seed(1)
    config = ModelConfig(
        architecture=SIZES[size],
        system=parse_system("s4to4"),
        source_vocabulary=VOCABULARY[size],
        target_vocabulary=VOCABULARY[size],
    )
    model = Transformer(config).eval()
    engine = Engine(model)
    pool = PoolConfig(windows=BATCH, tokens=4096, threads=1)
    ours, theirs, difference = [], [], 0.0
    for _ in range(rounds):
        start = time.process_time()
        shared = score_items(engine, items, pool)
        ours.append(time.process_time() - start)
        start = time.process_time()
        whole = whole_windows(model, items)
        theirs.append(time.process_time() - start)
        flat = [candidate for item in shared for candidate in item]
        difference = max(
            abs(a - b) for x, y in zip(flat, whole, strict=True) for a, b in zip(x, y, strict=True)
        )
    windows = sum(len(item.targets) for item in items)
    return {
        "windows": windows,
        "windows_per_cpu_second": windows / statistics.median(ours),
        "whole_windows_per_cpu_second": windows / statistics.median(theirs),
        "ratio": statistics.median(b / a for a, b in zip(ours, theirs, strict=True)),
        "largest_difference": difference,
    }


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["small", "base"])
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    for size in arguments.sizes:
        items = read_items(arguments.sets, arguments.items, VOCABULARY[size])
        results[size] = compare(size, items, arguments.rounds)
        print(size, json.dumps(results[size], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
