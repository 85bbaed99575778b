"""Settings of decoding: defaults and the texts of the command line's help.

The command line makes its options from these classes, so importing this must stay quick: no torch.
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
        default=True, description="Let the model decide how many sentences come out."
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
    # Certain: no unfinished hypothesis can become better. Likely: none has a better score now.
    # Best continues after the beam is full as long as an unfinished hypothesis has a better score
    # now than the worst of the beam. Narrow: each finished hypothesis takes a place of the beam,
    # and the search ends when all are taken.
    stop: Literal["certain", "likely", "best", "narrow"] | None = Field(
        default=None,
        description="End a search when no better translation can come, or when none is likely to."
        " By default likely in 'prefix', else certain. best: as generate() of transformers; narrow:"
        " as Marian.",
    )
    sample: bool = Field(default=False, description="Sample translations instead of searching.")
    temperature: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Temperature of samples: above 1 is bolder, below 1 safer.",
    )
    seed: int = Field(
        default=1,
        ge=0,
        lt=2**63,
        description="Seed of samples: the same seed gives the same output.",
    )


class PoolConfig(Settings):
    """How much is processed at a time."""

    windows: Count = Field(default=64, description="Most windows in a batch.")
    tokens: Count = Field(
        default=4096, description="Most source tokens in a batch, padding included."
    )
    threads: int = Field(
        default=0, ge=0, description="Batches at the same time; 0: one for each core."
    )


class TranslateConfig(Settings):
    """How documents are translated."""

    mode: Literal["prefix", "redecode"] = Field(
        default="prefix",
        description="Force the translations that the context already has, or translate"
        " the whole window every time, as the paper does.",
    )
    target_context: Literal["own", "gold", "none"] = Field(
        default="own",
        description="What 'prefix' forces: its own translations, given ones, or nothing.",
    )
    context: int | None = Field(
        default=None,
        ge=0,
        description="Context sentences; by default all that the model was trained for.",
    )
    search: SearchConfig = SearchConfig()
    miscount: Literal["last", "retranslate"] = Field(
        default="last",
        description="When an unconstrained window has the wrong number of sentences: take what"
        " follows the last separator, or search again with the right number.",
    )
    long: Literal["split", "copy", "error"] = Field(
        default="split",
        description="What to do with a sentence of more than the maximum number of tokens.",
    )
    # Context is left out first when a window is longer.
    max_tokens: int = Field(default=512, ge=2, description="Longest source window, in tokens.")
    glossary: Path | None = Field(
        default=None,
        description="Terms and their translations, in columns: the search must use one of them.",
    )
    nbest: Count = Field(default=1, description="Translations per sentence, in JSONL.")
    pool: PoolConfig = PoolConfig()

    def resolved(self) -> "TranslateConfig":
        """Fill in the mode's stopping rule where none is chosen.

        `redecode` is the paper's mode and reproduces it exactly. In `prefix` a search is a single
        sentence, and waiting for certainty would be a large part of it.
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
        default="gold", description="Give the model the translations of the context, or not."
    )
    context: int | None = Field(
        default=None,
        ge=0,
        description="Context sentences; by default all that the model was trained for.",
    )
    pool: PoolConfig = PoolConfig()
