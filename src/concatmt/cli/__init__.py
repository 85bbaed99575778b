"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import paper, prepare, show, stats, sweep, testbed, train, translate
from concatmt.cli.app import main

__all__ = ["main", "paper", "prepare", "show", "stats", "sweep", "testbed", "train", "translate"]
