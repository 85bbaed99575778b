"""Scorers that know nothing, and outcomes made by hand."""

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from concatmt.decoding.contrast import verdict
from concatmt.evaluation.outcomes import Outcome, OutcomeFile, System
from concatmt.evaluation.sets import ContrastiveItem
from concatmt.signature import Signature

Scorer = Callable[[ContrastiveItem], list[float]]
SETTINGS = {"score": "mean", "scope": "window", "ties": "split", "K": 4}


def constant(item: ContrastiveItem) -> list[float]:
    return [0.0] * len(item.targets)


def random_scorer(seed: int) -> Scorer:
    rng = np.random.default_rng(seed)
    return lambda item: rng.random(len(item.targets)).tolist()


def context_blind(item: ContrastiveItem) -> list[float]:
    """A number for every translation of the current sentence, whatever the context."""
    return [float(zlib.crc32(target[-1].encode())) for target in item.targets]


def judged(items: Sequence[ContrastiveItem], scorer: Scorer, ties: str = "split") -> System:
    outcomes = tuple(
        Outcome(
            item.id,
            item.set,
            item.phenomenon,
            verdict(scorer(item), item.correct, ties),
            len(item.targets),
            item.distance,
            item.orbit,
            item.document,
            item.conflict,
        )
        for item in items
    )
    return System(
        "run", (OutcomeFile("run.jsonl", Signature({**SETTINGS, "ties": ties}), outcomes),)
    )


def system(name: str, *runs: Sequence[float], **settings: Any) -> System:
    """One run for each list of outcomes; items 0 and 1 are twins, 2 and 3 too, and so on."""
    files = tuple(
        OutcomeFile(
            f"{name}-{number}.jsonl",
            Signature({"system": name, **SETTINGS, **settings}),
            tuple(
                Outcome(str(i), "set", "p", right, 2, 1 + i % 2, f"o{i // 2}", f"d{i // 2}")
                for i, right in enumerate(run)
            ),
        )
        for number, run in enumerate(runs)
    )
    return System(name, files)
