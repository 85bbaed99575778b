"""A text, the sentences in it, and the text again around their translations.

Every line keeps its place: as many lines out as in, and all white space between sentences as it
was. Does not know models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import open_segments
from concatmt.segments.segment import Segment, SegmentedFile, Translated
from concatmt.segments.spans import replaced
from concatmt.serve.languages import has_words, joins_without_space
from concatmt.text.splitting import sentence_spans

Span = tuple[int, int]
Split = Literal["lines", "whole", "joined"]


@dataclass(frozen=True)
class Text:
    """A plain text and where its sentences are. All of it is one document."""

    text: str
    spans: tuple[Span, ...]
    target: str  # code of the language that it is translated into

    @classmethod
    def read(cls, text: str, source: str, target: str, split: Split = "lines") -> Text:
        """Find the sentences of each line; what holds no word is none.

        `whole` takes a line for a sentence, `joined` lets sentences go on over ends of lines.
        """
        spans: list[Span] = []
        at = 0
        for line in [text] if split == "joined" else text.split("\n"):
            pieces = _trimmed(line) if split == "whole" else _sentences(line, source)
            spans += [(at + start, at + end) for start, end in pieces if has_words(line[start:end])]
            at += len(line) + 1
        return cls(text, tuple(spans), target)

    @property
    def segments(self) -> Sequence[Segment]:
        """The sentences, each on one line."""
        return [Segment(" ".join(self.text[start:end].split())) for start, end in self.spans]

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, None]:
        """The text as UTF-8, and nothing to tell of it."""
        return self.rebuilt([one.text for one in translations]).encode(), None

    def rebuilt(self, translations: Sequence[str]) -> str:
        """The text with one translation for every sentence."""
        spans, texts = list(self.spans), list(translations)
        close = joins_without_space(self.target)
        for number, (start, _) in enumerate(self.spans[1:], start=1):
            before = self.spans[number - 1][1]
            between = self.text[before:start]
            if close and between and not between.strip(" "):
                spans[number] = (before, spans[number][1])
            elif not close and not between:
                texts[number] = f" {texts[number]}"
        return replaced(self.text, spans, texts)


def _sentences(line: str, language: str) -> list[Span]:
    if not line.strip():
        return []
    try:
        return sentence_spans(line, language)
    except UserError:  # the extra that splits is not installed: a line is a sentence
        return _trimmed(line)


def _trimmed(line: str) -> list[Span]:
    return [(len(line) - len(line.lstrip()), len(line.rstrip()))] if line.strip() else []


def read_page(html: str, source: str, target: str) -> SegmentedFile:
    """A text with HTML tags."""
    config = FileConfig(source_language=source, target_language=target)
    return open_segments(html.encode(), "q.html", config)


def read_file(data: bytes, suffix: str, source: str, target: str) -> SegmentedFile:
    """A file; its name is not looked at but for the suffix."""
    config = FileConfig(source_language=source, target_language=target)
    return open_segments(data, f"file{suffix}", config)
