"""Sentences over the cues of a film: what goes on in the next cue is joined, what ends is not.

A sentence knows its places, so that its translation can be given back to them. Knows what a cue
says (`cue_text`), not how files look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from concatmt.segments.config import SubtitleConfig
from concatmt.segments.cue_text import Piece, Turn, name_before
from concatmt.segments.cues import Cue
from concatmt.segments.words import has_words

Splitter = Callable[[str], list[tuple[int, int]]]
Place = tuple[int, int, int]  # of a part of a sentence: cue, turn, piece

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'»”’)\]]*$")
OPEN_END = re.compile(r"(?:\.\.\.|…|--|—|–|,)$")
_BRACKETS = re.compile(r"\[[^\[\]]+\]|\([^()a-z]+\)")  # round ones if all is in capitals
_NAME_IN_BRACKETS = re.compile(r"\[([^\[\]]{1,30})\][ \u00a0]*(?=\S)")
_SIGN = re.compile(r"sign|title|caption|note|on.?screen", re.IGNORECASE)  # in names of ASS styles


# Dots and dashes where a sentence goes on in the next cue; they are not part of it.
_GOES_ON = re.compile(r"(?:\.{2,}|…|--+|—|–)$")
_WENT_ON = re.compile(r"(?:\.{2,}|…|--+|—|–)[ \u00a0]*")


def without_end(text: str) -> str:
    """A part of a sentence without the mark that it goes on in the next cue."""
    return _GOES_ON.sub("", text).rstrip() or text


def without_begin(text: str) -> str:
    """A part of a sentence without the mark that it began in the cue before."""
    match = _WENT_ON.match(text)
    return text[match.end() :] or text if match else text


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, where its parts stand, and whether nothing before it is its context."""

    places: tuple[Place, ...]
    text: str
    gap: bool
    capitals: bool = False  # was in capitals, and so shall its translation be


def pieces_of(turn: Turn, split: Splitter, config: SubtitleConfig) -> list[Piece]:
    """Sentences of a turn; names, and sounds in square brackets, are pieces of their own."""
    kind = "lyrics" if turn.lyrics else "words"
    pieces: list[Piece] = []

    def add_sentences(start: int, end: int) -> None:
        for a, b in split(turn.text[start:end]):
            a, b = start + a, start + b
            name, words_at = name_before(turn.text[a:b]) if pieces else (0, 0)
            if name and not turn.text[a:b].isupper():  # a second speaker in the line
                pieces.append(Piece(a, a + name, "name"))
                a += words_at
            pieces.append(Piece(a, b, kind if has_words(turn.text[a:b]) else "copied"))

    at = 0
    if config.names == "translate" and (length := name_before(turn.text)[0]):
        pieces.append(Piece(0, length, "name"))
        at = length + 1
    elif (match := _NAME_IN_BRACKETS.match(turn.text)) and match[1].isupper():
        pieces.append(Piece(1, match.end(1), "name"))
        at = match.end()
    for match in _BRACKETS.finditer(turn.text, at):
        if match.group()[0] == "(" and not match.group().isupper():
            continue
        add_sentences(at, match.start())
        kind_of_it = "sound" if has_words(match.group()) else "copied"
        pieces.append(Piece(match.start() + 1, match.end() - 1, kind_of_it))
        at = match.end()
    add_sentences(at, len(turn.text))
    return pieces


def handled(piece: Piece, config: SubtitleConfig) -> str:
    """translate, keep or drop."""
    return {
        "copied": "keep",
        "lyrics": config.lyrics,
        "sound": config.sounds,
        "name": config.names,
    }.get(piece.kind, "translate")


def joined(
    cues: Sequence[Cue],
    turns: Sequence[Sequence[Turn]],
    config: SubtitleConfig,
    before: Cue | None = None,
) -> tuple[list[Sentence], Cue | None]:
    """Sentences in the order of reading, those over several cues joined; the last cue with words.

    `before` is the last cue with words before these.
    """
    found = _Joining(cues, config, before)
    for number, of_cue in enumerate(turns):
        found.add(number, of_cue)
    sentences = [_lowered(one) if config.capitals else one for one in found.sentences]
    return sentences, found.latest


