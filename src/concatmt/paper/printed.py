"""The paper's printed figures: its tables, and the sentences of its text about them.

Read-only data that ship with the package. Does not judge them.
"""

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Literal

from concatmt.settings import Settings


class Table(Settings):
    """A table of the paper, in per cent; `details` names the table with a row's parts."""

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    details: str | None = None
    bold: tuple[str, ...] = ()
    sample_sizes: tuple[int, ...] = ()
    items: Literal["all", "d>0"] = "all"  # behind its accuracy: ContraPro's with another sentence

    def row(self, system: str) -> dict[str, float]:
        """Column -> figure."""
        return dict(zip(self.columns, self.rows[system], strict=True))

    def sizes(self) -> dict[str, int]:
        """Column -> number of items behind it, where the table says so."""
        return dict(zip(self.columns, self.sample_sizes, strict=bool(self.sample_sizes)))


class Claim(Settings):
    """A sentence of the text: what `rows` gain over another row, in every one of `columns`."""

    text: str
    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    over: str
    over_table: str | None = None
    over_columns: tuple[str, ...] | None = None
    gain: float | None = None
    within: float = 0.005
    above: float | None = None
    below: float | None = None

    def holds(self, gain: float) -> bool:
        """Whether a gain agrees with the sentence."""
        slack = 1e-9  # figures are decimal, their differences binary
        if self.gain is not None:
            return abs(gain - self.gain) <= self.within + slack
        if self.above is not None:
            return gain > self.above + slack
        return self.below is not None and gain < self.below - slack


class Formula(Settings):
    """The columns that a formula of the appendix adds up, as printed."""

    name: str
    table: str
    terms: tuple[str, ...]


class Ratio(Settings):
    """A sentence of the text about how many times one corpus is larger than another."""

    text: str
    larger: str
    smaller: str
    times: float


class Corpus(Settings):
    """Training data: sentences, mean sentence length in words and in BPE tokens, and the shift."""

    sentences: float
    words: float
    bpe: float
    shift: int


class CorpusRow(Settings):
    """A row of the corpus table, source side; lengths are mean / deviation / largest."""

    split: str
    settings: str
    documents: str
    sentences: str
    document_length: str
    words: str
    bpe: str


class Paper(Settings):
    """All figures of the paper."""

    source: str
    tables: Mapping[str, Table]
    claims: tuple[Claim, ...]
    formulas: tuple[Formula, ...]
    ratios: tuple[Ratio, ...]
    corpora: Mapping[str, Corpus]
    corpus_table: tuple[CorpusRow, ...]


@functools.cache
def paper() -> Paper:
    """The paper's figures."""
    file = resources.files("concatmt").joinpath("paper", "printed.json")
    return Paper.model_validate_json(file.read_text(encoding="utf-8"))
