"""The text of a cue: markup apart from words, speakers apart from each other.

A cue is a list of turns (speakers), a turn a list of pieces (sentences or parts of them) with
what stands around them. Tags never reach the model; they come back where the word alignment says,
else at the same share of the words. Knows the markup of the three formats, not their files.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from concatmt.segments.config import SubtitleConfig
from concatmt.segments.layout import line_breaks
from concatmt.segments.tags import Tag, is_around_some
from concatmt.segments.tags import written as with_tags


@dataclass(frozen=True)
class Markup:
    """How a format writes tags and line breaks."""

    tag: re.Pattern[str]
    line_break: re.Pattern[str]
    new_line: str  # what is written for a break; "\n" stands for the file's own line end
    entities: bool = False
    untouched: re.Pattern[str] | None = None  # a cue with this in it is not text


SRT = Markup(re.compile(r"</?[A-Za-z][^<>\n]*>|\{\\[^{}\n]*\}"), re.compile(r"\r\n|\n|\r"), "\n")
VTT = Markup(
    re.compile(r"<rt>[^<>]*</rt>|<[^<>]*>"), re.compile(r"\r\n|\n|\r"), "\n", entities=True
)
ASS = Markup(
    re.compile(r"\{[^{}]*\}"),
    re.compile(r"\\[Nn]"),
    "\\N",
    untouched=re.compile(r"\{[^{}]*\\(?:[kK][fot]?\d|p[1-9])"),
)

_DASH = re.compile(r"(?:[-–—‐]+|>{2,3})[ \u00a0]*(?=[^\W_]|[\"'«“¿¡.…\[(♪])")
_NAME = re.compile(
    r"(?:[^\W\d_a-zà-öø-ÿа-яё][^\Wa-zà-öø-ÿа-яё]*[ .'’#\d-]*){1,4}(?:\([^()]{1,30}\))?:[ \u00a0]+"
)
_ENDED = re.compile(r"[.!?…。！？][\"'»”’)\]]*\s*$")
_NOTE = re.compile(r"[♪♫]+|#+(?=[ \u00a0])")
_LAST_NOTE = re.compile(r"[♪♫]|(?<=[ \u00a0])#")
_BLANK = re.compile(r"[\s\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")  # and directions
_VOICE = re.compile(r"<v(?:\.[^ \t>]*)?[ \t]+([^>]*)>")
_PLACED = re.compile(r"\\(?:pos|move|an?)(?=[\d(])[^\\}]*")
_CLOSING = re.compile(r"</|\{\\(?:[a-z]+0|r)\}")
_HARD_SPACE = re.compile(r"\\h")


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one sentence in one turn, or something that is translated apart or copied."""

    start: int  # in the plain text of the turn
    end: int
    kind: str  # "words", "sound" (in brackets), "lyrics", "name", "copied"


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's part of a cue: text without markup, and the markup by offset."""

    lead: str  # tags, dash, name: written as they are
    text: str
    tags: tuple[Tag, ...]
    tail: str
    lines: int  # of the text
    below: bool  # the text begins in a new line below what leads it
    pieces: tuple[Piece, ...] = ()
    opens: bool = True  # the first piece may go on a sentence of the cue before
    lyrics: bool = False
    voice: str = ""  # the speaker whom WebVTT names
    ends_line: bool = False  # what comes after it stands in a new line

    @property
    def position(self) -> list[str]:
        """Where tags put it on the screen."""
        return _PLACED.findall(self.lead)


Breaks = dict[int, str]  # line breaks as they are written, by offset; in the text they are spaces


def plain(raw: str, markup: Markup) -> tuple[str, list[Tag], Breaks]:
    """Text without markup, tags by their offsets in it, line breaks."""
    text, tags, breaks = "", list[Tag](), Breaks()
    at = 0
    while at < len(raw):
        if match := markup.tag.match(raw, at):
            tags.append(Tag(len(text), match.group(), bool(_CLOSING.match(match.group()))))
        elif match := markup.line_break.match(raw, at):
            breaks[len(text)] = match.group()
            text += " "
        elif markup is ASS and (match := _HARD_SPACE.match(raw, at)):
            text += "\u00a0"
        else:
            text += raw[at]
            at += 1
            continue
        at = match.end()
    if not markup.entities:
        return text, tags, breaks
    return _decoded(text, tags, breaks)


def _decoded(text: str, tags: list[Tag], breaks: Breaks) -> tuple[str, list[Tag], Breaks]:
    """Resolve entities; offsets move along."""
    out, moves, at = "", [0] * (len(text) + 1), 0
    for match in re.finditer(r"&(?:amp|lt|gt|nbsp|lrm|rlm|quot|#\d{1,7});", text):
        for place in range(at, match.start()):
            moves[place] = len(out) + place - at
        out += text[at : match.start()]
        for place in range(match.start(), match.end()):
            moves[place] = len(out)
        out += html.unescape(match.group())
        at = match.end()
    for place in range(at, len(text) + 1):
        moves[place] = len(out) + place - at
    out += text[at:]
    return (
        out,
        [tag.at(moves[tag.offset]) for tag in tags],
        {moves[o]: raw for o, raw in breaks.items()},
    )


