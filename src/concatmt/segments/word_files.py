"""DOCX: paragraphs of body, tables, notes, headers and footers; formats go with their words.

Word cuts a paragraph into runs at every change of format and at many places more. Runs of the same
format are read as one text; a stretch of another format is a pair of tags around its words. When a
translation is written runs are made anew, so a format is never torn and every one is closed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from concatmt.errors import UserError
from concatmt.segments.archives import Members, rebuilt
from concatmt.segments.markup import Piece, escape, xml_pieces
from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.tags import Tag

_MEMBERS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_SIDE_MEMBER = re.compile(r"word/(?:header|footer)\d*\.xml")
# What ends a text: a new paragraph or cell, a tab, a line break, a field.
_ENDS = frozenset({"p", "tab", "br", "cr", "tc", "txbxContent", "fldChar", "fldSimple", "sdt"})
_NOTHING = frozenset({"proofErr", "lastRenderedPageBreak", "noBreakHyphen", "softHyphen"})
_WRAPPERS = frozenset({"hyperlink", "ins", "smartTag"})  # may stand around runs
_INVISIBLE = frozenset({"del", "moveFrom", "instrText", "delText", "oMath", "oMathPara"})


class Docx:
    """A Word document and the file translated."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self._members = Members(data, name)
        parts = [member for member in _MEMBERS if member in self._members.names]
        if _MEMBERS[0] not in parts:
            raise UserError(f"{name}: no word/document.xml in it: not a DOCX file")
        parts += sorted(filter(_SIDE_MEMBER.fullmatch, self._members.names))
        self._pages = [
            (member, _WordPart(self._members.read(member), f"{name}:{member}", split))
            for member in parts
        ]
        self.segments = [segment for _, page in self._pages for segment in page.segments]

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        return rebuilt(self._members, self._pages, translations)


class _WordPart:
    """One XML part of a Word document: its paragraphs, whose words are in <w:t>."""

    def __init__(self, data: bytes, name: str, split: Splitter):
        self.name = name
        self.file = EncodedText.read(data, name)
        passages = [
            text.passage() for text in _texts(self.file.text, xml_pieces(self.file.text, name))
        ]
        self._passages = Passages(self.file.text, passages, split, escape)
        self.segments: Sequence[Segment] = self._passages.segments

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        text, summary = self._passages.rebuilt(translations)
        return self.file.encoded(text, references=True), summary


@dataclass(frozen=True)
class _Look:
    """The format of a run, and the elements around it, as they are written."""

    properties: str = ""
    around: tuple[tuple[str, str], ...] = ()  # start tag and name


@dataclass
class _Text:
    """Words of a paragraph, run by run, and what stands between them that is not text."""

    start: int  # of the first <w:t>
    prefix: str  # of the namespace, as in <w:t>
    runs: list[tuple[Piece, _Look, str]] = field(default_factory=list)  # with what is before it

    def passage(self) -> Passage:
        """The text with its looks as pairs of tags; the most frequent look has none."""
        lengths: Counter[_Look] = Counter()
        for piece, look, _ in self.runs:
            lengths[look] += len(piece.text)
        base = max(lengths, key=lambda look: lengths[look])
        text, tags, before = "", list[Tag](), base
        looks = {"": base}
        for number, (piece, look, between) in enumerate(self.runs):
            if look != before and before != base:
                tags.append(Tag(len(text), "/", True, f"{len(looks) - 1}"))
            if between and number:
                tags.append(Tag(len(text), between, False, ""))
            if look != before and look != base:
                looks[f"{len(looks)}"] = look
                tags.append(Tag(len(text), f"{len(looks) - 1}", False, f"{len(looks) - 1}"))
            text += piece.text
            before = look
        if before != base:
            tags.append(Tag(len(text), "/", True, f"{len(looks) - 1}"))
        first, last = self.runs[0], self.runs[-1]

        def render(translation: str, moved: Sequence[Tag]) -> str:
            return self._rendered(translation, moved, looks, (first[1], last[1]))

        return Passage(self.start, last[0].end, text, tuple(tags), render=render)

    def _rendered(
        self, text: str, tags: Sequence[Tag], looks: dict[str, _Look], ends: tuple[_Look, _Look]
    ) -> str:
        """Runs for the text, from within a run of the first look to within one of the last."""
        now, wanted = ends[0], [looks[""]]
        out, at = f'<{self.prefix}t xml:space="preserve">', 0
        for tag in [*tags, Tag(len(text), "", True)]:
            if tag.offset > at:
                if wanted[-1] != now:
                    out += self._change(now, wanted[-1])
                    now = wanted[-1]
                out += escape(text[at : tag.offset])
                at = tag.offset
            if tag.pair == "":
                out += self._change(now, now, tag.markup)
            elif tag.pair is not None and tag.closes:
                wanted.remove(looks[tag.pair])
            elif tag.pair is not None:
                wanted.append(looks[tag.pair])
        return out + (self._change(now, ends[1]) if now.around != ends[1].around else "")

    def _change(self, before: _Look, after: _Look, between: str = "") -> str:
        w = self.prefix
        out = f"</{w}t></{w}r>"
        same = before.around == after.around
        if not same:
            out += "".join(f"</{name}>" for _, name in reversed(before.around))
        out += between
        if not same:
            out += "".join(start for start, _ in after.around)
        return f'{out}<{w}r>{after.properties}<{w}t xml:space="preserve">'


