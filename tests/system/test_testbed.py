"""Training to a bound: a system learns what only context tells, a sentence-level one cannot."""

import json
from pathlib import Path

from tests.conftest import Command

SMALL = [
    "model.dim=64",
    "model.encoder.feed_forward=256",
    "model.decoder.feed_forward=256",
    "model.dropout=0",
    "training.tokens_per_update=1024",
    "training.validate_every=300",
    "training.optimiser.learning_rate=4e-3",
    "training.optimiser.warmup=100",
]


def accuracy(concatmt: Command, folder: Path, system: str, updates: int) -> float:
    """Train a system on the testbed in `folder`; its accuracy on forms of address (ты or вы)."""
    overrides = [word for setting in SMALL for word in ("--set", setting)]
    limit = ["--set", f"training.max_updates={updates}"]
    where = ["--data", "data", "--system", system, "--output", system]
    trained = concatmt("train", "testbed", *where, *overrides, *limit)
    assert trained.returncode == 0, trained.stderr
    items = folder / f"{system}.jsonl"
    scored = concatmt("score", f"{system}/model", "testbed/contrastive/tv.jsonl", "--output", items)
    assert scored.returncode == 0, scored.stderr
    _, *rows = map(json.loads, items.read_text().splitlines())
    return sum(row["verdict"] for row in rows) / len(rows)


def test_context_makes_the_difference(tmp_path: Path, concatmt: Command) -> None:
    dials = ["--documents", 2000, "--density", 1, "--tasks", "tv", "--items", 100, "--length", 0.2]
    made = concatmt("testbed", "--pair", "en-ru", "--output", "testbed", "--seed", 5, *dials)
    assert made.returncode == 0, made.stderr
    assert concatmt("prepare", "testbed", "--output", "data").returncode == 0
    # Without context the two answers of every orbit get the same scores: exactly one half.
    assert accuracy(concatmt, tmp_path, "base", updates=50) == 0.5
    # The bound of an observer that cannot tell which sentence a cue is in is 75%.
    assert accuracy(concatmt, tmp_path, "s4to4+cd", updates=600) > 0.75
