"""Settings of an evaluation: defaults and the texts of the command line's help.

The command line makes its options from this class, so importing this must stay quick: no torch.
"""

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
