"""XML and HTML as a list of pieces with their places, so that single spans of it can be replaced.

Parsers that build a tree write back something else than they read (quotes, entities, white space);
here the standard library's parsers only say where everything stands. Documents that declare
entities are refused.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Literal
from xml.parsers import expat

from concatmt.errors import UserError
from concatmt.segments.spans import line_number
from concatmt.segments.tags import Tag


@dataclass(frozen=True, slots=True)
class Piece:
    """A tag or a stretch of text at start:end of the file's text."""

    kind: Literal["start", "end", "text", "other"]
    start: int
    end: int
    name: str = ""  # without the prefix of its namespace
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    empty: bool = False  # <name/>: start and end in one

    def get(self, attribute: str) -> str | None:
        return next((value for name, value in self.attributes if name == attribute), None)


def escape(text: str) -> str:
    """Text as it is written between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_XML_DECLARATION = re.compile(r"\ufeff?<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def xml_encoding(data: bytes) -> str | None:
    """The encoding that an XML declaration names."""
    match = _XML_DECLARATION.match(data[:200].decode("latin-1").lstrip("ï»¿"))
    return match[1] if match else None


def xml_pieces(text: str, name: str) -> list[Piece]:
    """The pieces of an XML document."""
    encoded = text.encode("utf-8", "surrogatepass")
    events: list[tuple[str, int, str, tuple[tuple[str, str], ...]]] = []
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = False

    def started(tag: str, attributes: dict[str, str]) -> None:
        events.append(("start", parser.CurrentByteIndex, tag, tuple(attributes.items())))

    def ended(tag: str) -> None:
        events.append(("end", parser.CurrentByteIndex, tag, ()))

    def characters(data: str) -> None:
        events.append(("text", parser.CurrentByteIndex, data, ()))

    def other(*_: object) -> None:
        events.append(("other", parser.CurrentByteIndex, "", ()))

    def entity(*_: object) -> None:
        line = encoded.count(b"\n", 0, parser.CurrentByteIndex) + 1
        raise UserError(
            f"{name}, line {line}: declares an entity; such files are refused, "
            "because a few lines of them can fill the memory or read other files"
        )

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = characters
    parser.CommentHandler = other
    parser.ProcessingInstructionHandler = other
    parser.StartCdataSectionHandler = other
    parser.EndCdataSectionHandler = other
    parser.EntityDeclHandler = entity
    parser.StartDoctypeDeclHandler = other
    parser.EndDoctypeDeclHandler = other
    parser.SkippedEntityHandler = lambda reference, _: characters(html.unescape(f"&{reference};"))
    parser.UseForeignDTD(False)
    try:
        parser.Parse(encoded, True)
    except expat.ExpatError as error:
        raise UserError(
            f"{name}, line {error.lineno}: not well-formed XML "
            f"({expat.errors.messages[error.code]})"
        ) from None
    return _placed(text, encoded, events)


def _placed(
    text: str,
    encoded: bytes,
    events: Sequence[tuple[str, int, str, tuple[tuple[str, str], ...]]],
) -> list[Piece]:
    pieces = []
    at_byte = at = 0
    places = []
    for _, byte, _, _ in events:
        at += len(encoded[at_byte:byte].decode("utf-8", "surrogatepass"))
        at_byte = byte
        places.append(at)
    places.append(len(text))
    for number, (kind, _, value, attributes) in enumerate(events):
        start, end = places[number], places[number + 1]
        if kind == "text":
            pieces.append(Piece("text", start, end, text=value))
            continue
        if kind == "other":
            pieces.append(Piece("other", start, end))
            continue
        local = value.rpartition(":")[2]
        if kind == "end" and pieces[-1].empty and number and events[number - 1][0] == "start":
            continue  # <name/> is two events for expat
        close = _tag_end(text, start)
        empty = kind == "start" and text[close - 2] == "/"
        piece_kind: Literal["start", "end"] = "start" if kind == "start" else "end"
        pieces.append(Piece(piece_kind, start, close, local, attributes, empty=empty))
    return pieces


def _tag_end(text: str, start: int) -> int:
    match = re.compile(r"<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>").match(text, start)
    if match is None:
        raise AssertionError(f"no tag at line {line_number(text, start)}")
    return match.end()


class _Html(HTMLParser):
    """Notes where the standard parser finds things; text stays unresolved until it is asked for."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=False)
        self.pieces: list[Piece] = []
        self.text = text
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.feed(text)
        self.close()

    def _here(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag(tag, attrs, empty=False)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag(tag, attrs, empty=True)

    def _tag(self, tag: str, attrs: list[tuple[str, str | None]], empty: bool) -> None:
        start = self._here()
        length = len(self.get_starttag_text() or "")
        values = tuple((name, value or "") for name, value in attrs)
        self.pieces.append(Piece("start", start, start + length, tag, values, empty=empty))

    def handle_endtag(self, tag: str) -> None:
        start = self._here()
        end = self.text.find(">", start) + 1 or len(self.text)
        self.pieces.append(Piece("end", start, end, tag))

    def handle_data(self, data: str) -> None:
        start = self._here()
        self.pieces.append(Piece("text", start, start + len(data), text=data))

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def _reference(self, written: str) -> None:
        start = self._here()
        end = start + len(written)
        if self.text[end : end + 1] == ";":
            end += 1
        raw = self.text[start:end]
        self.pieces.append(Piece("text", start, end, text=html.unescape(raw)))

    def handle_comment(self, data: str) -> None:
        self._other()

    def handle_decl(self, decl: str) -> None:
        self._other()

    def handle_pi(self, data: str) -> None:
        self._other()

    def unknown_decl(self, data: str) -> None:
        self._other()

    def _other(self) -> None:
        start = self._here()
        end = self.text.find(">", start) + 1 or len(self.text)
        self.pieces.append(Piece("other", start, end))


def html_pieces(text: str) -> list[Piece]:
    """The pieces of an HTML page, which need not be well-formed."""
    return _Html(text).pieces


_CLOSING = frozenset({"ept", "ex", "ec"})  # elements of XLIFF that close what another one opened


def as_one(pieces: Sequence[Piece], opaque: Callable[[Piece], bool]) -> list[Piece]:
    """Elements whose content is no text, as `opaque` says of their start, as one piece each."""
    out: list[Piece] = []
    open_at: list[str] = []  # names of the elements that are open, from an opaque one on
    for piece in pieces:
        if not open_at:
            out.append(piece)
            if piece.kind == "start" and not piece.empty and opaque(piece):
                open_at.append(piece.name)
        else:
            out[-1] = replace(out[-1], kind="other", end=piece.end)
            if piece.kind == "start" and not piece.empty:
                open_at.append(piece.name)
            elif piece.kind == "end":
                open_at.pop()
    return out


def tagged_text(file: str, pieces: Sequence[Piece], start: int, end: int) -> tuple[str, list[Tag]]:
    """The text of a run of pieces between start and end of the file, and all else as tags."""
    text, tags, at = "", [], start
    opaque_after_space = False
    for piece in pieces:
        if piece.start > at:
            tags.append(Tag(len(text), file[at : piece.start]))
        at = piece.end
        if file.startswith(("<![CDATA[", "]]>"), piece.start):
            continue  # its text is written with entities, which mean nothing in there
        if piece.kind == "text":
            own = piece.text
            if opaque_after_space and own.startswith(" "):
                # One of the two spaces around goes along, so that neither side is left without.
                tags[-1] = Tag(tags[-1].offset, tags[-1].markup + " ")
                own = own[1:]
            text += own.replace("\xad", "")  # where a word may be cut is no part of it
        else:
            if (piece.name == "br" or piece.get("ctype") == "lb") and text[-1:].strip():
                text += " "  # or its words would grow together
            closes = piece.kind == "end" or piece.name in _CLOSING
            tags.append(Tag(len(text), file[piece.start : piece.end], closes))
        opaque_after_space = piece.kind == "other" and text.endswith(" ")
    if at < end:
        tags.append(Tag(len(text), file[at:end], closes=True))
    return text, tags
