"""Text with spans that are replaced; every other byte is written back as it was read."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from concatmt.errors import UserError

# A byte-order mark stays the first character of the text, so that it is written back.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class EncodedText:
    """A file's text and how it was encoded."""

    text: str
    encoding: str

    @property
    def line_end(self) -> str:
        """How its lines end."""
        if "\n" not in self.text and "\r" in self.text:
            return "\r"
        return "\r\n" if "\r\n" in self.text else "\n"

    @classmethod
    def read(cls, data: bytes, name: str, encoding: str | None = None) -> EncodedText:
        """Decode by the byte-order mark, else by `encoding`, else as UTF-8."""
        marked = next((known for mark, known in _MARKS if data.startswith(mark)), None)
        chosen = marked or encoding or "utf-8"
        try:
            text = data.decode(chosen)
        except LookupError:
            raise UserError(f"--encoding {encoding}: Python does not know this encoding") from None
        except UnicodeDecodeError as error:
            hint = "; if it is an old file, try --encoding cp1252" if chosen == "utf-8" else ""
            raise UserError(f"{name}: byte {error.start} is not {chosen}{hint}") from None
        if "\0" in text:
            raise UserError(
                f"{name}: holds NUL characters; if it is UTF-16 without a mark, "
                "say --encoding utf-16-le or utf-16-be"
            )
        return cls(text, chosen)

    def encoded(self, text: str, references: bool = False) -> bytes:
        """`text` in the file's own encoding, or in UTF-8 if characters of it do not exist there.

        `references`: such characters are written as &#NNN; instead.
        """
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
