"""Contrastive scoring beside scoring every candidate as a whole window: same model, same scores.

    python benchmarks/score.py SETS... [--sizes base] [--items 300] [--slice 500]

SETS are contrastive sets, as Voita's four JSON files; of each the first items are taken, in
proportion to its size (`--items 0`: all). Words become ids of a plain vocabulary, or pieces with
`--text MODEL`, the directory of a model whose text pipeline to use; weights are random. On one
thread and in turn run: shared beginnings once; whole windows in padded batches sorted by length,
plainly (the model's logits, a log-softmax over them all, as fairseq's scorer does) and with our
loss, which normalises logits in slices and none of padding; whole windows by the engine of the
first, without padding. They take turns every `--slice` items, so that what else the machine does
hits all of them alike. CPU seconds are compared. Also counted is what both ways need in
multiplications at least: their ratio is as much as sharing can give.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from cases import VOCABULARY
from operations import Counter
from torch import Tensor
from torch.nn import functional as F

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.decoding.config import PoolConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.scoring import ScoringItem, Tree, build_trees, score_items, score_trees
from concatmt.evaluation.sets import read_set
from concatmt.files import write_json
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.loss import target_log_probs
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import TextPipeline

BATCH = 64


def read_items(
    paths: Sequence[Path], count: int, vocabulary: int, text: Path | None = None
) -> list[ScoringItem]:
    """`count` items (0: all), of words or of the pieces of a text pipeline."""
    sets = [read_set(path) for path in paths]
    total = sum(len(one.items) for one in sets)
    pipeline = TextPipeline.load(text) if text else None

    def words(sentence: str) -> list[int]:
        return [4 + sum(map(ord, word)) * 7919 % (vocabulary - 4) for word in sentence.split()]

    source = pipeline.source.encode if pipeline else words
    target = pipeline.target.encode if pipeline else words
    return [
        ScoringItem(
            [source(s) for s in item.source], [[target(s) for s in t] for t in item.targets]
        )
        for one in sets
        for item in one.items[: max(1, (count or total) * len(one.items) // total)]
    ]


LogProbs = Callable[[Tensor, Tensor, Side], Tensor]  # of hidden states, weights and target


def plain_log_probs(hidden: Tensor, weight: Tensor, target: Side) -> Tensor:
    """(B, T) by way of all logits."""
    scores = F.linear(hidden, weight).log_softmax(dim=-1)
    return scores.gather(2, target.tokens[:, :, None])[:, :, 0]


def whole_windows(
    model: Transformer, items: Sequence[ScoringItem], log_probs: LogProbs
) -> list[list[float]]:
    """Every candidate on its own, batches by length."""
    pairs = [(item.source, target) for item in items for target in item.targets]
    order = sorted(range(len(pairs)), key=lambda i: sum(map(len, pairs[i][1])))
    found: list[list[float]] = [[] for _ in pairs]
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = WindowBatch.from_lists([pairs[i][0] for i in rows], [pairs[i][1] for i in rows])
            scores = log_probs(model(batch), model.output.weight, batch.target)
            for row, length, values in zip(rows, batch.target.lengths, scores, strict=True):
                found[row] = values[:length].tolist()
    return found


def packed_windows(
    engine: Engine, items: Sequence[ScoringItem], pool: PoolConfig
) -> list[list[float]]:
    """Every candidate on its own, by the engine that shares beginnings: nothing is shared."""
    windows = [ScoringItem(item.source, [target]) for item in items for target in item.targets]
    scores = score_trees(engine, [Tree(window) for window in windows], pool)
    return [of_window for (of_window,) in scores]


def count(size: str, items: Sequence[ScoringItem]) -> dict[str, Any]:
    """What either way needs, in 10^9 multiply-adds, and the ratio that is in reach."""
    whole, shared = (Counter(SIZES[size], VOCABULARY[size]) for _ in range(2))
    for item in items:
        for target in item.targets:
            length = tokens_of(target)
            whole.encode(tokens_of(item.source))
            whole.decode(range(1, length + 1), tokens_of(item.source))
            whole.logits(length)
    trees, _ = build_trees(items)
    for tree in trees:
        shared.encode(tokens_of(tree.source))
        depths = [t - FIRST_POSITION + 1 for t in tree.positions]
        shared.decode(depths, tokens_of(tree.source))
        shared.logits(len(tree.tokens))
    windows = [(item.source, target) for item in items for target in item.targets]
    return {
        "source_tokens": [
            sum(tokens_of(source) for source, _ in windows),
            sum(tokens_of(tree.source) for tree in trees),
        ],
        "target_tokens": [
            sum(tokens_of(target) for _, target in windows),
            sum(len(tree.tokens) for tree in trees),
        ],
        "whole_windows": whole.sum.rounded(),
        "shared": shared.sum.rounded(),
        "ratio_in_reach": whole.sum.total / shared.sum.total,
    }


def tokens_of(window: Sequence[Sequence[int]]) -> int:
    """With a boundary for each sentence."""
    return sum(map(len, window)) + len(window)


def compare(
    size: str, items: Sequence[ScoringItem], rounds: int, slice_size: int
) -> dict[str, Any]:
    """All ways in turn."""
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
    ways: dict[str, Callable[[Sequence[ScoringItem]], list[list[float]]]] = {
        "shared": lambda some: [one for item in score_items(engine, some, pool) for one in item],
        "plain": lambda some: whole_windows(model, some, plain_log_probs),
        "padded": lambda some: whole_windows(model, some, target_log_probs),
        "packed": lambda some: packed_windows(engine, some, pool),
    }
    seconds = {name: [0.0] * rounds for name in ways}
    for number in range(rounds):
        found: dict[str, list[list[float]]] = {name: [] for name in ways}
        for first in range(0, len(items), slice_size):
            for name, way in ways.items():
                start = time.process_time()
                found[name] += way(items[first : first + slice_size])
                seconds[name][number] += time.process_time() - start
    windows = sum(len(item.targets) for item in items)
    return {
        "windows": windows,
        "windows_per_cpu_second": {
            name: windows / statistics.median(of_way) for name, of_way in seconds.items()
        },
        **{
            f"ratios_to_{name}_windows": [
                b / a for a, b in zip(seconds["shared"], seconds[name], strict=True)
            ]
            for name in ("plain", "padded", "packed")
        },
        "largest_difference": max(
            abs(a - b)
            for name in ("plain", "padded")
            for x, y in zip(found["shared"], found[name], strict=True)
            for a, b in zip(x, y, strict=True)
        ),
        "operations": count(size, items),
    }


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["small", "base"])
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--slice", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    for size in arguments.sizes:
        items = read_items(arguments.sets, arguments.items, VOCABULARY[size], arguments.text)
        results[size] = compare(size, items, arguments.rounds, arguments.slice)
        print(size, json.dumps(results[size], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
