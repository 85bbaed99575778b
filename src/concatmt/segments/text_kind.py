"""Whether a plain text has a sentence a line or is running text, judged by how its lines look.

Cautious: a file of sentences that was taken for running text could lose its lines, while running
text that is taken line by line only loses quality, and `--split sentences` mends that.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from concatmt.text.splitting import TITLE

SAMPLE = 1 << 20  # bytes from the beginning of a file that it is judged by

# What may lead a line and is not part of the sentence: indent, bullets, numbers, headings, quotes.
LEAD = re.compile(
    r"[ \t\ufeff]*(?:(?:[-*+•‣–—]|\d{1,3}[.)]|[a-zA-Z]\)|#{1,6}|>+)[ \t]+(?:\[[ xX]\][ \t]+)?)*"
)
_ENDS = re.compile(r"[.!?…:;。！？؟।][\"'»”’)\]]*$")
_MARK = re.compile(r"[.!?…。！？؟।]")
# A sentence that ends inside of a line, and the first character of the next one.
# The end of a sentence inside of a line: its last word and the first letter of the next one.
_INSIDE = re.compile(
    r"(?<!\w)(\w++[.!?…؟।]+)[\"'»”’)\]]*[ \u00a0]+[\"'«“‘(¿¡]*([^\W\d_])|[。！？]\w"
)

NARROWEST, WIDEST = 30, 130  # of wrapped text
MOST = 0.6  # of the lines, or of the text

TextKind = Literal["lines", "paragraphs", "wrapped"]


def full_width(lines: list[str]) -> int:
    """The width to which lines are wrapped, if they are: all but a few are not longer."""
    widths = sorted(len(line) for line in lines if line.strip())
    return widths[int(len(widths) * 0.95)] if widths else 0


def has_room(line: str, width: int, below: str) -> bool:
    """Whether the first word of the line below would have fitted into this one."""
    return len(line) + 1 + len(below.split()[0]) <= width


def kind_of_file(data: bytes, encoding: str) -> TextKind:
    """Judge a file by its first megabyte; whoever reads it says if nobody knows the encoding."""
    try:
        return kind_of(data[:SAMPLE].decode(encoding, "ignore"))
    except LookupError:
        return "lines"


def kind_of(text: str) -> TextKind:
    """Judge a text by its lines.

    Wrapped: in paragraphs, three in five lines have no room for the first word of the line below,
    and a third of those go on in the middle of a sentence, at least two of them. Paragraphs: three
    fifths of the text stand in lines in which a sentence ends before the end of the line.
    """
    lines = re.split(r"\r\n|\n|\r", text)
    if _is_wrapped(lines):
        return "wrapped"
    length = sum(map(len, lines))
    several = sum(len(line) for line in lines if _holds_several(line))
    return "paragraphs" if length and several >= MOST * length else "lines"


def _is_wrapped(lines: list[str]) -> bool:
    width = full_width(lines)
    if not NARROWEST <= width <= WIDEST or not any(map(_MARK.search, lines)):
        return False
    in_paragraphs = [
        (line, below)
        for line, below in pairwise(lines)
        if line.strip() and below.strip() and not _lead(below).strip()
    ]
    full = [(line, below) for line, below in in_paragraphs if not has_room(line, width, below)]
    torn = sum(_goes_on(line, below) for line, below in full)
    return len(full) >= MOST * len(in_paragraphs) and torn >= max(2, len(full) / 3)


def _lead(line: str) -> str:
    match = LEAD.match(line)
    return match.group() if match else ""


def _goes_on(line: str, below: str) -> bool:
    """Whether the sentence of a line goes on in the one below, as far as the letters tell."""
    first = below.lstrip()[:1]
    return not _ENDS.search(line.rstrip()) and first.isalpha() and not first.isupper()


def _holds_several(line: str) -> bool:
    return any(
        match[1] is None or not (match[2].islower() or TITLE.match(match[1]))
        for match in _INSIDE.finditer(line)
    )
