"""Text with spans that are replaced; every other byte is written back as it was read."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from concatmt.errors import UserError

# A byte-order mark stays the first character of the text, so that it is written back.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(data: bytes, encoding: str | None = None) -> str:
    """By the byte-order mark at the beginning of `data`, else what is given, else UTF-8."""
    return next((known for mark, known in _MARKS if data.startswith(mark)), encoding or "utf-8")


@dataclass(frozen=True)
class EncodedText:
    """A file's text, or a piece of it, and how it was encoded."""

    text: str
    encoding: str
    head: int = 0  # so many characters stand before a piece for its reader and are not written
    lines_before: int = 0  # of the file, less those of the head

    @cached_property
    def line_end(self) -> str:
        """How its lines end."""
        return line_end_of(self.text)

    @classmethod
    def read(cls, data: bytes, name: str, encoding: str | None = None) -> EncodedText:
        """Decode by what `encoding_of` says."""
        chosen = encoding_of(data, encoding)
        return cls("".join(decoded([data], name, chosen)), chosen)

    def line(self, offset: int) -> int:
        """The line of the file in which a character stands, counted from 1."""
        return self.lines_before + line_number(self.text, offset)

    def encoded(self, text: str, references: bool = False) -> bytes:
        """`text` in the file's own encoding, or in UTF-8 if characters of it do not exist there.

        `references`: such characters are written as &#NNN; instead.
        """
        text = text[self.head :]
        try:
            return text.encode(self.encoding, "xmlcharrefreplace" if references else "strict")
        except UnicodeEncodeError:
            return text.encode("utf-8")

    def fits(self, text: str) -> bool:
        """Whether every character of `text` exists in the file's encoding."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


def line_end_of(text: str) -> str:
    """How the lines of a text end."""
    if "\n" not in text and "\r" in text:
        return "\r"
    return "\r\n" if "\r\n" in text else "\n"


def decoded(blocks: Iterable[bytes], name: str, encoding: str) -> Iterator[str]:
    """The text of a file that is read block by block."""
    try:
        "".encode(encoding)  # refuses what is no encoding of text
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise UserError(f"--encoding {encoding}: Python does not know this encoding") from None
    at = 0
    for block, last in _with_last(blocks):
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(block, last)
        except UnicodeDecodeError as error:
            hint = "; if it is an old file, try --encoding cp1252" if encoding == "utf-8" else ""
            place = at - waiting + error.start
            raise UserError(f"{name}: byte {place} is not {encoding}{hint}") from None
        if "\0" in text:
            raise UserError(
                f"{name}: holds NUL characters; if it is UTF-16 without a mark, "
                "say --encoding utf-16-le or utf-16-be"
            )
        at += len(block)
        yield text


def _with_last(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Every block, and whether it is the last one."""
    before: bytes | None = None
    for block in blocks:
        if before is not None:
            yield before, False
        before = block
    yield before or b"", True


def replaced(text: str, spans: Sequence[tuple[int, int]], texts: Sequence[str]) -> str:
    """`text` with the i-th span (in order, apart from each other) replaced by the i-th text."""
    pieces: list[str] = []
    at = 0
    for (start, end), new in zip(spans, texts, strict=True):
        if start < at:
            raise ValueError("spans overlap or are out of order")
        pieces += (text[at:start], new)
        at = end
    return "".join([*pieces, text[at:]])


def line_number(text: str, offset: int) -> int:
    """The line in which a character stands, counted from 1."""
    return text.count("\n", 0, offset) + 1
