"""Plain text and Markdown as people write them: paragraphs, wrapped lines, headings, lists.

Sentences are translated, everything between them stays. Lines that are one paragraph are joined for
the model and wrapped again at the same width. Code, links and emphasis of Markdown never reach the
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.tags import Tag
from concatmt.segments.text_kind import (
    LEAD,
    NARROWEST,
    WIDEST,
    TextKind,
    full_width,
    has_room,
    kind_of_file,
)

# What stands between brackets is not looked through for ever: a file of them alone is read too.
_MARKDOWN_TAG = re.compile(
    r"(?P<alone>`++[^`\n]+`+|!\[[^\]\n]{0,999}\]\([^)\n]{0,2999}\)|https?://[^\s)>\]]+"
    r"|\{[%{].{0,999}?[%}]\}|\\[^\w\s])"
    r"|(?P<close>\]\([^)\n]{0,2999}\)|\]\[[^\]\n]{0,999}\])"
    r"|(?P<open>\[(?=[^\]\n]{0,2999}\](?:\(|\[)))"
    r"|(?P<html></?[A-Za-z][^<>\n]*>)"
    r"|(?P<mark>\*\*\*|\*\*|\*|__|~~|(?<!\w)_(?=\w)|(?<=\w|[.!?,])_(?!\w))"
)
_SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'»”’)\]*_`]*$")
_HARD_BREAK = re.compile(r"  $|\\$|^\s*<[^>]*>\s*$")  # or a line of HTML
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
        data: bytes | EncodedText,
        name: str,
        split: Splitter,
        kind: TextKind = "wrapped",
        markdown: bool = False,
        encoding: str | None = None,
        width: int | None = None,
    ):
        """`width`: to which lines are wrapped, if it is known from what comes before."""
        self.name = name
        self.file = EncodedText.read(data, name, encoding) if isinstance(data, bytes) else data
        lines = _lines(self.file.text)
        if markdown:
            lines = list(_prose(lines))
        self.width = full_width([line.text for line in lines]) if width is None else width
        found = list(_passages(self.file.text, lines, self.width, kind, markdown))
        whole: Splitter = lambda text: [(0, len(text))] if text.strip() else []  # noqa: E731
        self._passages = Passages(self.file.text, found, whole if kind == "lines" else split)
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


def kind_for(split: Literal["sentences", "lines", "auto"], begin: bytes, encoding: str) -> TextKind:
    """How a text that begins with these bytes is taken, as `--split` says."""
    if split == "auto":
        return kind_of_file(begin, encoding)
    return "lines" if split == "lines" else "wrapped"


def _passages(
    text: str, lines: Sequence[_Line], width: int, kind: TextKind, markdown: bool
) -> Iterator[Passage]:
    """Paragraphs of joined lines, or every line; where lines are sentences, blank ones are gaps."""
    blocks: list[tuple[list[_Line], bool]] = []  # and whether a blank line is above
    blank = False
    for line in lines:
        if not line.text.strip():
            blank = True
            continue
        new = blank or kind != "wrapped" or not blocks
        if new or not _goes_on(blocks[-1][0][-1], line, width, markdown):
            blocks.append(([line], blank))
        else:
            blocks[-1][0].append(line)
        blank = False
    wraps = not markdown and any(len(block) > 1 for block, _ in blocks)
    for block, gap in blocks:
        passage = _passage(text, block, width if wraps or len(block) > 1 else None, markdown)
        yield replace(passage, gap=gap and kind == "lines")


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


def _goes_on(line: _Line, after: _Line, width: int, markdown: bool) -> bool:
    """Whether `after` is the same paragraph: the line was full, and nothing new begins.

    In Markdown it need not be full, unless a sentence ends with it or it ends in a hard break.
    """
    if not after.text.strip():
        return False
    lead = LEAD.match(after.text)
    assert lead is not None
    if lead.group().strip() or line.text.lstrip().startswith("#"):
        return False
    if markdown and (_HARD_BREAK.search(line.text) or after.text.lstrip()[0] in ":<"):
        return False
    if markdown and not _SENTENCE_END.search(line.text):
        return True
    if not NARROWEST <= width <= WIDEST:
        return False
    return not has_room(line.text, width, after.text) or (
        after.text[lead.end()].islower() and len(line.text) > width * 0.6
    )


def _passage(text: str, block: list[_Line], width: int | None, markdown: bool) -> Passage:
    """Lines as one text; `width`: to which its translation is wrapped."""
    lead = LEAD.match(block[0].text)
    assert lead is not None
    start, end = block[0].start + lead.end(), block[-1].start + len(block[-1].text.rstrip())
    start = min(start, end)
    raw = text[start:end]
    if len(block) > 1:
        indent = block[1].text[: len(block[1].text) - len(block[1].text.lstrip())]
        raw = re.sub(r"[ \t]*(?:\r\n|\n|\r)[ \t]*", " ", raw)
    else:
        bullet = lead.group().strip("\ufeff")
        indent = " " * len(bullet) if bullet.strip() else bullet
    plain, tags = _without_markdown(raw) if markdown else (raw, [])
    column = start - block[0].start
    return Passage(start, end, plain, tuple(tags), width=width, indent=indent, column=column)


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
