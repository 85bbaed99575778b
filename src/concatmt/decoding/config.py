"""Settings of decoding, each with its default and the sentence that explains it.

The command line makes its options from these classes, so importing them must stay quick: no torch.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from concatmt.settings import Settings

Count = Annotated[int, Field(ge=1)]


class SearchConfig(Settings):
    """How translations are searched for."""

    beam: int = Field(default=4, ge=1, le=1024, description="Beam size; 1 is greedy.")
    length_penalty: float = Field(
        default=0.6,
        ge=-10,
        le=10,
        description="A hypothesis scores sum of log-probs / length ** penalty.",
    )
    constrained: bool = Field(
        default=True, description="windows come out with as many sentences as went in."
    )
    length_factor: float = Field(
        default=2.0,
        ge=0,
        le=1000,
        description="Longest translation: factor * source tokens + constant, for each sentence; for"
        " the whole window when unconstrained.",
    )
    length_constant: int = Field(
        default=20, ge=1, le=100_000, description="The constant of that length."
    )
    # Certain: no hypothesis that goes on can become better. Likely: none has a better score now.
    # Best goes on after the beam is full, as long as a hypothesis that goes on has a better score
    # now than the worst of the beam. Narrow: each finished hypothesis takes a place of the beam,
    # and the search ends when all are taken.
    stop: Literal["certain", "likely", "best", "narrow"] | None = Field(
        default=None,
        description="End a search when no better translation can come, or when none is likely to."
        " By default likely in 'prefix', else certain. best: as generate() of transformers; narrow:"
        " as Marian.",
    )
    sample: bool = Field(
        default=False, description="Draw translations at random instead of searching."
    )
    temperature: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Of samples: above 1 is bolder, below 1 safer.",
    )
    seed: int = Field(
        default=1, ge=0, lt=2**63, description="Of samples: the same seed, the same output."
    )


class PoolConfig(Settings):
    """How much is worked on at a time."""

    windows: Count = Field(default=64, description="Windows in a batch, at most.")
    tokens: Count = Field(default=4096, description="Source tokens in a batch, padding included.")
    threads: int = Field(
        default=0, ge=0, description="Batches at the same time; 0: one for each core."
    )


class TranslateConfig(Settings):
    """How documents are translated."""

    mode: Literal["prefix", "redecode"] = Field(
        default="prefix",
        description="Force the translations of the context that are already there, or translate"
        " the whole window every time, as the paper does.",
    )
    target_context: Literal["own", "gold", "none"] = Field(
        default="own",
        description="What 'prefix' forces: its own translations, given ones, or nothing.",
    )
    context: int | None = Field(
        default=None,
        ge=0,
        description="Context sentences; by default all that the model was made for.",
    )
    search: SearchConfig = SearchConfig()
    miscount: Literal["last", "retranslate"] = Field(
        default="last",
        description="When an unconstrained window has the wrong number of sentences: take what"
        " follows the last separator, or search again with the right number.",
    )
    long: Literal["split", "copy", "error"] = Field(
        default="split",
        description="What to do with a sentence of more than the maximum of tokens.",
    )
    # Context is left out first when a window is longer.
    max_tokens: int = Field(default=512, ge=2, description="Longest source window, in tokens.")
    glossary: Path | None = Field(
        default=None,
        description="Terms and the forms that translate them, in columns: the search must use one.",
    )
    nbest: Count = Field(default=1, description="Translations of each sentence, in JSONL.")
    pool: PoolConfig = PoolConfig()

    def resolved(self) -> "TranslateConfig":
        """With the stopping rule of the mode where none is chosen.

        `redecode` is the paper's and gives its results exactly. In `prefix` a search is a single
        sentence, of which waiting for certainty is a large part.
        """
        stop = self.search.stop or ("likely" if self.mode == "prefix" else "certain")
        return self.model_copy(update={"search": self.search.model_copy(update={"stop": stop})})


class ContrastConfig(Settings):
    """How candidates are compared; the defaults are the paper's score."""

    score: Literal["mean", "sum"] = Field(default="mean", description="Mean or sum of log-probs.")
    scope: Literal["window", "current"] = Field(
        default="window", description="Score the whole window, or its last sentence."
    )
    ties: Literal["split", "first", "wrong"] = Field(
        default="split",
        description="If the right candidate is one of m best: count 1/m, or 1 if it comes first"
        " (Voita's rule), or 0 (ContraPro's).",
    )
    target_context: Literal["gold", "none"] = Field(
        default="gold", description="Give the model the translations of the context, or none."
    )
    context: int | None = Field(
        default=None,
        ge=0,
        description="Context sentences; by default all that the model was made for.",
    )
    pool: PoolConfig = PoolConfig()
