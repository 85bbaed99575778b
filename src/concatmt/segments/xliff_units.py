"""Where the units of an XLIFF file stand: their sources, targets and marked segments.

A trans-unit (1.2) may have a <seg-source>, its source cut into <mrk mtype="seg">, and then its
target has marks of the same numbers. Does not know what is translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from concatmt.segments.markup import Piece

# States of a target that a person has answered for (XLIFF 1.2 `state`, 2.x `state` of a segment).
_FINAL = frozenset({"final", "signed-off", "translated", "reviewed"})
_SIDES = ("source", "seg-source", "target")


@dataclass
class Side:
    """A <source>, <seg-source> or <target>, or a marked segment of one."""

    start: int  # of what is inside
    end: int
    tag: tuple[int, int] | None = None  # <target/>, <mrk/>: where the whole tag stands
    marks: dict[str, Side] = field(default_factory=dict)  # by their numbers, in order


@dataclass
class Unit:
    """What was read of one trans-unit (1.2) or segment (2.x)."""

    translatable: bool
    approved: bool
    indent_from: int  # end of what stands before <source>, to indent a new target alike
    source_end: int = 0  # behind </source>, or behind </seg-source>
    sides: dict[str, Side] = field(default_factory=dict)  # by the names of their elements


def units(pieces: Sequence[Piece]) -> Iterator[Unit]:
    """The units of a file in order; those of notes, matches and the like are none."""
    reader = _Reader()
    for piece in pieces:
        if piece.kind == "start":
            reader.start(piece)
        elif piece.kind == "end" and (unit := reader.end(piece)) is not None:
            yield unit


class _Reader:
    """Goes through the pieces of a file."""

    def __init__(self) -> None:
        self.unit: Unit | None = None
        self.path: list[Piece] = []  # the elements that are open
        self.allowed = [True]  # translate="no" of the elements around
        self.depth = 0  # of the unit's element
        self.side: Side | None = None  # that is open
        self.mark: Side | None = None  # segment in it that is open
        self.mark_depth = 0

    def start(self, piece: Piece) -> None:
        """An element begins, or is an empty one."""
        translate = piece.get("translate")
        allowed = self.allowed[-1] if translate is None else translate != "no"
        if piece.name in ("trans-unit", "segment"):
            approved = piece.get("approved") == "yes" or piece.get("state") in _FINAL
            self.unit = Unit(allowed, approved, piece.end)
            self.depth = len(self.path)
        elif self.unit is not None and piece.name in _SIDES and len(self.path) == self.depth + 1:
            self._side(self.unit, piece)
        elif self.side is not None and self.mark is None and piece.get("mtype") == "seg":
            mark = _side_at(piece)
            self.side.marks.setdefault(piece.get("mid") or "", mark)
            if not piece.empty:
                self.mark, self.mark_depth = mark, len(self.path)
        if not piece.empty:
            self.allowed.append(allowed)
            self.path.append(piece)

    def _side(self, unit: Unit, piece: Piece) -> None:
        side = _side_at(piece)
        unit.sides.setdefault(piece.name, side)
        if piece.name == "target":
            unit.approved = unit.approved or piece.get("state") in _FINAL
        else:
            unit.source_end = piece.end
        self.side = None if piece.empty else side

    def end(self, piece: Piece) -> Unit | None:
        """An element ends; the unit, if it was one."""
        self.allowed.pop()
        self.path.pop()
        depth = len(self.path)
        if self.mark is not None and depth == self.mark_depth:
            self.mark.end = piece.start
            self.mark = None
        elif self.side is not None and self.unit is not None and depth == self.depth + 1:
            self.side.end = piece.start
            if piece.name != "target":
                self.unit.source_end = piece.end
            self.side = None
        elif self.unit is not None and depth == self.depth:
            unit, self.unit = self.unit, None
            return unit
        return None


def _side_at(piece: Piece) -> Side:
    return Side(piece.end, piece.end, (piece.start, piece.end) if piece.empty else None)
