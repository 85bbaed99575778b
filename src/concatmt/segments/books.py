"""EPUB: a zip archive of XHTML pages, in the order in which they are read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote

from concatmt.errors import UserError
from concatmt.segments.archives import Members, rebuilt
from concatmt.segments.markup import xml_pieces
from concatmt.segments.passages import Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.web_pages import WebPage

_PAGE, _CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"


class Epub:
    """A book: its chapters in the order of reading, and the book with their translations."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self._members = Members(data, name)
        self._pages = [
            (member, WebPage(self._members.read(member), f"{name}:{member}", split, xml=True))
            for member in self._chapters()
        ]
        self.segments: list[Segment] = []
        for _, page in self._pages:
            for number, segment in enumerate(page.segments):
                gap = segment.gap or number == 0
                self.segments.append(replace(segment, gap=gap))

    def _chapters(self) -> list[str]:
        """The pages that the package document lists for reading, and tables of contents."""
        container = self._members.read("META-INF/container.xml").decode("utf-8", "replace")
        found = re.search(r"full-path\s*=\s*[\"']([^\"']+)[\"']", container)
        if found is None:
            raise UserError(f"{self.name}: META-INF/container.xml names no package document")
        package = found[1]
        text = EncodedText.read(self._members.read(package), f"{self.name}:{package}").text
        pages: dict[str, str] = {}
        order: list[str] = []
        contents: list[str] = []
        for piece in xml_pieces(text, f"{self.name}:{package}"):
            if piece.kind == "start" and piece.name == "item":
                place = posixpath.join(posixpath.dirname(package), unquote(piece.get("href") or ""))
                number, kind = piece.get("id") or "", piece.get("media-type")
                if kind in (_PAGE, _CONTENTS):
                    pages[number] = posixpath.normpath(place)
                is_there = pages.get(number) in self._members.names
                if is_there and (
                    kind == _CONTENTS or "nav" in (piece.get("properties") or "").split()
                ):
                    contents.append(number)
            elif piece.kind == "start" and piece.name == "itemref":
                order.append(piece.get("idref") or "")
        chapters = [pages[key] for key in dict.fromkeys([*order, *contents]) if key in pages]
        for chapter in chapters:
            if chapter not in self._members.names:
                raise UserError(f"{self.name}: the chapter {chapter} is not in the archive")
        return chapters

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        return rebuilt(self._members, self._pages, translations)
