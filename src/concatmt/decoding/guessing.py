"""Translates one document on all cores, with the same result as sentence after sentence.

In `prefix` a sentence waits for the translations before it. Here a document is cut into pieces that
are walked side by side. At the start of a piece the translations before it are not known yet; it is
translated as if it were the start of the document. A walk that reaches its end continues into the
next piece, now with the context that was missing there, until it meets a sentence that was searched
with exactly the context that it has now: from there on nothing changes. Finally one walk over the
whole document searches again whatever does not fit. So every translation was searched with the
final translations of its context: the result is the sequential one.

Does not know how windows are searched.
"""

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from concatmt.decoding.clients import Found, Stream
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.sentences import SentenceTranslator
from concatmt.decoding.translation import History, Passage, Report, Translation

PATIENCE = 12  # sentences of the next piece that a walk searches again, hoping for agreement


@dataclass
class Guess:
    """A sentence's translation, provided that its context is as assumed."""

    ids: list[int]  # its tokens as context of later sentences
    translation: Translation | None = None
    key: str = ""  # what the search for it was given
    report: Report = field(default_factory=Report)


class GuessedDocument:
    """The sentences of a passage, and the walks that translate them."""

    def __init__(
        self, sentences: SentenceTranslator, passage: Passage, context: int, pieces: int
    ) -> None:
        """`context`: sentences that are forced."""
        self.sentences, self.passage, self.context = sentences, passage, context
        self.searches = 0
        self.guesses: list[Guess] = []
        for place, source in enumerate(passage.source):
            settled = passage.settled(place)
            if settled is None:
                self.guesses.append(Guess(sentences.task(source, History(), Report()).ids))
                continue
            tokens = sentences.text.target.encode(settled)
            translation = Translation(source, settled, tokens=tokens)
            self.guesses.append(Guess(sentences.text.source.encode(source), translation))
        count = len(self.guesses)
        self.starts = [count * i // pieces for i in range(pieces)]

    def walk(self, piece: int, end: int) -> Stream:
        """Translate in order from the start of a piece, at most to the start of piece `end`."""
        first = self.starts[piece]
        own = self._start(piece + 1)
        again = 0
        for place in range(first, self._start(end)):
            guess = self.guesses[place]
            if place >= own and not guess.key:
                return  # another walk is searching it at the moment
            searched = yield from self._searched(place, first)
            if place >= own and searched:
                again += 1
                # As the start is not known, nothing is final: more searches may not pay off.
                if again == PATIENCE and first:
                    return

    def last_walk(self, deliver: Callable[[Translation], object], report: Report) -> Stream:
        """Search again whatever does not fit; deliver everything, final, in order."""
        for place, guess in enumerate(self.guesses):
            yield from self._searched(place, 0)
            assert guess.translation is not None
            report.add(guess.report)
            deliver(guess.translation)
        report.searches += self.searches
        report.guessed += len(self.guesses)
        start, end = self.passage.history, self._history(len(self.guesses), 0)
        start.source, start.target = end.source, end.target

    def _start(self, piece: int) -> int:
        return self.starts[piece] if piece < len(self.starts) else len(self.guesses)

    def _searched(self, place: int, floor: int) -> Generator[Sequence[Window], list[Found], bool]:
        """Search a sentence unless it was searched with its present context; True if it was not."""
        guess = self.guesses[place]
        if self.passage.settled(place) is not None:
            guess.key = "settled"
            return False
        report = Report()
        task = self.sentences.task(self.passage.source[place], self._history(place, floor), report)
        if (key := str(task)) == guess.key:
            guess.report.trimmed = report.trimmed  # perhaps those of another context
            return False
        results = []
        for window in task.windows:
            results += yield [window]
        self.searches += len(results)
        guess.translation = yield from self.sentences.finish(task, results, report)
        guess.key, guess.report = key, report
        return True

    def _history(self, place: int, floor: int) -> History:
        """The context of a sentence by the present guesses, as if the document began at `floor`."""
        source: list[list[int]] = []
        target: list[list[int]] = []
        while place > floor and len(source) < self.context:
            place -= 1
            guess = self.guesses[place]
            if guess.ids:
                assert guess.translation is not None
                source.insert(0, guess.ids)
                target.insert(0, guess.translation.tokens)
        missing = self.context - len(source)
        if missing and not floor:
            before = self.passage.history
            source = [*before.source[-missing:], *source]
            target = [*before.target[-missing:], *target]
        return History(source, target)


def pieces_of(sentences: int) -> int:
    """How many pieces a document is cut into.

    More pieces fill more rows, but at the start of each some sentences are searched twice.
    """
    return max(1, min(32, round(math.sqrt(sentences / 3) / 2) * 2)) if sentences >= 12 else 1