def turns_of(raw: str, markup: Markup, names: bool = True) -> list[Turn]:
    """The turns of a cue: a line that begins with a dash, a note or a name, and every voice.

    `names`: whether a name before the words is part of what is written as it is. Pieces are not yet
    set.
    """
    text, tags, breaks = plain(raw, markup)
    starts = {0: 0}  # where a turn begins, and where its text does
    for place in breaks:
        after = re.compile(r"[ \u00a0]*").match(text, place + 1)
        begin = after.end() if after else place + 1
        named = _NAME.match(text, begin) and (_ENDED.search(text, 0, place) or not text.isupper())
        if _DASH.match(text, begin) or _NOTE.match(text, begin) or named:
            starts[place + 1] = place
    for tag in tags:
        if tag.offset and _VOICE.match(tag.markup) and tag.offset not in starts:
            starts[tag.offset] = tag.offset - (tag.offset - 1 in breaks)
    edges = sorted(starts)
    turns = []
    for place, start in enumerate(edges):
        last = place + 1 == len(edges)
        end = len(text) if last else starts[edges[place + 1]]
        until = edges[place + 1] if not last else len(text) + 1
        own = [tag.at(min(tag.offset, end) - start) for tag in tags if start <= tag.offset < until]
        inner = {offset - start: raw for offset, raw in breaks.items() if start <= offset < end}
        joint = text[end : edges[place + 1]] if not last else ""
        turns.append(_turn(text[start:end], own, inner, names, bool(joint)))
    return turns


def _turn(text: str, tags: list[Tag], breaks: Breaks, names: bool, ends_line: bool) -> Turn:
    """Cut off what leads and trails: spaces, tags, the dash, the name, musical notes."""
    begin, end = 0, len(text)
    opens = True

    def skip(pattern: re.Pattern[str]) -> bool:
        nonlocal begin
        match = pattern.match(text, begin, end)
        if match is None or match.end() == begin:
            return False
        begin = match.end()
        return True

    skip(_BLANK)
    if skip(_DASH):
        opens = False
    if names and (name := name_before(text[begin:end])[1]):
        opens = False
        begin += name
    lyrics = skip(_NOTE)
    if lyrics:
        opens = False
        skip(_BLANK)
    while end > begin and (_BLANK.match(text, end - 1) or _LAST_NOTE.match(text, end - 1)):
        end -= 1
        lyrics = lyrics or not _BLANK.match(text, end)
    lead_breaks = {offset: raw for offset, raw in breaks.items() if offset < begin}
    # A pair that begins with the first word but ends before the last one goes with its words.
    first = next(
        (n for n, t in enumerate(tags) if t.offset > begin or _goes_along(tags[n:], begin, end)),
        len(tags),
    )
    lead = with_tags(text[:begin], tags[:first], breaks=lead_breaks)
    tail = with_tags(
        text[end:], [tag.at(tag.offset - end) for tag in tags[first:] if tag.offset >= end]
    )
    inner = tuple(tag.at(tag.offset - begin) for tag in tags[first:] if tag.offset < end)
    voices = (_VOICE.match(tag.markup) for tag in tags if tag.offset <= begin)
    voice = next((match[1].strip() for match in voices if match), "")
    return Turn(
        lead,
        text[begin:end],
        inner,
        tail,
        1 + len(breaks) - len(lead_breaks),
        bool(lead_breaks),
        opens=opens,
        lyrics=lyrics,
        voice=voice,
        ends_line=ends_line,
    )


def _goes_along(tags: Sequence[Tag], begin: int, end: int) -> bool:
    return tags[0].offset == begin and is_around_some(tags, begin, end)


def name_before(text: str) -> tuple[int, int]:
    """How long a name before the words is, without and with its colon; 0 if there is none."""
    match = _NAME.match(text)
    # Where everything is in capitals, many words before a colon are rather a sentence.
    if match is None or (text.isupper() and len(match.group().split()) > 2):
        return 0, 0
    return len(match.group().rstrip(" \u00a0:")), match.end()


def written(
    turn: Turn,
    text: str,
    tags: Sequence[Tag],
    markup: Markup,
    new_line: str,
    breaks: Sequence[int],
) -> str:
    """A turn in the file's markup: `text` with tags and line breaks at their offsets."""
    line_end = new_line if markup.new_line == "\n" else markup.new_line
    body = with_tags(
        text,
        tags,
        lambda part: "".join(_escaped(character, markup) for character in part),
        dict.fromkeys(breaks, line_end),
    )
    lead, tail = turn.lead, turn.tail
    if markup.entities:
        lead, tail = _escape_outside_tags(lead, markup), _escape_outside_tags(tail, markup)
    return lead + body + tail


def _escaped(character: str, markup: Markup) -> str:
    if markup.entities:
        return {"&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(character, character)
    if markup is ASS:
        # Braces would hide the text; the others draw alike.
        return {"{": "(", "}": ")", "\u00a0": "\\h"}.get(character, character)
    return character


def _escape_outside_tags(text: str, markup: Markup) -> str:
    out, at = "", 0
    for match in markup.tag.finditer(text):
        out += "".join(_escaped(c, markup) for c in text[at : match.start()]) + match.group()
        at = match.end()
    return out + "".join(_escaped(c, markup) for c in text[at:])


def around(turn: Turn, markup: Markup) -> tuple[str, str]:
    """What one sees before and after the text of a turn in its line: a dash, a name, notes."""
    lead, tail = (markup.tag.sub("", text) for text in (turn.lead, turn.tail))
    return ("" if turn.below else lead.lstrip()), tail.rstrip()


def breaks_for(
    turn: Turn, text: str, markup: Markup, language: str, config: SubtitleConfig, alone: bool
) -> list[int]:
    """Where the lines of a turn break: `auto` two lines, one if another speaker shares the cue."""
    if config.wrap == "none":
        return []
    if config.wrap == "keep":
        return line_breaks(text, language, 0, turn.lines) if turn.lines > 1 else []
    lead, tail = (seen.replace(" ", "\u00a0") for seen in around(turn, markup))
    lines = 2 if alone and not turn.below else 1
    breaks = line_breaks(lead + text + tail, language, config.width, lines)
    return [place - len(lead) for place in breaks]
