"""Finds where sentences begin and end in running text.

The rules of the languages come from sentencex, which loses no character and prefers to split too
little; three rules of our own join what it splits wrongly. Does not know paragraphs or files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from concatmt.errors import UserError
from concatmt.files import check_regular

Span = tuple[int, int]

# Titles and initials that never end a sentence when they are all that a piece holds.
TITLE = re.compile(r"(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Mme|Mlle|Hr|Fr)\.$")
# Small letters, and quotes and brackets that close: before a letter they open.
_CONTINUES = re.compile(r"[a-zà-öø-ÿа-яё]|[»”’\"')\]](?!\w)|[-–—]\s?[a-zà-öø-ÿа-яё]")


def sentence_spans(text: str, language: str, abbreviations: Iterable[str] = ()) -> list[Span]:
    """Start and end of every sentence in `text`, without surrounding white space.

    `abbreviations` are words (with full stop) that do not end a sentence, in addition to those that
    sentencex knows for the language.
    """
    try:
        import sentencex
    except ImportError:
        raise UserError(
            "splitting text into sentences needs the extra `text`: pip install 'concatmt[text]', "
            "or give one sentence a line and `--split lines`"
        ) from None
    pieces: list[Span] = []
    at = 0
    for piece in sentencex.segment(language, text):
        start = at + len(piece) - len(piece.lstrip())
        end = at + len(piece.rstrip())
        at += len(piece)
        if start < end:
            pieces.append((start, end))
    if at != len(text):
        raise AssertionError("sentencex returned other text than it was given")
    return _joined(text, pieces, frozenset(abbreviations))


def read_abbreviations(path: Path) -> frozenset[str]:
    """Read a file of abbreviations, one per line, with or without their full stop."""
    check_regular(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a list of abbreviations ({error})") from None
    return frozenset(f"{line.strip().rstrip('.')}." for line in lines if line.strip(" .\r"))


def _joined(text: str, pieces: list[Span], abbreviations: frozenset[str]) -> list[Span]:
    """Join pieces that are not sentences of their own, but never across a blank line."""
    spans: list[Span] = []
    for start, end in pieces:
        if spans:
            before_start, before_end = spans[-1]
            before = text[before_start:before_end]
            between = text[before_end:start]
            title = TITLE.match(before) or before.rsplit(None, 1)[-1] in abbreviations
            if between.count("\n") < 2 and (title or _CONTINUES.match(text, start)):
                spans[-1] = (before_start, end)
                continue
        spans.append((start, end))
    return spans
