"""Markup inside of a sentence: taken out before translation, put back at the words it belongs to.

A tag is markup at an offset of the plain text. The order of tags never changes, so what was
balanced stays balanced. Knows no file format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from concatmt.segments.segment import Alignment

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Tag:
    """Markup that stands at `offset` of a text; `closes` binds it to the word before."""

    offset: int
    markup: str
    closes: bool = False

    def at(self, offset: int) -> Tag:
        return Tag(offset, self.markup, self.closes)


def moved(tags: Sequence[Tag], source: str, target: str, alignment: Alignment = ()) -> list[Tag]:
    """The tags of `source` at the words of `target` that they belong to.

    By the alignment of white-space words where it says something, else at the same share of words.
    """
    ends = [match.end() for match in _WORD.finditer(source)]
    spans = [match.span() for match in _WORD.finditer(target)]
    placed: list[Tag] = []
    least = 0
    for tag in tags:
        closes = tag.closes or tag.offset in ends
        # How many words of the source stand before the tag; one that closes has its own before it.
        words = sum(end < tag.offset or (closes and end == tag.offset) for end in ends)
        if closes:
            bound = [target_word + 1 for word, target_word in alignment if word == words - 1]
            after = max(bound) if bound else _share(words, len(ends), len(spans))
            place = spans[min(after, len(spans)) - 1][1] if after and spans else 0
        else:
            bound = [target_word for word, target_word in alignment if word == words]
            before = min(bound) if bound else _share(words, len(ends), len(spans))
            place = spans[before][0] if before < len(spans) else len(target)
        least = max(least, place)
        placed.append(tag.at(least))
    return placed


def _share(words: int, source: int, target: int) -> int:
    return round(words * target / max(1, source))


@dataclass(frozen=True)
class Exchange:
    """What comes in the place of text[start:end]."""

    start: int
    end: int
    text: str
    alignment: Alignment = ()


def exchanged(
    text: str, tags: Sequence[Tag], exchanges: Sequence[Exchange]
) -> tuple[str, list[Tag]]:
    """`text` with parts of it exchanged, in order, and its tags at their new places."""
    out, moved_tags, at = "", [], 0
    left = list(tags)

    def take(until: int, closing_only: bool = False) -> list[Tag]:
        taken = []
        while left and (
            left[0].offset < until
            or (left[0].offset == until and (left[0].closes or not closing_only))
        ):
            taken.append(left.pop(0))
        return taken

    for exchange in exchanges:
        for tag in take(exchange.start):
            moved_tags.append(tag.at(len(out) + tag.offset - at))
        out += text[at : exchange.start]
        source = text[exchange.start : exchange.end]
        own = [tag.at(tag.offset - exchange.start) for tag in take(exchange.end, closing_only=True)]
        if exchange.text != source:
            own = moved(own, source, exchange.text, exchange.alignment)
        moved_tags += [tag.at(len(out) + tag.offset) for tag in own]
        out += exchange.text
        at = exchange.end
    moved_tags += [tag.at(len(out) + tag.offset - at) for tag in left]
    return out + text[at:], moved_tags


def written(
    text: str,
    tags: Sequence[Tag],
    escape: Callable[[str], str] = str,
    breaks: Mapping[int, str] | None = None,
) -> str:
    """`text` with its tags; `escape` is for text alone, `breaks` replace single characters."""
    breaks = breaks or {}
    edges = sorted({0, len(text), *breaks, *(b + 1 for b in breaks), *(t.offset for t in tags)})
    by_offset: dict[int, list[str]] = {}
    for tag in tags:
        by_offset.setdefault(tag.offset, []).append(tag.markup)
    out = []
    for place, start in enumerate(edges):
        out += by_offset.get(start, [])
        end = edges[place + 1] if place + 1 < len(edges) else start
        out.append(breaks[start] if start in breaks and end > start else escape(text[start:end]))
    return "".join(out)
