"""Files of passages: paragraphs, cells, headings, translation units, each a span of the file.

A passage is split into sentences, these are exchanged for their translations, and the passage is
written back with its tags. What a passage is in a format, and how its text is escaped, the format's
own module says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import line_end_of, replaced
from concatmt.segments.tags import Exchange, Tag, exchanged, written
from concatmt.segments.words import has_words, without_added_stop

Splitter = Callable[[str], list[tuple[int, int]]]


def plain_escape(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Passage:
    """Text of a file at start:end, without its markup."""

    start: int
    end: int
    text: str
    tags: tuple[Tag, ...] = ()
    given: str | None = None  # its translation, if the file has one that is not to be touched
    target: str = ""  # the translation that stands in the file, touched or not
    parts: tuple[tuple[int, int], ...] = ()  # segments of the text, if the file says what they are
    gap: bool = False
    new: bool = False  # is written even if the translation is the text itself
    before: str = ""  # written before and after the text if there is a translation
    after: str = ""
    width: int | None = None  # hard-wrapped text: the width of its lines
    column: int = 0  # where the first of them begins
    indent: str = ""  # of the lines after the first one
    render: Callable[[str, Sequence[Tag]], str] | None = (
        None  # writes text and tags, if not plainly
    )


class Passages:
    """The sentences of passages, and the file's text with their translations."""

    def __init__(
        self,
        text: str,
        passages: Sequence[Passage],
        split: Splitter,
        escape: Callable[[str], str] = plain_escape,
    ):
        self.text = text
        self.passages = passages
        self.escape = escape
        self._line_end = line_end_of(text)
        self.segments: list[Segment] = []
        self._sentences: list[tuple[int, int, int]] = []  # passage, start, end
        for number, passage in enumerate(passages):
            if passage.given is not None:
                self._add(number, 0, len(passage.text), passage, passage.gap)
                continue
            gap = passage.gap
            for first, last in passage.parts or ((0, len(passage.text)),):
                for start, end in split(passage.text[first:last]):
                    if has_words(passage.text[first + start : first + end]):
                        self._add(number, first + start, first + end, passage, gap)
                        gap = False

    def _add(self, number: int, start: int, end: int, passage: Passage, gap: bool) -> None:
        text = re.sub(r"\s+", " ", passage.text[start:end]).strip()
        self._sentences.append((number, start, end))
        self.segments.append(Segment(text, passage.given, gap, bool(passage.tags)))

    def rebuilt(self, translations: Sequence[Translated]) -> tuple[str, Summary]:
        """The file's text with one translation for every segment."""
        exchanges: dict[int, list[Exchange]] = {}
        for segment, (number, start, end), translated in zip(
            self.segments, self._sentences, translations, strict=True
        ):
            new = self.passages[number].new
            if segment.given is None and (new or translated.text != segment.text):
                text = without_added_stop(segment.text, translated.text)
                exchanges.setdefault(number, []).append(
                    Exchange(start, end, text, translated.alignment)
                )
        spans, texts = [], []
        summary = Summary({"passages": len(self.passages), "sentences": len(self.segments)})
        for number in sorted(exchanges, key=lambda number: self.passages[number].start):
            passage = self.passages[number]
            text, tags = exchanged(passage.text, passage.tags, exchanges[number])
            summary.add("tags moved", len(tags))
            spans.append((passage.start, passage.end))
            texts.append(passage.before + self._written(passage, text, tags) + passage.after)
        return replaced(self.text, spans, texts), summary

    def _written(self, passage: Passage, text: str, tags: Sequence[Tag]) -> str:
        if passage.render is not None:
            return passage.render(text, tags)
        if passage.width is None:
            return written(text, tags, self.escape)
        text = re.sub(r"\s", " ", text)
        breaks: dict[int, str] = {}
        line_start, last_space = 0, None
        room = passage.width - passage.column
        for match in re.finditer(r" |$", text):
            if match.start() - line_start > room and last_space is not None:
                breaks[last_space] = self._line_end + passage.indent
                line_start, room = last_space + 1, passage.width - len(passage.indent)
            last_space = match.start() if match.group() else None
        return written(text, tags, self.escape, breaks)
