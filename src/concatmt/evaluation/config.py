"""Settings of `evaluate` and its exports: defaults and the texts of the command line's help.

The command line makes its options from these classes, so importing this must stay quick: no torch.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from concatmt.decoding.config import ContrastConfig, TranslateConfig
from concatmt.settings import Settings

Count = Annotated[int, Field(ge=1)]
Kind = Literal["none", "random", "shuffled", "other"]  # of contexts that are not the true one
Convention = Literal["sentence", "document", "paper-en-ru", "paper-en-de"]  # of BLEU
WrongForms = Literal["absent", "ignored"]


class EvaluateConfig(Settings):
    """How systems are measured."""

    measures: tuple[str, ...] | None = Field(
        default=None, description="Names of measures; by default all that apply."
    )
    contrast: ContrastConfig = ContrastConfig()
    translate: TranslateConfig = TranslateConfig()
    contexts: tuple[Kind, ...] = Field(
        default=("none", "random", "shuffled", "other"),
        description="For 'perturbation': no context, any sentences, another order, another"
        " document's.",
    )
    seed: int = Field(default=1, description="For 'perturbation': seed of the contexts.")
    wrong_forms: WrongForms = Field(
        default="absent", description="For 'generative': whether wrong forms must be absent."
    )
    conventions: tuple[Convention, ...] = Field(
        default=("sentence", "document"),
        description="For 'quality': what BLEU is computed on, and how.",
    )
    test: Literal["bs", "ar"] = Field(
        default="bs",
        description="For 'quality': paired bootstrap or approximate randomisation.",
    )
    samples: Count = Field(default=1000, description="For 'quality': samples of that test.")
    documents: Count = Field(
        default=200, description="Of 'context-use' and 'swaps': the first documents of a text."
    )
    swaps: Count = Field(default=300, description="Of 'swaps': items of a text, at most.")
    attention_documents: Count = Field(
        default=50, description="For 'attention': how many documents of a text."
    )
    examples: int = Field(
        default=3, ge=0, description="For 'context-use': documents shown token by token."
    )


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
