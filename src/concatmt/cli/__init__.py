"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import (
    contrast,
    figure,
    import_fairseq,
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
    "figure",
    "import_fairseq",
    "main",
    "prepare",
    "score",
    "show",
    "stats",
    "sweep",
    "testbed",
    "train",
    "translate",
]
