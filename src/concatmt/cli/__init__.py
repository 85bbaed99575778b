"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import figure, import_fairseq, prepare, show, stats, sweep, testbed, train
from concatmt.cli.app import main

__all__ = [
    "figure",
    "import_fairseq",
    "main",
    "prepare",
    "show",
    "stats",
    "sweep",
    "testbed",
    "train",
]
