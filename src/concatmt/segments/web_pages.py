"""HTML and XHTML: blocks of text are passages; scripts, code and `translate="no"` are not."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from concatmt.segments.markup import (
    Piece,
    escape,
    html_pieces,
    tagged_text,
    xml_encoding,
    xml_pieces,
)
from concatmt.segments.passages import Passage, Passages, Splitter
from concatmt.segments.segment import Segment, Summary, Translated
from concatmt.segments.spans import EncodedText
from concatmt.segments.tags import Tag

# Tags that stand inside of a sentence; every other one ends it.
INLINE = frozenset(
    {
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "br",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "rb",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    }
)
_SKIPPED = frozenset({"script", "style", "pre", "textarea", "svg", "math", "template", "noscript"})
_OPAQUE = frozenset({"code", "kbd", "samp", "tt", "var", "ruby"})  # in a sentence, but not words
_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    }
)


class WebPage:
    """A page: the sentences of its blocks, and the page with their translations."""

    def __init__(
        self,
        data: bytes,
        name: str,
        split: Splitter,
        xml: bool = False,
        encoding: str | None = None,
    ):
        self.name = name
        said = xml_encoding(data) if xml else None
        self.file = EncodedText.read(data, name, encoding or said or _said(data))
        text = self.file.text
        pieces = xml_pieces(text, name) if xml else html_pieces(text)
        blocks = list(_blocks(text, pieces))
        passages = sorted([*blocks, *_attributes(text, pieces, blocks)], key=lambda p: p.start)
        self._passages = Passages(text, passages, split, escape)
        self.segments: Sequence[Segment] = self._passages.segments

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        text, summary = self._passages.rebuilt(translations)
        return self.file.encoded(text, references=True), summary


_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9._-]+)", re.IGNORECASE)


def _said(data: bytes) -> str | None:
    """The encoding that the page names in its head."""
    match = _CHARSET.search(data[:2048])
    return match[1].decode() if match else None


_VALUE = re.compile(r"""\s(?:alt|title|placeholder)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def _attributes(text: str, pieces: Sequence[Piece], blocks: Sequence[Passage]) -> Iterator[Passage]:
    """What pictures and links say of themselves, but for those in the middle of a sentence."""
    at = 0
    for piece in pieces:
        if piece.kind != "start" or _is_protected(piece):
            continue
        while at < len(blocks) and blocks[at].end <= piece.start:
            at += 1
        if at < len(blocks) and blocks[at].start <= piece.start:
            continue
        for match in _VALUE.finditer(text, piece.start, piece.end):
            group = 1 if match[1] is not None else 2
            value = html.unescape(match[group])
            yield Passage(*match.span(group), value, render=_attribute)


def _attribute(text: str, _: Sequence[Tag]) -> str:
    return escape(text).replace('"', "&quot;").replace("'", "&#39;")


def _blocks(text: str, pieces: Sequence[Piece]) -> Iterator[Passage]:
    """Runs of text and inline tags between block tags, the title of the page too."""
    run: list[Piece] = []
    skipping: list[str] = []
    for piece in pieces:
        name = piece.name.lower()
        void = piece.empty or name in _VOID
        if skipping:
            if piece.kind == "start" and not void and name == skipping[-1]:
                skipping.append(name)
            elif piece.kind == "end" and name == skipping[-1]:
                skipping.pop()
                if run and not skipping and name in INLINE:
                    # The whole of it, from its start tag on, is one tag inside of the sentence.
                    opened = run.pop()
                    run.append(Piece("other", opened.start, piece.end))
            continue
        protected = _is_protected(piece)
        starts_skipping = (
            piece.kind == "start"
            and not void
            and (name in _SKIPPED or name in _OPAQUE or protected)
        )
        if starts_skipping:
            if name not in INLINE:
                yield from _passage(text, run)
                run = []
            else:
                run.append(piece)
            skipping.append(name)
        elif name == "br" and _ends_in_break(run):  # an empty line, as between paragraphs
            yield from _passage(text, run)
            run = []
        elif piece.kind in ("text", "other") or name in INLINE:
            run.append(piece)
        else:
            yield from _passage(text, run)
            run = []
    yield from _passage(text, run)


def _is_protected(piece: Piece) -> bool:
    classes = (piece.get("class") or "").split()
    return (piece.get("translate") or "").lower() == "no" or "notranslate" in classes


def _ends_in_break(run: Sequence[Piece]) -> bool:
    last = next((p for p in reversed(run) if p.kind != "text" or p.text.strip()), None)
    return last is not None and last.kind != "text" and last.name.lower() == "br"


def _passage(text: str, run: list[Piece]) -> Iterator[Passage]:
    """A passage without the tags and white space around its words."""
    while run and (run[0].kind != "text" or not run[0].text.strip()):
        run = run[1:]
    while run and (run[-1].kind != "text" or not run[-1].text.strip()):
        run = run[:-1]
    if run:
        start, end = run[0].start, run[-1].end
        plain, tags = tagged_text(text, run, start, end)
        yield Passage(start, end, plain, tuple(tags))
