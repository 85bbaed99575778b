"""The types of a lexicon; entries pair English with every target form that the grammar uses.

A `Language` is data alone: words, adjuncts and word order of one language pair. Forms are listed,
so that they can be checked one by one against an agreement table.
Genders are counted m = 0, f = 1, n = 2; a verb has a fourth form, the plural.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

PLURAL = 3
ANTECEDENT_CLASSES = ("food", "furniture", "event")


class Phrase(NamedTuple):
    """Something that does not inflect here."""

    source: str
    target: str


class Noun(NamedTuple):
    """An antecedent; with its article where the language has one."""

    source: str
    nominative: str
    accusative: str


class Verb(NamedTuple):
    """A verb in the past: English, then m, f, n, plural."""

    source: str
    target: tuple[str, str, str, str]


class Predicate(NamedTuple):
    """What is said of an antecedent: English, then m, f, n."""

    source: str
    target: tuple[str, str, str]


class Person(NamedTuple):
    """A first name that has one rendering."""

    source: str
    gender: int
    nominative: str
    accusative: str


class Name(NamedTuple):
    """A man's surname that has two legitimate renderings."""

    source: str
    target: tuple[str, str]


class Address(NamedTuple):
    """Something said to somebody: English, the familiar and the polite verb, the object."""

    source: str
    target: tuple[str, str]
    object: str


class Role(NamedTuple):
    """Who the speaker is, as a man and as a woman."""

    source: tuple[str, str]
    target: tuple[str, str]


class Deed(NamedTuple):
    """What the speaker did: English, the verb of a man and of a woman, the object."""

    source: str
    target: tuple[str, str]
    object: str


class Government(NamedTuple):
    """A verb that asks for a case: English infinitive and past, then m, f, n, plural."""

    infinitive: str
    source: str
    target: tuple[str, str, str, str]


class Animate(NamedTuple):
    """Somebody to be asked about: English, then one form per case, with the article if any."""

    source: str
    target: tuple[str, ...]


Adjuncts = Mapping[str, tuple[Phrase, ...]]  # slot -> phrases for it
W = TypeVar("W")


@dataclass(frozen=True)
class Language:
    """All data of a language pair."""

    pair: str
    left_out: Mapping[str, str]  # task -> why this language lacks it
    orders: Mapping[str, tuple[str, ...]]  # kind of sentence -> order of its parts
    english_orders: Mapping[str, tuple[str, ...]]
    adjuncts: Mapping[str, Adjuncts]  # kind of sentence -> what may be added to it
    tails: tuple[Phrase, ...]  # additions to "It was ..."
    nouns: Mapping[str, tuple[tuple[Noun, ...], ...]]  # class -> gender -> nouns
    verbs: Mapping[str, tuple[Verb, ...]]  # class -> what one does with its nouns
    predicates: Mapping[str, tuple[Predicate, ...]]  # class -> what only its nouns can be
    pronouns: tuple[str, str, str]
    copula: tuple[str, str, str]
    ordinals: tuple[tuple[str, str, str], tuple[str, str, str]]
    conjunctions: Mapping[str, str]  # "and", "but", "yes"
    persons: tuple[Person, ...]
    habits: tuple[Phrase, ...]  # the verbs of `vp`; their number is its number of options
    names: tuple[Name, ...]
    crowds: tuple[Phrase, ...]
    doings: tuple[Verb, ...]
    weather: tuple[tuple[Phrase, Phrase], ...]  # subject and verb
    you: tuple[str, str]
    addresses: tuple[Address, ...]
    vocatives: tuple[tuple[Phrase, ...], tuple[Phrase, ...]]
    questions: tuple[str, ...]  # one question word per case
    government: tuple[tuple[Government, ...], ...]  # per case but the first
    animates: tuple[Animate, ...]
    answers: tuple[Phrase, ...]  # how an answer begins
    roles: tuple[Role, ...] = ()
    deeds: tuple[Deed, ...] = ()

    def divided(self, share: float) -> tuple["Language", "Language"]:
        """The language without, and with only, the last `share` of the words used in cues.

        What can be held out are antecedents, persons, answers, and the verbs of `tv` and `spk`.
        """
        return self._part(share, unseen=False), self._part(share, unseen=True)

    def _part(self, share: float, unseen: bool) -> "Language":
        def part(words: tuple[W, ...]) -> tuple[W, ...]:
            # Each side keeps at least two words, as some scenes need two different ones.
            out = min(max(2, round(share * len(words))), len(words) - 2)
            return words[-out:] if unseen else words[:-out]

        return replace(
            self,
            nouns={
                kind: tuple(part(nouns) for nouns in genders)
                for kind, genders in self.nouns.items()
            },
            persons=part(self.persons),
            animates=part(self.animates),
            addresses=part(self.addresses),
            deeds=part(self.deeds) if self.deeds else (),
        )
