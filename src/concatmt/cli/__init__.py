"""The `concatmt` command: one module per verb. Heavy imports wait until a verb runs."""

from concatmt.cli import (
    compare,
    context_use,
    contrast,
    evaluate,
    export_ctranslate2,
    figure,
    import_fairseq,
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
    "compare",
    "context_use",
    "contrast",
    "evaluate",
    "export_ctranslate2",
    "figure",
    "import_fairseq",
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
