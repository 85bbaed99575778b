"""Settings of imports, each with its default and the sentence that explains it.

The command line makes its options from this class, so importing it must stay quick: no torch.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.settings import Settings


class ImportConfig(Settings):
    """How a foreign model is taken; None leaves a choice to its format."""

    system: str | None = Field(
        default=None,
        description="s4to4 and others make a model of windows from one of single sentences.",
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
        default=None, description="Target language of a multilingual model, as in '>>deu<<'."
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
