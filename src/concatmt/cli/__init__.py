"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import (
    contrast,
    export_ctranslate2,
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
    "export_ctranslate2",
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
