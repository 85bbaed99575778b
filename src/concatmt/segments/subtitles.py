"""Subtitles in, the same subtitles out: cues, times and order never change.

The unit of translation is the sentence (`cue_sentences`). Its translation is given back to its cues
in proportion to the characters that they had, at good cuts. `cues` finds the cues in a file,
`cue_text` takes their markup apart, `layout` cuts and wraps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from concatmt.segments import cue_text
from concatmt.segments.config import SubtitleConfig
from concatmt.segments.cue_sentences import (
    OPEN_END,
    Place,
    Sentence,
    Splitter,
    handled,
    joined,
    pieces_of,
    without_begin,
    without_end,
)
from concatmt.segments.cue_text import Markup, Turn
from concatmt.segments.cues import READERS, Cue
from concatmt.segments.layout import crossings, cut
from concatmt.segments.segment import Alignment, Segment, Summary, Translated
from concatmt.segments.spans import EncodedText, replaced
from concatmt.segments.tags import Exchange, Tag, exchanged
from concatmt.segments.words import count_words, without_added_stop

MARKUPS = {".srt": cue_text.SRT, ".vtt": cue_text.VTT, ".ass": cue_text.ASS, ".ssa": cue_text.ASS}
_BREAK_OFF = re.compile(r"(?:\.\.\.|…|--|—|–)$")


class Subtitles:
    """A subtitle file: its sentences as segments, and the file with their translations."""

    def __init__(
        self,
        data: bytes | EncodedText,
        name: str,
        suffix: str,
        split: Splitter,
        config: SubtitleConfig | None = None,
        encoding: str | None = None,
        language: str = "",
        before: Subtitles | None = None,
    ):
        """`language`: of the translation, for good cuts; `before`: the piece before this one."""
        self.name = name
        self.config = config or SubtitleConfig()
        self.language = language
        self.file = EncodedText.read(data, name, encoding) if isinstance(data, bytes) else data
        self.markup: Markup = MARKUPS[suffix]
        self.cues: list[Cue] = READERS[suffix](self.file, name)
        self.turns = [self._turns(cue, split) for cue in self.cues]
        self._above = before.cues[-1:] if before else []  # the last cue before this piece
        self.last_spoken: Cue | None = before.last_spoken if before else None
        self._sentences, self.last_spoken = joined(
            self.cues, self.turns, self.config, self.last_spoken
        )
        self.segments = [
            Segment(s.text, gap=s.gap, aligned=len(s.places) > 1 or self._has_tags(s))
            for s in self._sentences
        ]

    def _raw(self, cue: Cue) -> str:
        return self.file.text[cue.start : cue.end]

    def _turns(self, cue: Cue, split: Splitter) -> list[Turn]:
        raw = self._raw(cue)
        if self.markup.untouched is not None and self.markup.untouched.search(raw):
            return []
        turns = cue_text.turns_of(raw, self.markup, self.config.names == "keep")
        return [replace(turn, pieces=tuple(pieces_of(turn, split, self.config))) for turn in turns]

    def _has_tags(self, sentence: Sentence) -> bool:
        return any(self.turns[c][t].tags for c, t, _ in sentence.places)

    def _source(self, place: Place) -> str:
        """The part of a sentence that stands at a place."""
        c, t, p = place
        turn = self.turns[c][t]
        return turn.text[turn.pieces[p].start : turn.pieces[p].end]

    def _inner(self, sentence: Sentence) -> list[str]:
        """The parts of a sentence without the dots and dashes between them."""
        parts = [self._source(place) for place in sentence.places]
        parts[1:] = map(without_begin, parts[1:])
        parts[:-1] = map(without_end, parts[:-1])
        return parts

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]:
        summary = Summary({"cues": len(self.cues), "sentences": len(self._sentences)})
        in_a_row = list(pairwise([*self._above, *self.cues]))
        disorder = sum(a.begins > b.begins for a, b in in_a_row)
        summary.add("cues without text", sum(not self._raw(cue).strip() for cue in self.cues))
        summary.add("cues that begin before the one above them", disorder)
        overlaps = sum(a.begins <= b.begins < a.ends for a, b in in_a_row)
        summary.add("cues that overlap with the one above them", overlaps)
        parts: dict[Place, tuple[str, Alignment]] = {}
        for sentence, translated in zip(self._sentences, translations, strict=True):
            if len(sentence.places) > 1:
                summary.add("sentences over several cues")
                summary.add("cuts in them", len(sentence.places) - 1)
            if translated.text != sentence.text:
                chosen = self._fast_enough(sentence, translated, summary)
                self._give_back(sentence, chosen, parts, summary)
        texts = [self._cue(c, parts, summary) for c in range(len(self.cues))]
        whole = replaced(self.file.text, [(cue.start, cue.end) for cue in self.cues], texts)
        summary.add(
            "files written as UTF-8, since their encoding lacks characters",
            not self.file.fits(whole),
        )
        return self.file.encoded(whole), summary

    def _fast_enough(
        self, sentence: Sentence, translated: Translated, summary: Summary
    ) -> Translated:
        """The shortest of translations that are nearly as good, if the best is read too fast."""
        room = 0.0  # characters that can be read
        for c, t, p in sentence.places:
            seconds = (self.cues[c].ends - self.cues[c].begins) / 1000
            of_cue = sum(len(turn.text) for turn in self.turns[c])
            room += self.config.reading_speed * seconds * len(self._source((c, t, p))) / of_cue
        near = [
            one
            for one in translated.alternatives
            if translated.score - one.score <= self.config.shorten
            and len(one.text) < len(translated.text)
        ]
        if len(translated.text) <= room or not near:
            return translated
        summary.add("sentences for which a shorter translation was taken")
        return min(near, key=lambda one: len(one.text))

    def _give_back(
        self,
        sentence: Sentence,
        translated: Translated,
        parts: dict[Place, tuple[str, Alignment]],
        summary: Summary,
    ) -> None:
        """Cut a translation into as many parts as its sentence has."""
        text = without_added_stop(sentence.text, " ".join(translated.text.split()))
        text = _broken_off(sentence.text, text)
        c, t, p = sentence.places[0]
        if self.turns[c][t].pieces[p].kind in ("sound", "name"):
            text = _as_label(sentence.text, text)
        words = (text.upper() if sentence.capitals else text).split()
        sources = self._inner(sentence)
        counts = [count_words(source) for source in sources]
        given = cut(
            words,
            [float(len(source)) for source in sources],
            self.language,
            crossings(translated.alignment, list(accumulate(counts))[:-1], words),
        )
        if len(words) < len(given):
            summary.add("cues left empty by a short sentence", len(given) - 1)
        source_at = target_at = 0
        last = len(given) - 1
        for number, (place, own, count) in enumerate(
            zip(sentence.places, given, counts, strict=True)
        ):
            part, bare = " ".join(own), self._source(place)
            here = count_words(part)
            begin = bare[: len(bare) - len(without_begin(bare))] if number else ""
            end = bare[len(without_end(bare)) :] if number < last else ""
            shift = count_words(begin)
            alignment = tuple(
                (s - source_at + shift, w - target_at + shift)
                for s, w in translated.alignment
                if source_at <= s < source_at + count and target_at <= w < target_at + here
            )
            if part:
                part = begin + (part.rstrip(".,;: …") + end if end else part)
            parts[place] = (part, alignment)
            source_at += count
            target_at += here

    def _cue(self, c: int, parts: dict[Place, tuple[str, Alignment]], summary: Summary) -> str:
        """The text of a cue; as it was if nothing of it was translated or dropped."""
        raw, turns = self._raw(self.cues[c]), self.turns[c]
        dropped = any(
            handled(piece, self.config) == "drop" for turn in turns for piece in turn.pieces
        )
        touched = any(
            (c, t, p) in parts for t, turn in enumerate(turns) for p in range(len(turn.pieces))
        )
        if not touched and not dropped:
            return raw
        config = self.config
        line_end = self.file.line_end if self.markup.new_line == "\n" else self.markup.new_line
        written, visible = "", 0
        joint = ""
        for t, turn in enumerate(turns):
            text, tags = self._turn(turn, c, t, parts)
            if dropped and not text.strip():
                continue
            breaks = cue_text.breaks_for(
                turn, text, self.markup, self.language, config, len(turns) == 1
            )
            lead, tail = cue_text.around(turn, self.markup)
            visible += len(lead + text + tail)
            summary.add("tags moved", len(turn.tags))
            edges = [-len(lead), *breaks, len(text + tail)]
            longest = max(b - a for a, b in pairwise(edges))
            summary.add("lines longer than the width", int(longest > config.width + 1))
            written += joint + cue_text.written(turn, text, tags, self.markup, line_end, breaks)
            joint = line_end if turn.ends_line else ""
        seconds = (self.cues[c].ends - self.cues[c].begins) / 1000
        summary.add("cues to be read too fast", int(visible > config.reading_speed * seconds))
        return written

    def _turn(
        self, turn: Turn, c: int, t: int, parts: dict[Place, tuple[str, Alignment]]
    ) -> tuple[str, list[Tag]]:
        """The new text of a turn and its tags: pieces exchanged, what is between them kept."""
        exchanges = []
        for p, piece in enumerate(turn.pieces):
            if handled(piece, self.config) == "drop":
                start, end = _with_brackets(turn.text, piece.start, piece.end)
                exchanges.append(Exchange(start, end, ""))
            elif (c, t, p) in parts:
                exchanges.append(Exchange(piece.start, piece.end, *parts[c, t, p]))
        return exchanged(turn.text, turn.tags, exchanges)


def _broken_off(source: str, text: str) -> str:
    """Dots or dashes of a sentence that is broken off, where the translation lost them."""
    end = _BREAK_OFF.search(source)
    if end is None or OPEN_END.search(text) or text[-1:] in "!?":
        return text
    return text.rstrip(".,;: ") + end.group()


def _as_label(source: str, text: str) -> str:
    """A sound or a name is no sentence: its first letter and its end are like the source's."""
    if source[:1].islower() and text[1:2].islower():
        text = text[:1].lower() + text[1:]
    return text if source.endswith(".") else text.removesuffix(".").rstrip()


def _with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    if start and text[start - 1] in "[(":
        start, end = start - 1, end + 1
        while end < len(text) and text[end] == " ":
            end += 1
    return start, end
