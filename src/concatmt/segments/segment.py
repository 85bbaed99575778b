"""The one interface between files and the translator.

A file gives its sentences as `Segment`s, in the order of reading, and takes their translations
back. What a tag, a cue or a paragraph is, only the file's own module knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

# Pairs (source word, target word), counted as in `words`; () if nothing is known.
Alignment = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence of a file, without any markup."""

    text: str
    given: str | None = None  # a translation that the file has already: context that is not touched
    gap: bool = False  # nothing before it serves as its context
    aligned: bool = True  # a word alignment of its translation is of use


@dataclass(frozen=True, slots=True)
class Translated:
    """The translation of a segment and, if known, which words belong together."""

    text: str
    alignment: Alignment = ()
    score: float = 0.0
    alternatives: tuple[Translated, ...] = ()  # other translations, best first


@dataclass
class Summary:
    """What to tell the user about a written file: names and counts, in the order of printing."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, count: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + count


class SegmentedFile(Protocol):
    """A file that was read: its segments, and the way back."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        """The whole file with one translation for every segment.

        A segment whose translation is its own text leaves its bytes as they were.
        """
        ...
