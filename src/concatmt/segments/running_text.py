"""Plain text and Markdown as people write them: paragraphs, wrapped lines, headings, lists.

Sentences are translated, everything between them stays. Lines that are one paragraph are joined for
the model and wrapped again at the same width. Code, links and emphasis of Markdown never reach the
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.tags import Tag

# What may lead a line and is not part of the sentence: indent, bullets, numbers, headings, quotes.
_LEAD = re.compile(
    r"[ \t\ufeff]*(?:(?:[-*+•‣–—]|\d{1,3}[.)]|[a-zA-Z]\)|#{1,6}|>+)[ \t]+(?:\[[ xX]\][ \t]+)?)*"
)
_MARKDOWN_TAG = re.compile(
    r"(?P<alone>`+[^`\n]+`+|!\[[^\]\n]*\]\([^)\n]*\)|https?://[^\s)>\]]+|\{[%{].*?[%}]\}|\\[^\w\s])"
    r"|(?P<close>\]\([^)\n]*\)|\]\[[^\]\n]*\])"
    r"|(?P<open>\[(?=[^\]\n]*\](?:\(|\[)))"
    r"|(?P<html></?[A-Za-z][^<>\n]*>)"
    r"|(?P<mark>\*\*\*|\*\*|\*|__|~~|(?<!\w)_(?=\w)|(?<=\w|[.!?,])_(?!\w))"
)
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
# Lines of Markdown that are not prose: rules, tables, link definitions, underlines, comments.
_NOT_PROSE = re.compile(r"[ \t]*(?:[-*_=|:+ \t]+$|\[[^\]]+\]:|\||<!--|\{[%#])")


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    text: str


class RunningText:
    """A text file: its sentences as segments, and the file with their translations."""

    def __init__(
        self,
        data: bytes,
        name: str,
        split: Splitter,
        mode: Literal["sentences", "lines"] = "sentences",
        markdown: bool = False,
        encoding: str | None = None,
    ):
        self.name = name
        self.file = EncodedText.read(data, name, encoding)
        whole: Splitter = lambda text: [(0, len(text))] if text.strip() else []  # noqa: E731
        found = list(_passages(self.file.text, mode == "sentences", markdown))
        self._passages = Passages(self.file.text, found, split if mode == "sentences" else whole)
        self.segments: Sequence[Segment] = self._passages.segments

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        text, summary = self._passages.rebuilt(translations)
        summary.add(
            "files written as UTF-8, since their encoding lacks characters",
            not self.file.fits(text),
        )
        return self.file.encoded(text), summary


def _lines(text: str) -> list[_Line]:
    lines = []
    for match in re.finditer(r"([^\r\n]*)(?:\r\n|\n|\r|$)", text):
        if match.group():
            lines.append(_Line(match.start(1), match.end(1), match[1]))
    return lines


def _passages(text: str, join: bool, markdown: bool) -> Iterator[Passage]:
    lines = list(_prose(_lines(text))) if markdown else _lines(text)
    widths = sorted(len(line.text) for line in lines if line.text.strip())
    # Text is taken for wrapped if its long lines are all about as long, and not very long.
    width = widths[int(len(widths) * 0.95)] if widths else 0
    wrapped = join and 30 <= width <= 130
    block: list[_Line] = []
    for line in lines:
        if block and not (wrapped and _goes_on(block[-1], line, width)):
            yield _passage(text, block, width, markdown)
            block = []
        if line.text.strip():
            block.append(line)
    if block:
        yield _passage(text, block, width, markdown)


def _prose(lines: list[_Line]) -> Iterator[_Line]:
    """Lines of Markdown but for code, tables, front matter and the like; those become blank."""
    fence: str | None = None
    front = bool(lines) and lines[0].text.strip("\ufeff ") == "---"
    for number, line in enumerate(lines):
        blank = _Line(line.start, line.end, "")
        match = _FENCE.match(line.text)
        if front:
            front = number == 0 or line.text.strip() not in ("---", "...")
            yield blank
        elif fence is not None:
            if match and match[1].startswith(fence):
                fence = None
            yield blank
        elif match:
            fence = match[1]
            yield blank
        elif re.match(r" {4}|\t", line.text) or _NOT_PROSE.match(line.text):
            yield blank
        else:
            yield line


def _goes_on(line: _Line, after: _Line, width: int) -> bool:
    """Whether `after` is the same paragraph: the line was full, and nothing new begins."""
    if not after.text.strip():
        return False
    lead = _LEAD.match(after.text)
    assert lead is not None
    if lead.group().strip() or line.text.lstrip().startswith("#"):
        return False
    first_word = after.text.split()[0]
    return len(line.text) + 1 + len(first_word) > width or (
        after.text[lead.end()].islower() and len(line.text) > width * 0.6
    )


def _passage(text: str, block: list[_Line], width: int, markdown: bool) -> Passage:
    lead = _LEAD.match(block[0].text)
    assert lead is not None
    start, end = block[0].start + lead.end(), block[-1].start + len(block[-1].text.rstrip())
    start = min(start, end)
    raw = text[start:end]
    indent, lines_width = "", None
    if len(block) > 1:
        indent = block[1].text[: len(block[1].text) - len(block[1].text.lstrip())]
        raw = re.sub(r"[ \t]*(?:\r\n|\n|\r)[ \t]*", " ", raw)
        lines_width = max(width - lead.end(), 20) if len(block) == 1 else width
    plain, tags = _without_markdown(raw) if markdown else (raw, [])
    return Passage(start, end, plain, tuple(tags), width=lines_width, indent=indent)


def _without_markdown(raw: str) -> tuple[str, list[Tag]]:
    plain, tags, at = "", [], 0
    open_marks: list[str] = []
    for match in _MARKDOWN_TAG.finditer(raw):
        plain += raw[at : match.start()]
        at = match.end()
        markup = match.group()
        if match["alone"] and raw[at : at + 1] == " " and (not plain or plain[-1] == " "):
            # One of the two spaces around goes along, so that neither side is left without.
            markup, at = markup + " ", at + 1
        closes = match["close"] is not None or markup.startswith("</")
        if match["mark"]:
            closes = markup in open_marks
            if closes:
                open_marks.remove(markup)
            else:
                open_marks.append(markup)
        tags.append(Tag(len(plain), markup, closes))
    return plain + raw[at:], tags
