"""Settings of `evaluate --export`, which writes for tools that run elsewhere.

The command line makes its options from this class, so importing this must stay quick: no torch.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.evaluation.config import Count, Kind
from concatmt.settings import Settings

Export = Literal["comet", "muda", "items", "ctxpro", "perturbed"]


class ExportConfig(Settings):
    """What to write, from the given files."""

    export: Export | None = Field(
        default=None,
        description="Measure nothing but write for another tool: translations for COMET or SLIDE"
        " (TSV), MuDA (folder) or ctxpro; the items of a set as documents to translate; a set with"
        " another context.",
    )
    source: Path | None = Field(
        default=None,
        description="For comet and muda: the source, with blank lines between documents.",
    )
    window: int | None = Field(
        default=None,
        ge=1,
        description="For comet: sentences per line, as in SLIDE. For perturbed: shuffle only what a"
        " window of this many sentences holds.",
    )
    stride: Count | None = Field(
        default=None, description="For comet: sentences between windows; by default the window."
    )
    contexts: Kind | None = Field(
        default=None,
        description="For perturbed: no context, any sentences, another order, another document's.",
    )
    seed: int = Field(default=1, description="For perturbed: the same seed gives the same bytes.")