def may_be_cut(before: Cue, cue: Cue, text: str, config: SubtitleConfig) -> bool:
    """Whether no sentence goes on from a cue, whose text is given, to the next one."""
    pause = cue.begins - before.ends
    return not 0 <= pause < 1000 * config.join_pause or bool(
        _SENTENCE_END.search(text.rstrip()) and not OPEN_END.search(text.rstrip())
    )


class _Joining:
    """Goes from cue to cue and knows which sentence may go on."""

    def __init__(self, cues: Sequence[Cue], config: SubtitleConfig, before: Cue | None) -> None:
        self.cues, self.config = cues, config
        self.sentences: list[Sentence] = []
        self.open: Turn | None = None  # the turn of the last sentence, if it has not ended
        self.latest = before  # the last cue with words

    def add(self, number: int, turns: Sequence[Turn]) -> None:
        """The next cue."""
        cue, before = self.cues[number], self.latest
        gap = before is not None and self._ends_scene(before, cue)
        for t, turn in enumerate(turns):
            for p, piece in enumerate(turn.pieces):
                if handled(piece, self.config) != "translate":
                    if piece.kind != "name":
                        self.open = None
                    continue
                text = re.sub(r"\s+", " ", turn.text[piece.start : piece.end])
                first = (t, p) == (0, 0) and turn.opens and before is not None
                if first and before is not None and self._goes_on(before, cue, turn, piece, text):
                    begun = self.sentences[-1]
                    places = (*begun.places, (number, t, p))
                    joint = f"{without_end(begun.text)} {without_begin(text)}"
                    self.sentences[-1] = replace(begun, places=places, text=joint)
                else:
                    self.sentences.append(Sentence(((number, t, p),), text, gap))
                    gap = False
                self.latest = cue
                ended = _SENTENCE_END.search(text) and not OPEN_END.search(text)
                last = t + 1 == len(turns) and p + 1 == len(turn.pieces)
                apart = piece.kind in ("sound", "name")
                self.open = None if ended or not last or apart else turn

    def _ends_scene(self, before: Cue, cue: Cue) -> bool:
        """A long silence, a jump back in time (two films in one file), or a sign on the screen."""
        pause = cue.begins - before.ends
        signs = [bool(_SIGN.search(one.style)) for one in (before, cue)]
        return not -60_000 < pause <= 1000 * self.config.scene_pause or signs[0] != signs[1]

    def _goes_on(self, before: Cue, cue: Cue, turn: Turn, piece: Piece, text: str) -> bool:
        """Whether the sentence that was begun goes on in this cue."""
        config, open_turn = self.config, self.open
        if open_turn is None or piece.kind in ("sound", "name"):
            return False
        if (turn.lyrics, turn.voice) != (open_turn.lyrics, open_turn.voice):
            return False
        if turn.position != open_turn.position:
            return False
        begun = self.sentences[-1]
        small = text.lstrip("\"'«“.… -–—")[:1].islower()
        if OPEN_END.search(begun.text) and not begun.text.endswith(",") and not small:
            return False
        first = self.cues[begun.places[0][0]]
        return (
            0 <= cue.begins - before.ends < 1000 * config.join_pause
            and (cue.style, cue.speaker) == (before.style, before.speaker)
            and len(begun.places) < config.join_cues
            and cue.ends - first.begins <= 1000 * config.join_seconds
            and len(begun.text) + 1 + len(text) <= config.join_characters
        )


def _lowered(sentence: Sentence) -> Sentence:
    """Text in capitals as a sentence; the model knows few words in capitals."""
    letters = [c for c in sentence.text if c.isalpha()]
    cased = any(c.lower() != c for c in letters)
    if len(letters) < 4 or not cased or any(c != c.upper() for c in letters):
        return sentence
    lowered = sentence.text.lower()
    start = next(i for i, c in enumerate(lowered) if c.isalpha())
    text = lowered[:start] + lowered[start].upper() + lowered[start + 1 :]
    return replace(sentence, text=text, capitals=True)
