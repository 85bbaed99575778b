"""Long subtitles and texts piece by piece, so that memory does not grow with the file.

A piece ends where a file may be cut without anything that reaches over the cut being lost: between
cues no sentence goes on over, at the end of a paragraph. Other formats are read whole.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.cue_sentences import may_be_cut
from concatmt.segments.cues import READERS, head_after
from concatmt.segments.passages import Splitter
from concatmt.segments.running_text import RunningText, kind_for
from concatmt.segments.spans import EncodedText, decoded, encoding_of
from concatmt.segments.subtitles import Subtitles
from concatmt.segments.text_kind import SAMPLE

BLOCK = 1 << 16  # bytes that are read at a time
PIECE = 1 << 20  # characters of a piece, about
MOST_BYTES = 200_000_000  # of a file that is read whole
_HOLD_EVERYTHING = frozenset({"utf-8", "utf-16-le", "utf-16-be"})
_LINE_END = re.compile(r"[^\S\r\n]*(?:\r\n|\n|\r)")


def whole(file: BinaryIO, name: str) -> bytes:
    """All of a file that cannot be cut."""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(
            f"{name}: more than {MOST_BYTES:,} bytes, but such a file is read whole; cut it"
        )
    return data


@dataclass(frozen=True)
class _Source:
    """A file that was opened, and the encoding that it is read in."""

    file: BinaryIO
    name: str
    begin: bytes  # the first bytes, which were read already
    encoding: str

    @classmethod
    def of(cls, file: BinaryIO, name: str, encoding: str | None) -> _Source:
        begin = file.read(SAMPLE)
        return cls(file, name, begin, encoding_of(begin, encoding))

    def texts(self) -> Iterator[str]:
        """The text block by block."""
        rest: Iterator[bytes] = iter(lambda: self.file.read(BLOCK), b"")
        return decoded(chain([self.begin], rest), self.name, self.encoding)

    def whole(self) -> str:
        """The text of a file that cannot be cut."""
        return "".join(decoded([self.begin, whole(self.file, self.name)], self.name, self.encoding))

    @property
    def may_be_cut(self) -> bool:
        """Not if it may lack characters: then all of it is written as UTF-8."""
        try:
            return codecs.lookup(self.encoding).name in _HOLD_EVERYTHING
        except LookupError:
            return False  # `decoded` says that nobody knows it


def subtitle_pieces(
    file: BinaryIO, name: str, suffix: str, split: Splitter, config: FileConfig
) -> Iterator[Subtitles]:
    """Subtitles, some thousand cues at a time."""
    source = _Source.of(file, name, config.encoding)
    head = ""
    before: Subtitles | None = None

    def encoded(text: str, line: int = 1) -> EncodedText:
        lines_before = line - 1 - head.count("\n")
        return EncodedText(head + text, source.encoding, len(head), lines_before)

    def place(text: str, line: int) -> int:
        file = encoded(text, line)
        cues = READERS[suffix](file, name)[:-1]  # the last one may go on
        for a, b in zip(cues[-2::-1], cues[:0:-1], strict=True):
            if may_be_cut(a, b, file.text[a.start : a.end], config.subtitles):
                return a.end - len(head)
        return cues[-2].end - len(head) if len(cues) > 1 else 0

    for text, line in _pieces(source, place):
        before = Subtitles(
            encoded(text, line),
            name,
            suffix,
            split,
            config.subtitles,
            language=config.target_language,
            before=before,
        )
        yield before
        head = head_after(text, suffix, head)


def text_pieces(
    file: BinaryIO, name: str, split: Splitter, config: FileConfig
) -> Iterator[RunningText]:
    """Running text, cut between paragraphs; lines, cut between lines."""
    source = _Source.of(file, name, config.encoding)
    kind = kind_for(config.split, source.begin, source.encoding)
    width: int | None = None

    def place(text: str, line: int) -> int:
        if kind == "paragraphs":
            return len(text)
        if kind == "lines":  # blank lines, which end a document, go to the next piece
            after = _LINE_END.match(text, len(text.rstrip()))
            return after.end() if after and text.strip() else 0
        blank = (("\n\n", 1), ("\r\n\r\n", 2), ("\r\r", 1))
        return max(text.rfind(ends) + half if ends in text else 0 for ends, half in blank)

    for text, _ in _pieces(source, place):
        piece = RunningText(EncodedText(text, source.encoding), name, split, kind, width=width)
        width = piece.width
        yield piece


def _pieces(source: _Source, place: Callable[[str, int], int]) -> Iterator[tuple[str, int]]:
    """A text in pieces, each with the number of its first line.

    `place` says where lines that were read so far, from the one of that number on, may be cut: 0 if
    nowhere.
    """
    if not source.may_be_cut:
        yield source.whole(), 1
        return
    waiting: list[str] = []
    length, enough, line = 0, PIECE, 1
    begun = False
    for text in source.texts():
        waiting.append(text)
        length += len(text)
        if length < enough:
            continue
        joined = "".join(waiting)
        whole_lines = max(joined.rfind("\n"), joined.rfind("\r", 0, -1)) + 1
        at = place(joined[:whole_lines], line)
        if at:
            yield joined[:at], line
            begun = True
            line += joined.count("\n", 0, at)
        waiting, length = [joined[at:]], len(joined) - at
        enough = PIECE if at else 2 * length
    if length or not begun:
        yield "".join(waiting), line
