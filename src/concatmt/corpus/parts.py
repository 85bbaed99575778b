"""Parts of documents: the unit of work in translating, scoring and judging.

A document may not fit in memory, and its lines may still be arriving. So it is passed on in
parts of limited size. Does not know how files are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from concatmt.corpus.document import Document

NumberedSentences = list[tuple[int, str]]  # of one document
Side = Iterator[tuple[str, NumberedSentences]]  # name and sentences of each document
WHOLE = 1 << 20  # a limit, in sentences, with which documents come in one part


@dataclass
class Part:
    """Consecutive sentences of one document: all of them, or as many as are processed at a time."""

    document: str
    first: int = 0  # index of the first sentence in the document; above 0, a continuation
    source: list[str] = field(default_factory=list)
    gold: list[str] | None = None  # given translations, one for each sentence
    blank: int = 0  # blank lines before it in a text

    def __len__(self) -> int:
        return len(self.source)


class Row(NamedTuple):
    """One sentence, as line-based formats read it."""

    line: int
    source: str
    target: str | None = None
    document: str | None = None  # its name, if it has one


class End(NamedTuple):
    """The end of a document, or another blank line after it."""

    blank: int = 0  # blank lines that a text has here


def in_parts(rows: Iterator[Row | End | None], limit: int) -> Iterator[Part | None]:
    """Group rows into parts of at most `limit` sentences.

    None means that no more input is there yet: what was read so far can be processed.
    """
    builder = _Builder(limit)
    for row in rows:
        if isinstance(row, Row):
            yield from builder.add(row)
        elif row is None:
            yield from builder.cut()
            yield None
        else:
            yield from builder.close()
            builder.blank += row.blank
    yield from builder.close()
    if builder.blank:
        yield Part("", blank=builder.blank)


def rows_of(documents: Iterator[Document]) -> Iterator[Row | End | None]:
    """The sentences of whole documents; a gap ends a document, so that no context crosses it."""
    for number, document in enumerate(documents):
        if number:
            yield End(blank=1)
        pairs = zip(document.lines, document.source, document.target, strict=True)
        for place, (line, source, target) in enumerate(pairs):
            if place in document.gaps:
                yield End(blank=1)
            yield Row(line, source, target, document.id)


def rows_of_side(side: Side) -> Iterator[Row | End | None]:
    """The sentences of whole documents without translations."""
    for number, (name, sentences) in enumerate(side):
        if number:
            yield End(blank=1)
        for line, sentence in sentences:
            yield Row(line, sentence, None, name)


class _Builder:
    """Collects sentences into parts."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.number = 0
        self.part: Part | None = None
        self.blank = 0

    def add(self, row: Row) -> Iterator[Part]:
        """Add a sentence to the current document, or start a new one."""
        if self.part is None:
            self.number += 1
            name = str(self.number) if row.document is None else row.document
            self.part = Part(name, gold=None if row.target is None else [], blank=self.blank)
            self.blank = 0
        self.part.source.append(row.source)
        if self.part.gold is not None:
            self.part.gold.append(row.target or "")
        if len(self.part) == self.limit:
            yield from self.cut()

    def cut(self) -> Iterator[Part]:
        """Yield what was collected; the document continues."""
        if self.part is not None and self.part.source:
            full = self.part
            gold: list[str] | None = None if full.gold is None else []
            self.part = Part(full.document, full.first + len(full), gold=gold)
            yield full

    def close(self) -> Iterator[Part]:
        """Yield what was collected; the document ends here."""
        yield from self.cut()
        self.part = None
