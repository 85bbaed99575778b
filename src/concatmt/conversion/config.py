"""Settings of imports: defaults and the texts of the command line's help.

The command line makes its options from this class, so importing this must stay quick: no torch.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.settings import Settings


class ImportConfig(Settings):
    """How to import a foreign model; None leaves a choice to its format."""

    system: str | None = Field(
        default=None,
        description="s4to4 and the like make a model of windows from one of single sentences.",
    )
    separator: Literal["mean", "copy"] = Field(
        default="mean",
        description="How the separator of windows starts: as the mean of all symbols, or as a copy"
        " of <end>.",
    )
    positions: Literal["port", "marian"] | None = Field(
        default=None,
        description="Position frequencies of a Hugging Face directory: those of transformers' port"
        " of Marian, or Marian's own.",
    )
    label: str | None = Field(
        default=None, description="Target language of a multilingual model, such as '>>deu<<'."
    )
    normalise: Literal["opus", "none"] | None = Field(
        default=None,
        description="Punctuation as in OPUS-MT's training data (for Marian's models, by default),"
        " or as it is.",
    )
    source_dict: Path | None = Field(
        default=None, description="dict.SOURCE.txt of a fairseq checkpoint."
    )
    target_dict: Path | None = Field(
        default=None, description="dict.TARGET.txt of a fairseq checkpoint."
    )
