"""Settings of what is written for tools that run elsewhere.

The command line makes its options from this class, so importing it must stay quick: no torch.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.evaluation.config import Count, Kind
from concatmt.settings import Settings

Export = Literal["comet", "muda", "items", "ctxpro", "perturbed"]


class ExportConfig(Settings):
    """What is written, of the files that are given."""

    export: Export | None = Field(
        default=None,
        description="Measure nothing, write for another tool: translations for COMET or SLIDE"
        " (TSV), MuDA (folder) or ctxpro; the items of a set as documents to translate; a set with"
        " another context.",
    )
    source: Path | None = Field(
        default=None, description="Of comet and muda: the source, blank lines between documents."
    )
    window: int | None = Field(
        default=None,
        ge=1,
        description="Of comet: sentences a line, as in SLIDE. Of perturbed: shuffle only what a"
        " window of so many sentences holds.",
    )
    stride: Count | None = Field(
        default=None, description="Of comet: sentences between windows; by default the window."
    )
    contexts: Kind | None = Field(
        default=None,
        description="Of perturbed: no context, any sentences, another order, another document's.",
    )
    seed: int = Field(default=1, description="Of perturbed: the same seed, the same bytes.")
