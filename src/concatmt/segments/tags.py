"""Markup inside of a sentence: taken out before translation, put back at the words it belongs to.

A tag is markup at an offset of the plain text. A pair of tags goes around the words that its own
words were translated to; pairs may change their order, but they stay balanced and nested as they
were. Knows no file format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from concatmt.segments.segment import Alignment
from concatmt.segments.words import word_spans

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tag:
    """Markup that stands at `offset` of a text; `closes` binds it to the word before."""

    offset: int
    markup: str
    closes: bool = False
    pair: str | None = None  # what both tags of a pair have in common; None: the markup tells

    def at(self, offset: int) -> Tag:
        return replace(self, offset=offset)

    @property
    def key(self) -> str:
        """What its other half has in common with it; empty if it stands alone."""
        return _key(self.markup, self.closes) if self.pair is None else self.pair


@dataclass
class _Node:
    """A pair of tags with what is in it, or a tag that stands alone (`close` is None).

    The half of a pair that stands in another sentence is a tag without markup at the edge of this.
    """

    number: int  # of its first tag, in the order of the source
    open: Tag
    close: Tag | None = None
    inside: list[_Node] = field(default_factory=list)
    span: Span = (0, 0)  # in the translation; a tag alone stands at its start


_NAME = re.compile(r"</?([A-Za-z][\w:-]*)|\{\\([a-z]+)")
_NUMBER = re.compile(r"\b(rid|startRef|id)\s*=\s*[\"']([^\"']+)")
_MARKS = frozenset({"***", "**", "*", "__", "~~", "_"})  # of Markdown
_VOID = frozenset({"br", "img", "wbr", "input", "x", "ph", "it", "cp"})
# Elements of XLIFF that open and close by a common number instead of by their name.
_NUMBERED = {"bpt": "pt", "ept": "pt", "bx": "x", "ex": "x", "sc": "c", "ec": "c"}


def _key(markup: str, closes: bool) -> str:
    match = _NAME.match(markup)
    if match is None:
        if markup[0] in "[]":
            return "[]" if closes or not markup.endswith(")") else ""
        return markup if markup in _MARKS else ""
    if match[2]:
        return match[2].rstrip("0") if closes else match[2]
    name = match[1].rpartition(":")[2].lower()
    if name in _NUMBERED:
        numbers = dict(_NUMBER.findall(markup))
        number = numbers.get("rid") or numbers.get("startRef") or numbers.get("id", "")
        return f"{_NUMBERED[name]} {number}"
    alone = name in _VOID or markup.rstrip().endswith("/>")
    return "" if alone or (not closes and "</" in markup) else name


def _tree(tags: Sequence[Tag], length: int) -> list[_Node]:
    """Pairs with what is in them; what is no half of a pair stands alone."""
    here: list[_Node] = []
    stack: list[tuple[_Node, list[_Node]]] = []  # what is open, and the list that it is in
    for number, tag in enumerate(tags):
        key = tag.key
        if tag.closes and key:
            depth = next(
                (d for d in reversed(range(len(stack))) if stack[d][0].open.key == key), None
            )
            if depth is not None:
                # What was opened in it and never closed ends with it.
                for node, _ in stack[depth + 1 :]:
                    node.close = Tag(tag.offset, "", True)
                node, here = stack[depth]
                node.close = tag
                del stack[depth:]
                continue
            if not stack:
                here = [_Node(-number, Tag(0, ""), tag, here)]
                continue
        node = _Node(number, tag)
        here.append(node)
        if key and not tag.closes:
            stack.append((node, here))
            here = node.inside
    for node, around in reversed(stack):
        node.close = Tag(length, "", True)
        here = around
    return here


class _Placing:
    """Where the tags of one sentence go in its translation."""

    def __init__(self, source: str, target: str, alignment: Alignment) -> None:
        self.source, self.target = source, target
        self.of_source, self.of_target = word_spans(source), word_spans(target)
        self.links: list[list[int]] = [[] for _ in self.of_target]  # source words of each
        for s, t in alignment:
            if t < len(self.links) and s < len(self.of_source):
                self.links[t].append(s)

    def place(self, nodes: Sequence[_Node], around: Span) -> None:
        """Give all nodes their spans within `around`: pairs first, then what stands alone."""
        pairs = [node for node in nodes if node.close is not None]
        for node in pairs:
            node.span = self._wanted(node, around)
        pairs.sort(key=lambda node: (node.span, node.number))
        at = around[0]
        for node in pairs:
            start = min(max(node.span[0], at), around[1])
            node.span = start, min(max(node.span[1], start), around[1])
            at = node.span[1]
            self.place(node.inside, node.span)
        for node in nodes:
            if node.close is None:
                place = min(max(self._beside(node.open), around[0]), around[1])
                node.span = place, place

    def _wanted(self, node: _Node, around: Span) -> Span:
        """The best stretch for a pair, so wide that pairs inside have room."""
        assert node.close is not None
        start, end = self._stretch(node.open.offset, node.close.offset, around)
        # Without markup it is the edge of the sentence.
        start = start if node.open.markup else around[0]
        spans = [(start, end if node.close.markup else around[1])]
        spans += [self._wanted(child, around) for child in node.inside if child.close is not None]
        return min(start for start, _ in spans), max(end for _, end in spans)

    def _stretch(self, start: int, end: int, around: Span) -> Span:
        """Where source[start:end] went: the words most of whose links lead into it."""
        inside = [start < b and a < end for a, b in self.of_source]
        if all(inside) and inside:
            return around
        if not any(inside):
            place = min(max(self._beside(Tag(start, "")), around[0]), around[1])
            return place, place
        best, total, first = (0.0, 0, 0), 0.0, 0
        for t, (a, b) in enumerate(self.of_target):
            if total <= 0:
                total, first = 0.0, t
            if not (around[0] <= a and b <= around[1]):
                total = 0.0
                continue
            links = self.links[t]
            total += sum(inside[s] - 0.5 for s in links) / len(links) if links else -0.01
            if total > best[0]:
                best = total, first, t
        first, last = inside.index(True), len(inside) - 1 - inside[::-1].index(True)
        if best[0] <= 0:
            return self._share(first, last + 1)
        a, b = self.of_target[best[1]][0], self.of_target[best[2]][1]
        whole = self.of_source[first][0], self.of_source[last][1]
        if self.target[a:b] == self.source[whole[0] : whole[1]]:
            return a + max(0, start - whole[0]), b + min(0, end - whole[1])  # part of a word
        return a, b

    def _share(self, first: int, end: int) -> Span:
        """The same share of the words."""
        source, target = len(self.of_source), len(self.of_target)
        if not target:
            return 0, 0
        a = min(round(first * target / source), target - 1)
        b = max(round(end * target / source), a + 1)
        return self.of_target[a][0], self.of_target[b - 1][1]

    def _beside(self, tag: Tag) -> int:
        """The place of a tag alone: at the word that it stands at, by links, else by share."""
        before = sum(end <= tag.offset for _, end in self.of_source)
        after_word = tag.closes or (
            before > 0
            and self.of_source[before - 1][1] == tag.offset
            and self.source[tag.offset : tag.offset + 1].isspace()
        )
        follows = [t for t, links in enumerate(self.links) if before in links]
        precedes = [t for t, links in enumerate(self.links) if before - 1 in links]
        if before == len(self.of_source):
            return len(self.target)
        if (after_word or not follows) and precedes:
            return self.of_target[max(precedes)][1]
        if follows and not after_word:
            return self.of_target[min(follows)][0]
        share = round(before * len(self.of_target) / max(1, len(self.of_source)))
        if after_word and share:
            return self.of_target[share - 1][1]
        return self.of_target[share][0] if share < len(self.of_target) else len(self.target)


def moved(tags: Sequence[Tag], source: str, target: str, alignment: Alignment = ()) -> list[Tag]:
    """The tags of `source` at the words of `target` that they belong to.

    By the alignment of words where it says something, else at the same share of words.
    """
    nodes = _tree(tags, len(source))
    _Placing(source, target, alignment).place(nodes, (0, len(target)))
    return _in_order(nodes)


def _in_order(nodes: Sequence[_Node]) -> list[Tag]:
    """All tags from left to right; pairs stay nested."""
    pairs = sorted((n for n in nodes if n.close is not None), key=lambda n: (n.span, n.number))
    left = [node for node in nodes if node.close is None]
    out: list[tuple[int, int, int, list[Tag]]] = []
    for pair in pairs:
        start, end = pair.span
        # A tag alone that comes to stand in the middle of a pair is written inside of it.
        inside = [node for node in left if start < node.span[0] < end]
        left = [node for node in left if node not in inside]
        assert pair.close is not None
        tags = [pair.open.at(start), *_in_order([*pair.inside, *inside]), pair.close.at(end)]
        out.append((start, int(end > start), pair.number, tags))
    for node in left:
        out.append((node.span[0], 0, node.number, [node.open.at(node.span[0])]))
    # At one place: tags alone and empty pairs, then the pair that begins there.
    out.sort(key=lambda item: item[:3])
    return [tag for *_, tags in out for tag in tags if tag.markup]


@dataclass(frozen=True)
class Exchange:
    """What comes in the place of text[start:end]."""

    start: int
    end: int
    text: str
    alignment: Alignment = ()


def _stays_before(tags: Sequence[Tag], exchange: Exchange) -> bool:
    return not is_around_some(tags, exchange.start, exchange.end)


def exchanged(
    text: str, tags: Sequence[Tag], exchanges: Sequence[Exchange]
) -> tuple[str, list[Tag]]:
    """`text` with parts of it exchanged, in order, and its tags at their new places."""
    out, moved_tags, at = "", [], 0
    left = list(tags)

    def take(until: int, at_edge: Callable[[], bool]) -> list[Tag]:
        taken = []
        while left and (left[0].offset < until or (left[0].offset == until and at_edge())):
            taken.append(left.pop(0))
        return taken

    for exchange in exchanges:
        for tag in take(exchange.start, partial(_stays_before, left, exchange)):
            moved_tags.append(tag.at(len(out) + tag.offset - at))
        out += text[at : exchange.start]
        source = text[exchange.start : exchange.end]
        own = [
            tag.at(tag.offset - exchange.start)
            for tag in take(exchange.end, lambda: left[0].closes)
        ]
        if exchange.text != source:
            own = moved(own, source, exchange.text, exchange.alignment)
        moved_tags += [tag.at(len(out) + tag.offset) for tag in own]
        out += exchange.text
        at = exchange.end
    moved_tags += [tag.at(len(out) + tag.offset - at) for tag in left]
    return out + text[at:], moved_tags


def is_around_some(tags: Sequence[Tag], start: int, end: int) -> bool:
    """Whether the first tag opens a pair around some of the words in start:end, but not all."""
    depth = 0
    key = tags[0].key
    if tags[0].closes or not key:
        return False
    for tag in tags:
        if tag.offset >= end:
            break
        if tag.key == key:
            depth += -1 if tag.closes else 1
            if not depth:
                return tag.offset > start
    return False


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
