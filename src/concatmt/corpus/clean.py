"""Cleaning of sentence pairs that does not break documents.

A dropped pair leaves a gap. The sentences around it stay in one document, but no
window reaches across a gap, so a sentence never gets a false neighbour as its context.
"""

from collections import Counter

from pydantic import Field

from concatmt.corpus.document import Document
from concatmt.settings import Settings


class CleanConfig(Settings):
    """Which sentence pairs to drop; lengths are in words of the normalised text."""

    splits: tuple[str, ...] = ("train",)  # test data are never cleaned
    max_words: int | None = Field(default=None, ge=1)
    max_ratio: float | None = Field(default=None, ge=1)

    def reason(self, source: str, target: str) -> str | None:
        """The reason to drop a pair, or None to keep it."""
        lengths = len(source.split()), len(target.split())
        if min(lengths) == 0:
            return "empty on one side" if max(lengths) else "empty"
        if self.max_words is not None and max(lengths) > self.max_words:
            return f"longer than {self.max_words} words"
        if self.max_ratio is not None and max(lengths) > self.max_ratio * min(lengths):
            return f"length ratio over {self.max_ratio:g}"
        return None


def drop_pairs(document: Document, reasons: list[str | None]) -> tuple[Document, Counter[str]]:
    """The document without the pairs that have a reason, and the number dropped for each."""
    counts = Counter(reason for reason in reasons if reason is not None)
    if not counts:
        return document, counts
    kept: list[int] = []
    gaps: list[int] = []
    gap = False
    old_gaps = set(document.gaps)
    for place, reason in enumerate(reasons):
        gap = gap or place in old_gaps
        if reason is not None:
            gap = True
            continue
        if gap and kept:
            gaps.append(len(kept))
        gap = False
        kept.append(place)
    return (
        Document(
            document.id,
            document.origin,
            [document.lines[i] for i in kept],
            [document.source[i] for i in kept],
            [document.target[i] for i in kept],
            tuple(gaps),
        ),
        counts,
    )
