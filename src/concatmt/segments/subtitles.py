"""Subtitles in, the same subtitles out: cues, times and order never change.

The unit of translation is the sentence. One that runs over several cues is joined, translated, and
given back to its cues in proportion to the characters that they had; a cue with several sentences
or speakers is split. `cues` finds the cues in a file, `cue_text` takes their markup apart, `layout`
cuts and wraps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Literal

from concatmt.segments import cue_text
from concatmt.segments.cue_text import Markup, Piece, Turn
from concatmt.segments.cues import READERS, Cue
from concatmt.segments.layout import crossings, cut
from concatmt.segments.segment import Alignment, Segment, Summary, Translated
from concatmt.segments.spans import EncodedText, replaced
from concatmt.segments.tags import Exchange, Tag, exchanged
from concatmt.segments.words import count_words

Splitter = Callable[[str], list[tuple[int, int]]]

MARKUPS = {".srt": cue_text.SRT, ".vtt": cue_text.VTT, ".ass": cue_text.ASS, ".ssa": cue_text.ASS}

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'»”’)\]]*$")
_OPEN_END = re.compile(r"(?:\.\.\.|…|--|—|–|,)$")
_BRACKETS = re.compile(r"\[[^\[\]]+\]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class SubtitleOptions:
    """How subtitles are read and written."""

    target_language: str = ""
    wrap: Literal["auto", "keep", "none"] = "auto"
    width: int = 42
    lyrics: Literal["translate", "keep", "drop"] = "translate"
    sounds: Literal["translate", "keep", "drop"] = "translate"
    capitals: bool = True  # text in capitals is lowered for the model and raised again
    join_gap: int = 1_000  # milliseconds between two cues of one sentence, at most
    scene_gap: int = 25_000  # a longer silence ends the context
    most_cues: int = 4
    most_time: int = 7_000
    most_characters: int = 200
    speed: float = 20.0  # characters a second that can be read


# Where a part of a sentence stands: cue, turn, piece.
_Place = tuple[int, int, int]


@dataclass(frozen=True)
class _Sentence:
    places: tuple[_Place, ...]
    text: str
    capitals: bool
    gap: bool


class Subtitles:
    """A subtitle file: its sentences as segments, and the file with their translations."""

    def __init__(
        self,
        data: bytes,
        name: str,
        suffix: str,
        split: Splitter,
        options: SubtitleOptions | None = None,
        encoding: str | None = None,
    ):
        self.name = name
        self.options = options or SubtitleOptions()
        self.file = EncodedText.read(data, name, encoding)
        self.markup: Markup = MARKUPS[suffix]
        self.cues: list[Cue] = READERS[suffix](self.file.text, name)
        self.turns = [self._turns(cue, split) for cue in self.cues]
        self._sentences = self._joined()
        self.segments = [Segment(s.text, gap=s.gap) for s in self._sentences]

    def _raw(self, cue: Cue) -> str:
        return self.file.text[cue.start : cue.end]

    def _turns(self, cue: Cue, split: Splitter) -> list[Turn]:
        raw = self._raw(cue)
        if self.markup.untouched is not None and self.markup.untouched.search(raw):
            return []
        turns = cue_text.turns_of(raw, self.markup)
        return [replace(turn, pieces=tuple(self._pieces(turn, split))) for turn in turns]

    def _pieces(self, turn: Turn, split: Splitter) -> list[Piece]:
        """Sentences of a turn; what is in square brackets is a sound and a piece of its own."""
        lyrics = "♪" in turn.lead or "♫" in turn.lead or "♪" in turn.tail or "♫" in turn.tail
        kind = "lyrics" if lyrics else "words"
        pieces: list[Piece] = []

        def add_sentences(start: int, end: int) -> None:
            for a, b in split(turn.text[start:end]):
                words = _LETTER.search(turn.text, start + a, start + b)
                pieces.append(Piece(start + a, start + b, kind if words else "copied"))

        at = 0
        for match in _BRACKETS.finditer(turn.text):
            add_sentences(at, match.start())
            words = _LETTER.search(match.group())
            pieces.append(Piece(match.start() + 1, match.end() - 1, "sound" if words else "copied"))
            at = match.end()
        add_sentences(at, len(turn.text))
        return pieces

    def _handled(self, piece: Piece) -> str:
        """translate, keep or drop."""
        if piece.kind == "copied":
            return "keep"
        if piece.kind == "lyrics":
            return self.options.lyrics
        return self.options.sounds if piece.kind == "sound" else "translate"

    def _joined(self) -> list[_Sentence]:
        """Sentences in the order of reading, those over several cues joined."""
        sentences: list[_Sentence] = []
        open_at: int | None = None  # index of a sentence that the next cue may go on
        latest = None  # the last cue with words
        for c, cue in enumerate(self.cues):
            gap = latest is not None and not (
                -60_000 < cue.begins - latest.ends <= self.options.scene_gap
            )
            before = latest
            for t, turn in enumerate(self.turns[c]):
                for p, piece in enumerate(turn.pieces):
                    if self._handled(piece) != "translate":
                        open_at = None
                        continue
                    text = re.sub(r"\s+", " ", turn.text[piece.start : piece.end])
                    goes_on = (
                        open_at is not None
                        and before is not None
                        and (t, p) == (0, 0)
                        and turn.opens
                        and piece.kind != "sound"
                        and self._goes_on(sentences[open_at], before, cue, text)
                    )
                    if goes_on and open_at is not None:
                        begun = sentences[open_at]
                        sentences[open_at] = replace(
                            begun,
                            places=(*begun.places, (c, t, p)),
                            text=f"{begun.text} {text}",
                        )
                    else:
                        sentences.append(_Sentence(((c, t, p),), text, False, gap))
                        open_at = len(sentences) - 1
                        gap = False
                    latest = cue
                    ended = _SENTENCE_END.search(text) and not _OPEN_END.search(text)
                    last = t + 1 == len(self.turns[c]) and p + 1 == len(turn.pieces)
                    if ended or not last or piece.kind == "sound":
                        open_at = None
        return [self._lowered(sentence) for sentence in sentences]

    def _goes_on(self, sentence: _Sentence, before: Cue, cue: Cue, text: str) -> bool:
        options = self.options
        first = self.cues[sentence.places[0][0]]
        if _OPEN_END.search(sentence.text) and not sentence.text.endswith(","):
            starts_small = text.lstrip("\"'«“.… -–—")[:1].islower()
            if not starts_small:
                return False
        return (
            0 <= cue.begins - before.ends < options.join_gap
            and (cue.style, cue.speaker) == (before.style, before.speaker)
            and len(sentence.places) < options.most_cues
            and cue.ends - first.begins <= options.most_time * 2
            and len(sentence.text) + len(text) < options.most_characters
        )

    def _lowered(self, sentence: _Sentence) -> _Sentence:
        letters = [c for c in sentence.text if c.isalpha()]
        capitals = len(letters) > 3 and all(c == c.upper() for c in letters)
        cased = any(c.lower() != c for c in letters)
        if not (self.options.capitals and capitals and cased):
            return sentence
        lowered = sentence.text.lower()
        start = next(i for i, c in enumerate(lowered) if c.isalpha())
        text = lowered[:start] + lowered[start].upper() + lowered[start + 1 :]
        return replace(sentence, text=text, capitals=True)

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        summary = Summary({"cues": len(self.cues), "sentences": len(self._sentences)})
        parts: dict[_Place, tuple[str, Alignment]] = {}
        for sentence, translated in zip(self._sentences, translations, strict=True):
            if translated.text == sentence.text:
                continue
            if len(sentence.places) > 1:
                summary.add("sentences over several cues")
            self._give_back(sentence, translated, parts, summary)
        texts = [self._cue(c, parts, summary) for c in range(len(self.cues))]
        whole = replaced(self.file.text, [(cue.start, cue.end) for cue in self.cues], texts)
        return self.file.encoded(whole, self.name), summary

    def _give_back(
        self,
        sentence: _Sentence,
        translated: Translated,
        parts: dict[_Place, tuple[str, Alignment]],
        summary: Summary,
    ) -> None:
        text = " ".join(translated.text.split())
        words = (text.upper() if sentence.capitals else text).split()
        pieces = [self.turns[c][t].pieces[p] for c, t, p in sentence.places]
        counts = [
            count_words(self.turns[c][t].text[piece.start : piece.end])
            for (c, t, _), piece in zip(sentence.places, pieces, strict=True)
        ]
        given = cut(
            words,
            [float(piece.end - piece.start) for piece in pieces],
            self.options.target_language,
            crossings(translated.alignment, list(accumulate(counts))[:-1], words),
        )
        if len(words) < len(given):
            summary.add("cues left empty by a short sentence", len(given) - 1)
        source_at = target_at = 0
        for place, own, count in zip(sentence.places, given, counts, strict=True):
            part = " ".join(own)
            here = count_words(part)
            alignment = tuple(
                (s - source_at, w - target_at)
                for s, w in translated.alignment
                if source_at <= s < source_at + count and target_at <= w < target_at + here
            )
            parts[place] = (part, alignment)
            source_at += count
            target_at += here

    def _cue(self, c: int, parts: dict[_Place, tuple[str, Alignment]], summary: Summary) -> str:
        """The text of a cue; as it was if nothing of it was translated or dropped."""
        raw, turns = self._raw(self.cues[c]), self.turns[c]
        dropped = any(self._handled(piece) == "drop" for turn in turns for piece in turn.pieces)
        touched = any(
            (c, t, p) in parts for t, turn in enumerate(turns) for p in range(len(turn.pieces))
        )
        if not touched and not dropped:
            return raw
        new_line = "\r\n" if "\r\n" in self.file.text else "\n" if "\n" in self.file.text else "\r"
        written, visible = [], 0
        for t, turn in enumerate(turns):
            text, tags = self._turn(turn, c, t, parts)
            if dropped and not text.strip():
                continue
            breaks = cue_text.breaks_for(
                turn,
                text,
                self.options.target_language,
                self.options.wrap,
                self.options.width,
                alone=len(turns) == 1,
            )
            visible += len(text)
            summary.add("tags moved", len(turn.tags))
            edges = [0, *breaks, len(text)]
            longest = max(b - a for a, b in pairwise(edges))
            summary.add("lines longer than the width", int(longest > self.options.width + 1))
            written.append(cue_text.written(turn, text, tags, self.markup, new_line, breaks))
        seconds = (self.cues[c].ends - self.cues[c].begins) / 1000
        summary.add("cues to be read too fast", int(visible > self.options.speed * seconds))
        joint = new_line if self.markup.new_line == "\n" else self.markup.new_line
        return joint.join(written)

    def _turn(
        self, turn: Turn, c: int, t: int, parts: dict[_Place, tuple[str, Alignment]]
    ) -> tuple[str, list[Tag]]:
        """The new text of a turn and its tags: pieces exchanged, what is between them kept."""
        exchanges = []
        for p, piece in enumerate(turn.pieces):
            if self._handled(piece) == "drop":
                start, end = _with_brackets(turn.text, piece.start, piece.end)
                exchanges.append(Exchange(start, end, ""))
            elif (c, t, p) in parts:
                exchanges.append(Exchange(piece.start, piece.end, *parts[c, t, p]))
        return exchanged(turn.text, turn.tags, exchanges)


def _with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    if start and text[start - 1] == "[":
        start, end = start - 1, end + 1
        while end < len(text) and text[end] == " ":
            end += 1
    return start, end