def _texts(file: str, pieces: Sequence[Piece]) -> Iterator[_Text]:
    """Stretches of words without a tab, a break or the end of a paragraph in them."""
    reader = _Reader(file)
    for piece in pieces:
        done = reader.read(piece)
        if done is not None:
            yield done
    if reader.text is not None:
        yield reader.text


class _Reader:
    """Goes through the pieces of a part."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.text: _Text | None = None
        self.path: list[str] = []
        self.around: list[tuple[str, str]] = []
        self.properties, self.properties_from = "", -1
        self.between = ""  # what is not text since the last words
        self.lost = 0  # depth in which everything is passed over

    def read(self, piece: Piece) -> _Text | None:
        """The text that ends here, if one does."""
        name, step = piece.name, {"start": 1 - piece.empty, "end": -1}.get(piece.kind, 0)
        done = None
        if name in _ENDS and self.properties_from < 0:
            done = self._ended()
        if self.lost or name in _INVISIBLE:
            self.between += self._raw(piece)
            self.lost += step
        elif self.properties_from >= 0:
            if name == "rPr" and step < 0:
                self.properties = self.file[self.properties_from : piece.end]
                self.properties_from = -1
        elif name == "rPr" and self.path[-1:] == ["r"] and step > 0:
            self.properties_from = piece.start
        elif name == "r" and step > 0:
            self.properties = ""
        elif piece.kind == "text" and self.path[-1:] == ["t"] and piece.text:
            self._words(piece)
        elif name in _WRAPPERS and step:
            if step > 0:
                self.around.append((self._raw(piece), self._full_name(piece)))
            elif self.around:
                self.around.pop()
        elif piece.kind == "text":
            if "r" in self.path[:-1]:  # of a picture, say; white space between runs is nothing
                self.between += self._raw(piece)
        elif name not in ("r", "t", "rPr", "p", "pPr", *_NOTHING):
            self._other(piece, step)
        if step > 0 and not self.lost:
            self.path.append(name)
        elif step < 0 and not self.lost and self.path[-1:] == [name]:
            self.path.pop()
        return done

    def _raw(self, piece: Piece) -> str:
        return self.file[piece.start : piece.end]

    def _full_name(self, piece: Piece) -> str:
        match = re.compile(r"<([\w:.-]+)").match(self.file, piece.start)
        assert match is not None
        return match[1]

    def _ended(self) -> _Text | None:
        done, self.text, self.between = self.text, None, ""
        return done

    def _words(self, piece: Piece) -> None:
        if self.text is None:
            opening = self.file.rfind("<", 0, piece.start)
            prefix = re.match(r"<((?:\w+:)?)t\b", self.file[opening : opening + 40])
            self.text = _Text(opening, prefix[1] if prefix else "")
        look = _Look(self.properties, tuple(self.around))
        self.text.runs.append((piece, look, self.between))
        self.between = ""

    def _other(self, piece: Piece, step: int) -> None:
        """A note's number, a picture, a bookmark: kept, in a run of its own if it was in one."""
        raw = self._raw(piece)
        if "r" in self.path and self.text is not None:
            w = self.text.prefix
            inner = self.path[::-1].index("r")
            opens = f"<{w}r>{self.properties}" if inner == 0 and step >= 0 else ""
            closes = f"</{w}r>" if (inner == 0 and step == 0) or (inner == 1 and step < 0) else ""
            raw = f"{opens}{raw}{closes}"
        self.between += raw
