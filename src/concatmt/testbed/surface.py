"""Chooses words at random from a lexicon and puts parts of sentences in order.

A surface is seeded, and what it draws never depends on a cue's value: all twins of an orbit made
with the same seed have the same words wherever the cue does not force another one. Text is
tokenised, with a space before every mark, so that words are what whitespace separates.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from concatmt.testbed.words import Language, Name

T = TypeVar("T")
Parts = Mapping[str, str]  # slot of a word order -> words; empty slots may be missing
MOST_ADJUNCTS = 3  # a time, a manner and a place


class Sentence(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


class Choice(NamedTuple):
    """A sentence and translations of it to choose from."""

    source: str
    candidates: tuple[str, ...]

    def take(self, label: int) -> Sentence:
        """The sentence with one of its translations."""
        return Sentence(self.source, self.candidates[label])


class Surface:
    """The words of one document or of one contrastive item."""

    def __init__(self, language: Language, seed: str, length: float) -> None:
        """`length` is the mean number of adjuncts that a sentence gets."""
        self.language = language
        self._random = random.Random(seed)
        self._length = length
        self._names = itertools.cycle(self.several(language.names, len(language.names)))

    def number(self) -> float:
        """A number in [0, 1)."""
        return self._random.random()

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        return int(self._random.random() * count)

    def pick(self, words: Sequence[T]) -> T:
        """One of the words."""
        return words[self.below(len(words))]

    def several(self, words: Sequence[T], count: int) -> list[T]:
        """`count` words, different ones as long as there are enough."""
        draw = self._random.random
        shuffled = sorted(words, key=lambda _: draw())
        return [shuffled[i % len(shuffled)] for i in range(count)]

    def next_name(self) -> Name:
        """A name with two renderings that was not used yet, so that none is ever inconsistent."""
        return next(self._names)

    def adjuncts(self, kind: str) -> tuple[dict[str, str], dict[str, str]]:
        """Zero to three additions to a kind of sentence, in both languages."""
        slots = self.language.adjuncts.get(kind)
        if slots is None:
            return {}, {}
        count = self._adjunct_count()
        chosen = self.several(tuple(slots), len(slots))[:count]
        phrases = {slot: self.pick(slots[slot]) for slot in chosen}
        return (
            {slot: phrase.source for slot, phrase in phrases.items()},
            {slot: phrase.target for slot, phrase in phrases.items()},
        )

    def _adjunct_count(self) -> int:
        """0 to 3 with the mean `length`, from an urn that returns each ball twice.

        It spreads the counts wider than coin tosses would: short and long sentences are common.
        """
        count = 0
        for drawn in range(MOST_ADJUNCTS):
            full = self._length / MOST_ADJUNCTS + count
            count += self._random.random() * (1 + drawn) < full
        return count

    def choice(
        self,
        kind: str,
        source: Parts,
        targets: Sequence[Parts],
        adjuncts: str | None = None,
        end: str = ".",
    ) -> Choice:
        """A sentence with several translations and the same adjuncts in all of them."""
        english, foreign = self.adjuncts(adjuncts or kind)
        orders = self.language.orders
        return Choice(
            f"{_compose(self.language.english_orders, kind, {**source, **english})} {end}",
            tuple(f"{_compose(orders, kind, {**target, **foreign})} {end}" for target in targets),
        )

    def sentence(
        self,
        kind: str,
        source: Parts,
        target: Parts,
        adjuncts: str | None = None,
        end: str = ".",
    ) -> Sentence:
        """A sentence with its one translation."""
        return self.choice(kind, source, [target], adjuncts, end).take(0)


def capitalised(text: str) -> str:
    """The text with a capital first letter."""
    return text[0].upper() + text[1:]


def _compose(orders: Mapping[str, tuple[str, ...]], kind: str, parts: Parts) -> str:
    order = orders[kind]
    if "time" in parts:
        order = orders.get(f"{kind}, time first", order)
    return capitalised(" ".join(parts[slot] for slot in order if parts.get(slot)))
