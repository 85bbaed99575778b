"""Corpus statistics as in the paper's corpus table, collected in one pass over the sentences.

Only sums of integers, so the figures do not depend on how the work was split over processes.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from concatmt.corpus.formats import format_named
from concatmt.corpus.lines import ReadReport
from concatmt.tables import markdown_table

AT_A_TIME = 4096  # sentences of a text file


@dataclass
class Moments:
    """Count, sum, sum of squares and maximum of whole numbers."""

    count: int = 0
    total: int = 0
    squares: int = 0
    largest: int = 0

    def add(self, values: Iterable[int]) -> None:
        """Add more numbers."""
        for value in values:
            self.count += 1
            self.total += value
            self.squares += value * value
            self.largest = max(self.largest, value)

    def merge(self, other: "Moments") -> None:
        """Add the numbers of another object."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares
        self.largest = max(self.largest, other.largest)

    @property
    def mean(self) -> float:
        """The mean; 0 if there are no numbers."""
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the population."""
        if not self.count:
            return 0.0
        # Exact in integers: count * squares - total^2 never suffers from cancellation.
        return math.sqrt(self.count * self.squares - self.total**2) / self.count


@dataclass
class Statistics:
    """What the paper's corpus table says of a split, for both sides."""

    documents: Moments = field(default_factory=Moments)  # sentences in a document
    source_words: Moments = field(default_factory=Moments)  # words in a sentence
    target_words: Moments = field(default_factory=Moments)
    source_tokens: Moments = field(default_factory=Moments)  # tokens in a sentence
    target_tokens: Moments = field(default_factory=Moments)

    def merge(self, other: "Statistics") -> None:
        """Add the statistics of another part."""
        for name, moments in vars(self).items():
            moments.merge(getattr(other, name))

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Statistics":
        """Read what `to_json` returned."""
        return cls(**{name: Moments(**moments) for name, moments in values.items()})


HEADER = ("Corpus", "Side", "Docs", "Sents", "Doc length", "Sent length", "Sent length (tokens)")


def statistics_table(rows: Mapping[str, Statistics]) -> str:
    """A Markdown table; lengths are `mean / std / max`."""
    cells = [
        (
            name if side == "source" else "",
            side,
            f"{statistics.documents.count:,}",
            f"{words.count:,}",
            lengths(statistics.documents),
            lengths(words),
            lengths(tokens),
        )
        for name, statistics in rows.items()
        for side, words, tokens in (
            ("source", statistics.source_words, statistics.source_tokens),
            ("target", statistics.target_words, statistics.target_tokens),
        )
        if words.count
    ]
    return markdown_table(HEADER, cells)


def lengths(moments: Moments) -> str:
    """`mean / std / max`."""
    if not moments.count:
        return "-"
    return f"{moments.mean:.1f} / {moments.deviation:.1f} / {moments.largest}"


def file_statistics(path: Path, ids: Path | None) -> Statistics:
    """Statistics of one text file; words are separated by spaces."""
    kind, files = ("text", [path]) if ids is None else ("ids", [path, path, ids])
    statistics, length = Statistics(), 0
    for part in format_named(kind).parts(files, AT_A_TIME, ReadReport()):
        if part is None:
            continue
        if length and not part.first:
            statistics.documents.add([length])
            length = 0
        statistics.source_words.add(len(sentence.split()) for sentence in part.source)
        length += len(part)
    if length:
        statistics.documents.add([length])
    return statistics
