"""Contrastive items made from a text of the user's own: a pronoun of the reference is swapped.

`il` becomes `elle`, `dein` becomes `Ihr`: a sentence that is as good alone and wrong in its
document. Which words, swaps.yaml says. Does not know models.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from concatmt.corpus.parts import Part
from concatmt.evaluation.sets import ContrastiveItem

SOURCE_LANGUAGE = "en"
WORD = re.compile(r"[^\W\d_]+")
NEAR = 4  # words after a pronoun in which something may have to agree with it


@dataclass(frozen=True, slots=True)
class Swap:
    """One list of swaps.yaml, which explains the fields."""

    phenomenon: str
    source: frozenset[str]
    words: dict[str, list[str]]
    not_source: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    not_near: frozenset[str] = frozenset()
    followed_by: str = ""
    place: Literal["start"] | None = None
    known: frozenset[str] = field(init=False)  # all words that make a sentence of this kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", self.others | self.words.keys())

    def candidates(self, source: str, target: str) -> list[str]:
        """The translation with another word, once for each that fits; empty if none does."""
        english = {word.lower() for word in WORD.findall(source)}
        if not english & self.source or english & self.not_source:
            return []
        words = list(WORD.finditer(target))
        forms = [_form(target, one, self.known) for one in words]
        places = [place for place, form in enumerate(forms) if form in self.known]
        if len(places) != 1 or forms[places[0]] not in self.words:
            return []
        place = places[0]
        if not self._counts(target, words, place):
            return []
        at = words[place]
        return [
            target[: at.start()] + _cased(target, at, new) + target[at.end() :]
            for new in self.words[forms[place]]
        ]

    def _counts(self, target: str, words: Sequence["re.Match[str]"], place: int) -> bool:
        if self.after and (place == 0 or words[place - 1][0].lower() not in self.after):
            return False
        if self.place == "start" and place:
            return False
        if not re.match(self.followed_by, target[words[place].end() :]):
            return False
        near = {one[0].lower() for one in words[place + 1 : place + 1 + NEAR]}
        return not near & self.not_near


def _starts(target: str, word: "re.Match[str]") -> bool:
    """Whether it begins a sentence, so that its capital says nothing."""
    before = target[: word.start()].rstrip(" \"«„“”’'-–—")
    return not before or before[-1] in ".!?:…"


def _form(target: str, word: "re.Match[str]", known: frozenset[str]) -> str:
    """The word as the lists have it."""
    lower = word[0].lower()
    return lower if _starts(target, word) and lower in known else word[0]


def _cased(target: str, old: "re.Match[str]", new: str) -> str:
    """With a capital where the sentence begins with one."""
    if _starts(target, old) and old[0][0].isupper():
        return new[0].upper() + new[1:]
    return new


@cache
def swaps_for(language: str) -> tuple[Swap, ...]:
    """The lists of a target language; none if it has none."""
    text = (resources.files(__package__) / "swaps.yaml").read_text("utf-8")
    return tuple(Swap(**_sets(one)) for one in yaml.safe_load(text).get(language, ()))


def _sets(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: frozenset(v) if isinstance(v, list) else v for key, v in entry.items()}


def swapped_items(
    parts: Sequence[Part], language: str, context: int, name: str
) -> list[ContrastiveItem]:
    """An item for every sentence with a word to swap and some context; the reference stands first.

    `context`: as many sentences before it, at most.
    """
    return [item for part in parts for item in _of_document(part, language, context, name)]


def _of_document(part: Part, language: str, context: int, name: str) -> Iterator[ContrastiveItem]:
    source, target = list(part.source), list(part.gold or ())
    for place in range(1, min(len(source), len(target))):
        first = max(0, place - context)
        before = target[first:place]
        for swap in swaps_for(language):
            if wrong := swap.candidates(source[place], target[place]):
                yield ContrastiveItem(
                    id=f"{part.document}:{place}",
                    source=source[first : place + 1],
                    targets=[[*before, one] for one in (target[place], *wrong)],
                    correct=0,
                    set=name,
                    phenomenon=swap.phenomenon,
                    document=part.document,
                )
                break  # one item a sentence
