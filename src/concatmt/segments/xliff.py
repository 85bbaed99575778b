"""XLIFF 1.2 and 2.x: the segments of a translator's job, in order.

A segment with an approved or final translation is context for the others and is not touched. Inline
codes are tags. A missing target is written after its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from concatmt.errors import UserError
from concatmt.segments.markup import Piece, as_one, escape, tagged_text, xml_encoding, xml_pieces
from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText

# States of a target that a person has answered for (XLIFF 1.2 `state`, 2.x `state` of a segment).
_FINAL = frozenset({"final", "signed-off", "translated", "reviewed"})


@dataclass
class _Unit:
    """What was found of one trans-unit (1.2) or segment (2.x)."""

    translatable: bool
    approved: bool
    indent_from: int  # end of what stands before <source>, to indent a new target alike
    source: tuple[int, int] | None = None
    target: tuple[int, int] | None = None
    target_tag: tuple[int, int] | None = None  # the whole of <target/> if it is empty
    source_end: int = 0


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


def _units(text: str, pieces: Sequence[Piece]) -> Iterator[_Unit]:
    unit: _Unit | None = None
    outer: list[bool] = [True]  # translate="no" of the elements around
    depth_of: list[str] = []
    for piece in pieces:
        if piece.kind == "start":
            if piece.name in ("trans-unit", "segment"):
                state = piece.get("state") or ""
                approved = piece.get("approved") == "yes" or state in _FINAL
                unit = _Unit(_allowed(piece, outer), approved, piece.end)
            elif unit is not None and piece.name == "source" and unit.source is None:
                unit.source = (piece.end, piece.end)
            elif unit is not None and piece.name == "target" and unit.target is None:
                unit.approved = unit.approved or (piece.get("state") or "") in _FINAL
                unit.target = (piece.end, piece.end)
                if piece.empty:
                    unit.target_tag = (piece.start, piece.end)
            if not piece.empty:
                outer.append(_allowed(piece, outer))
                depth_of.append(piece.name)
        elif piece.kind == "end":
            outer.pop()
            depth_of.pop()
            inside_note = "note" in depth_of or "alt-trans" in depth_of or "matches" in depth_of
            if unit is None or inside_note:
                continue
            if piece.name == "source" and unit.source and not unit.source_end:
                unit.source = (unit.source[0], piece.start)
                unit.source_end = piece.end
            elif piece.name == "target" and unit.target and unit.target_tag is None:
                unit.target = (unit.target[0], piece.start)
                unit.target_tag = unit.target
            elif piece.name in ("trans-unit", "segment"):
                yield unit
                unit = None


def _allowed(piece: Piece, outer: Sequence[bool]) -> bool:
    return outer[-1] if piece.get("translate") is None else piece.get("translate") != "no"


def _passages(text: str, pieces: Sequence[Piece], prefix: str) -> Iterator[Passage]:
    for unit in _units(text, pieces):
        if unit.source is None:
            continue
        start, end = unit.source
        plain, tags = tagged_text(text, _inside(pieces, start, end), start, end)
        passage = Passage(start, end, plain, tuple(tags))
        target = ""
        if unit.target is not None:
            a, b = unit.target
            target, _ = tagged_text(text, _inside(pieces, a, b), a, b)
            passage = replace(passage, target=target)
        if not unit.translatable:
            # Nobody translates it, but what stands around it may refer to it.
            yield replace(passage, given=target or plain)
        elif target.strip() and unit.approved:
            yield replace(passage, given=target)
        elif unit.target_tag is not None and unit.target_tag == unit.target:
            a, b = unit.target
            yield replace(passage, start=a, end=b, new=text[a:b] != text[start:end])
        elif unit.target_tag is not None:
            tag = text[unit.target_tag[0] : unit.target_tag[1]]
            opening = tag[:-2].rstrip() + ">"
            yield replace(
                passage,
                start=unit.target_tag[0],
                end=unit.target_tag[1],
                new=True,
                before=opening,
                after=f"</{prefix}target>",
            )
        else:
            indent = text[unit.indent_from : text.index("<", unit.indent_from)]
            yield replace(
                passage,
                start=unit.source_end,
                end=unit.source_end,
                new=True,
                before=f"{indent}<{prefix}target>",
                after=f"</{prefix}target>",
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
