"""XLIFF 1.2 and 2.x: the segments of a translator's job, in order.

A segment with an approved or final translation is context for the others and is not touched. Inline
codes are tags. A missing target is written after its source; it gets the marks of <seg-source>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from concatmt.errors import UserError
from concatmt.segments.markup import Piece, as_one, escape, tagged_text, xml_encoding, xml_pieces
from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.tags import Tag
from concatmt.segments.xliff_units import Side, Unit, units


class Xliff:
    """A file of translation units: sources as segments, and the file with its targets filled."""

    def __init__(self, data: bytes, name: str, split: Splitter, encoding: str | None = None):
        self.name = name
        self.file = EncodedText.read(data, name, encoding or xml_encoding(data))
        pieces = xml_pieces(self.file.text, name)
        if not any(piece.kind == "start" and piece.name == "xliff" for piece in pieces):
            raise UserError(f"{name}: no <xliff> element in it: not an XLIFF file")
        prefix = next(
            self.file.text[piece.start + 1 : piece.end].split("xliff", 1)[0]
            for piece in pieces
            if piece.kind == "start" and piece.name == "xliff"
        )
        passages = list(_passages(self.file.text, pieces, prefix))
        self._passages = Passages(self.file.text, passages, split, escape)
        self.segments: Sequence[Segment] = self._passages.segments

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        text, summary = self._passages.rebuilt(translations)
        summary.add("segments with a translation of their own", self._given())
        return self.file.encoded(text, references=True), summary

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Source and target of every unit, in order; a target that is not there is empty."""
        passages = self._passages.passages
        return [(" ".join(p.text.split()), " ".join(p.target.split())) for p in passages]

    def _given(self) -> int:
        return sum(segment.given is not None for segment in self.segments)


def _passages(text: str, pieces: Sequence[Piece], prefix: str) -> Iterator[Passage]:
    """What is to be translated, or given, unit by unit."""
    writer = _Writer(text, pieces, prefix)
    for unit in units(pieces):
        source = unit.sides.get("seg-source")
        if source is None or not source.marks:
            source = unit.sides.get("source")
        if source is not None:
            yield from writer.unit(unit, source)


@dataclass(frozen=True)
class _Writer:
    """Makes passages of units: where their translations go, and what is written around them."""

    text: str
    pieces: Sequence[Piece]
    prefix: str  # of the namespace

    def unit(self, unit: Unit, source: Side) -> Iterator[Passage]:
        """One passage, or one for each marked segment whose place in the target is there."""
        target = unit.sides.get("target")
        marks = target.marks if target is not None else {}
        if source.marks and set(source.marks) <= set(marks):
            for number, mark in source.marks.items():
                yield self._passage(unit, mark, marks[number], "mrk")
        else:
            yield self._passage(unit, source, target, "target")

    def _passage(self, unit: Unit, source: Side, target: Side | None, name: str) -> Passage:
        plain, tags = self._tagged(source.start, source.end)
        passage = Passage(source.start, source.end, plain, tuple(tags), parts=self._parts(source))
        if target is not None:
            passage = replace(passage, target=self._tagged(target.start, target.end)[0])
        if not unit.translatable:
            # Nobody translates it, but what stands around it may refer to it.
            return replace(passage, given=passage.target or plain)
        if unit.approved and passage.target.strip():
            return replace(passage, given=passage.target)
        if target is None:
            end = unit.source_end
            indent = self.text[unit.indent_from : self.text.index("<", unit.indent_from)]
            opening = f"{indent}<{self.prefix}target>"
            return self._new(passage, end, end, opening, "target")
        if target.tag is not None:
            opening = self.text[target.tag[0] : target.tag[1] - 2].rstrip() + ">"
            return self._new(passage, *target.tag, opening, name)
        a, b = target.start, target.end
        new = self.text[a:b] != self.text[source.start : source.end]
        return replace(passage, start=a, end=b, new=new)

    def _new(self, passage: Passage, start: int, end: int, opening: str, name: str) -> Passage:
        """A passage that is written with its element around."""
        closing = f"</{self.prefix}{name}>"
        return replace(passage, start=start, end=end, new=True, before=opening, after=closing)

    def _tagged(self, start: int, end: int) -> tuple[str, list[Tag]]:
        return tagged_text(self.text, _inside(self.pieces, start, end), start, end)

    def _parts(self, source: Side) -> tuple[tuple[int, int], ...]:
        """Where the marked segments stand in the plain text."""
        return tuple(
            (
                len(self._tagged(source.start, mark.start)[0]),
                len(self._tagged(source.start, mark.end)[0]),
            )
            for mark in source.marks.values()
        )


def _inside(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """The pieces between two places; found by bisection, since a file may have many units."""
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high) // 2
        if pieces[middle].start < start:
            low = middle + 1
        else:
            high = middle
    found = []
    for place in range(low, len(pieces)):
        if pieces[place].start >= end:
            break
        found.append(pieces[place])
    return as_one(found, _is_code)


def _is_code(piece: Piece) -> bool:
    """Codes of the original format, and words that nobody is to translate."""
    protected = piece.get("translate") == "no" or piece.get("mtype") == "protected"
    return piece.name in ("ph", "bpt", "ept", "it") or (piece.name == "mrk" and protected)
