"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import (
    context_use,
    contrast,
    evaluate,
    paper,
    perturb,
    prepare,
    score,
    show,
    stats,
    sweep,
    testbed,
    train,
    translate,
)
from concatmt.cli.app import main

__all__ = [
    "context_use",
    "contrast",
    "evaluate",
    "main",
    "paper",
    "perturb",
    "prepare",
    "score",
    "show",
    "stats",
    "sweep",
    "testbed",
    "train",
    "translate",
]
