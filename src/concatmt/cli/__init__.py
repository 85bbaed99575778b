"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import (
    contrast,
    evaluate,
    paper,
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
    "contrast",
    "evaluate",
    "main",
    "paper",
    "prepare",
    "score",
    "show",
    "stats",
    "sweep",
    "testbed",
    "train",
    "translate",
]
