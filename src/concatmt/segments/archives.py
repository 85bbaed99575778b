"""EPUB and DOCX: zip archives whose pages are translated; every other member is copied as it is."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from concatmt.errors import UserError
from concatmt.segments.markup import Piece, escape, tagged_text, xml_pieces
from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.web_pages import WebPage

# What one member may hold unpacked, and how much larger than packed: text shrinks to a tenth or so.
MOST_BYTES = 200_000_000
MOST_RATIO = 200
_EDGE_SPACE = re.compile(r"<(\w+:)?t>(?=\s|[^<]*\s</)")


class Epub:
    """A book: its chapters in the order of reading, and the book with their translations."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self._members = _Members(data, name)
        self._pages = [
            (member, WebPage(self._members.read(member), f"{name}:{member}", split, xml=True))
            for member in self._chapters()
        ]
        self.segments: list[Segment] = []
        for _, page in self._pages:
            for number, segment in enumerate(page.segments):
                gap = segment.gap or number == 0
                self.segments.append(Segment(segment.text, segment.given, gap))

    def _chapters(self) -> list[str]:
        """The pages that the package document lists for reading."""
        container = self._members.read("META-INF/container.xml").decode("utf-8", "replace")
        found = re.search(r"full-path\s*=\s*[\"']([^\"']+)[\"']", container)
        if found is None:
            raise UserError(f"{self.name}: META-INF/container.xml names no package document")
        package = found[1]
        text = EncodedText.read(self._members.read(package), f"{self.name}:{package}").text
        pages: dict[str, str] = {}
        order: list[str] = []
        for piece in xml_pieces(text, f"{self.name}:{package}"):
            if piece.kind == "start" and piece.name == "item":
                if piece.get("media-type") == "application/xhtml+xml":
                    place = unquote(piece.get("href") or "")
                    pages[piece.get("id") or ""] = posixpath.normpath(
                        posixpath.join(posixpath.dirname(package), place)
                    )
            elif piece.kind == "start" and piece.name == "itemref":
                order.append(piece.get("idref") or "")
        chapters = [pages[key] for key in dict.fromkeys(order) if key in pages]
        for chapter in chapters:
            if chapter not in self._members.names:
                raise UserError(f"{self.name}: the chapter {chapter} is not in the archive")
        return chapters

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        return _rebuilt(self._members, self._pages, translations)


class Docx:
    """A Word document: paragraphs of body, tables, notes, headers, and the file translated."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self._members = _Members(data, name)
        known = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]
        parts = [member for member in known if member in self._members.names]
        if "word/document.xml" not in parts:
            raise UserError(f"{name}: no word/document.xml in it: not a DOCX file")
        parts += sorted(
            member
            for member in self._members.names
            if re.fullmatch(r"word/(?:header|footer)\d*\.xml", member)
        )
        self._pages = [
            (member, _WordPart(self._members.read(member), f"{name}:{member}", split))
            for member in parts
        ]
        self.segments = [segment for _, page in self._pages for segment in page.segments]

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        return _rebuilt(self._members, self._pages, translations)


class _WordPart:
    """One XML part of a Word document: its paragraphs <w:p>, whose words are in <w:t>."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self.file = EncodedText.read(data, name)
        pieces = xml_pieces(self.file.text, name)
        passages = list(_paragraphs(self.file.text, pieces))
        self._passages = Passages(self.file.text, passages, split, escape)
        self.segments: Sequence[Segment] = self._passages.segments

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        text, summary = self._passages.rebuilt(translations)
        if text != self.file.text:
            # Without this attribute Word drops spaces at the ends of a run.
            text = _EDGE_SPACE.sub(r'<\1t xml:space="preserve">', text)
        return self.file.encoded(text, self.name), summary


def _paragraphs(text: str, pieces: Sequence[Piece]) -> Iterator[Passage]:
    """From the first word of a paragraph to its last one; what is between two words is a tag."""
    words: list[Piece] = []
    in_text = deleted = 0
    for piece in pieces:
        step = {"start": 0 if piece.empty else 1, "end": -1}.get(piece.kind, 0)
        if piece.name == "t":
            in_text += step
        elif piece.name in ("del", "instrText"):
            deleted += step
        elif piece.name in ("p", "tab", "br", "txbxContent") and words:
            yield from _paragraph(text, words)
            words = []
        elif piece.kind == "text" and in_text and not deleted:
            words.append(piece)
    yield from _paragraph(text, words)


def _paragraph(text: str, words: list[Piece]) -> Iterator[Passage]:
    if words:
        start, end = words[0].start, words[-1].end
        plain, tags = tagged_text(text, words, start, end)
        yield Passage(start, end, plain, tuple(tags))


def _rebuilt(
    members: _Members,
    pages: Sequence[tuple[str, WebPage | _WordPart]],
    translations: Sequence[Translated],
) -> tuple[bytes, Summary]:
    summary, changed, at = Summary(), {}, 0
    for member, page in pages:
        own = translations[at : at + len(page.segments)]
        at += len(page.segments)
        changed[member], counts = page.with_translations(own)
        for name, count in counts.counts.items():
            summary.add(name, count)
    if at != len(translations):
        raise ValueError(f"{len(translations)} translations for {at} segments")
    return members.with_changes(changed), summary


class _Members:
    """The members of a zip archive, read within limits."""

    def __init__(self, data: bytes, name: str):
        self.name = name
        self._data = data
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile as error:
            raise UserError(f"{name}: not a zip archive ({error})") from None
        self.names = {info.filename for info in self._archive.infolist()}
        for info in self._archive.infolist():
            parts = info.filename.replace("\\", "/").split("/")
            if info.filename.startswith("/") or ".." in parts:
                raise UserError(f"{name}: the member {info.filename!r} leaves the archive")
            packed = max(info.compress_size, 1)
            if info.file_size > MOST_BYTES or (
                info.file_size > 1_000_000 and info.file_size / packed > MOST_RATIO
            ):
                raise UserError(
                    f"{name}: the member {info.filename!r} unpacks to {info.file_size:,} bytes "
                    f"from {info.compress_size:,}; such archives are refused"
                )

    def read(self, member: str) -> bytes:
        try:
            with self._archive.open(member) as file:
                data = file.read(MOST_BYTES + 1)
        except KeyError:
            raise UserError(f"{self.name}: no member {member!r} in the archive") from None
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise UserError(f"{self.name}: cannot read its member {member!r} ({error})") from None
        except Exception as error:  # zlib.error is not exported by zipfile
            if type(error).__name__ != "error":
                raise
            raise UserError(f"{self.name}: the member {member!r} is damaged ({error})") from None
        if len(data) > MOST_BYTES:
            raise UserError(f"{self.name}: the member {member!r} is too large")
        return data

    def with_changes(self, changed: dict[str, bytes]) -> bytes:
        """The archive with other contents of some members; the same bytes if nothing changed."""
        if all(self.read(member) == data for member, data in changed.items()):
            return self._data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for info in self._archive.infolist():
                data = changed.get(info.filename)
                archive.writestr(info, self.read(info.filename) if data is None else data)
        return out.getvalue()
