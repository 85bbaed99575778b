"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import contrast, prepare, score, show, stats, translate
from concatmt.cli.app import main

__all__ = ["contrast", "main", "prepare", "score", "show", "stats", "translate"]
