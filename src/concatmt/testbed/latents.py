"""The latent space of every task: the distance of each cue, and what it decides.

A latent is everything that matters for the right answer; words are added later and independently.
Latents of a task are equally likely. Those that share a `frame` differ in the deciding cue alone:
they are an orbit, one latent per label. Does not know words or languages.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Atom = tuple[str | int, ...]  # what one word of a cue sentence reveals


@dataclass(frozen=True, slots=True)
class Cue:
    """What a sentence of the context reveals."""

    kind: str
    value: int
    source: tuple[Atom, ...]  # revealed by single words of the source sentence
    target: tuple[Atom, ...] = ()  # revealed only by the translation


@dataclass(frozen=True, slots=True)
class Latent:
    """One way in which the current sentence can depend on its context."""

    label: int  # the right candidate
    cues: Mapping[int, Cue]  # distance -> cue; distance 1 is the sentence before the current one
    distance: int  # of the cue that decides
    conflict: bool  # another cue of the kind points to another label
    frame: tuple[int, ...]  # all but the deciding value: the same for all twins of an orbit
    current: tuple[Atom, ...] = ()  # what the current sentence itself reveals


@dataclass(frozen=True, slots=True)
class Space:
    """The dials that shape latents."""

    window: int = 4  # K
    distance: int = 3  # largest distance of a cue
    speakers: int = 2
    verbs: int = 8
    cases: int = 4

    @property
    def distances(self) -> range:
        """Possible distances of a cue."""
        return range(1, self.distance + 1)


GENDERS = range(3)
FORMS = range(2)


def _word(kind: str, value: int) -> Cue:
    """A cue in one word."""
    return Cue(kind, value, ((kind, value),))


def pron(space: Space) -> Iterator[Latent]:
    """One antecedent that the predicate selects, one noun of another class."""
    for near, other in itertools.permutations(space.distances, 2):
        for gender, distractor in itertools.product(GENDERS, repeat=2):
            cues = {near: _word("antecedent", gender), other: _word("distractor", distractor)}
            conflict = gender != distractor
            yield Latent(gender, cues, near, conflict, (near, other, distractor))


def recent(space: Space) -> Iterator[Latent]:
    """Two antecedents that the predicate allows: the nearer one is meant."""
    for near, far in itertools.combinations(space.distances, 2):
        for late, early in itertools.product(GENDERS, repeat=2):
            cues = {near: _word("antecedent", late), far: _word("antecedent", early)}
            yield Latent(late, cues, near, late != early, (near, far, early))


def ordinal(space: Space) -> Iterator[Latent]:
    """Two antecedents, and the current sentence says whether the first or the second is meant."""
    for which in (0, 1):
        for near, far in itertools.combinations(space.distances, 2):
            for meant, other in itertools.product(GENDERS, repeat=2):
                early, late = (meant, other) if which == 0 else (other, meant)
                cues = {near: _word("antecedent", late), far: _word("antecedent", early)}
                distance = far if which == 0 else near
                frame = (which, near, far, other)
                yield Latent(meant, cues, distance, late != early, frame, (("ordinal", which),))


def turns(space: Space) -> Iterator[Latent]:
    """Speakers take turns and each gives one cue; that of the speaker whose turn it is decides."""
    places = [
        [d for d in space.distances if d % space.speakers == turn] for turn in range(space.speakers)
    ]
    for distances in itertools.product(*places):
        for values in itertools.product(FORMS, repeat=space.speakers):
            cues = {d: _word("form", v) for d, v in zip(distances, values, strict=True)}
            conflict = len(set(values)) > 1
            yield Latent(values[0], cues, distances[0], conflict, (*distances, *values[1:]))


def vp(space: Space) -> Iterator[Latent]:
    """Two subjects with a verb each; the current sentence repeats one subject without its verb."""
    for own, other in itertools.permutations(space.distances, 2):
        for verb, wrong in itertools.product(range(space.verbs), repeat=2):
            cues = {
                own: Cue("own", verb, (("own",), ("verb", verb))),
                other: Cue("other", wrong, (("other",), ("verb", wrong))),
            }
            yield Latent(verb, cues, own, verb != wrong, (own, other, wrong))


def names(space: Space) -> Iterator[Latent]:
    """Two names, each with one of its two renderings; the translation alone shows which."""
    for own, other in itertools.permutations(space.distances, 2):
        for rendering, wrong in itertools.product(FORMS, repeat=2):
            cues = {
                own: Cue("own", rendering, (("own",),), (("own rendering", rendering),)),
                other: Cue("other", wrong, (("other",),), (("other rendering", wrong),)),
            }
            yield Latent(rendering, cues, own, rendering != wrong, (own, other, wrong))


def case(space: Space) -> Iterator[Latent]:
    """Questions queue up and are answered in their order; the current sentence is an answer.

    With q questions, the one being answered is always at distance q.
    """
    longest = (space.distance + 1) // 2
    for questions in range(1, longest + 1):
        for answer in range(1, questions + 1):
            for cases in itertools.product(range(space.cases), repeat=longest):
                asked = cases[:questions]
                cues = {
                    questions - i + answer - 1: Cue("question", c, (("question", c),))
                    for i, c in enumerate(asked)
                }
                for i, c in enumerate(asked[: answer - 1]):
                    cues[answer - 1 - i] = Cue("answer", c, (("answer",),), (("answered", c),))
                label = cases[answer - 1]
                rest = cases[: answer - 1] + cases[answer:]
                conflict = len(set(asked)) > 1
                yield Latent(label, cues, questions, conflict, (questions, answer, *rest))


def d0(space: Space) -> Iterator[Latent]:
    """The antecedent is in the current sentence; the context has another of its class."""
    for other in space.distances:
        for gender, distractor in itertools.product(GENDERS, repeat=2):
            cues = {other: _word("antecedent", distractor)}
            seen = (("antecedent", gender),)
            yield Latent(gender, cues, 0, gender != distractor, (other, distractor), seen)


def far(space: Space) -> Iterator[Latent]:
    """The antecedent is just outside the window; inside it is a noun of another class."""
    for distance in (space.window, space.window + 1):
        for other in space.distances:
            for gender, distractor in itertools.product(GENDERS, repeat=2):
                cues = {
                    distance: _word("antecedent", gender),
                    other: _word("distractor", distractor),
                }
                conflict = gender != distractor
                yield Latent(gender, cues, distance, conflict, (distance, other, distractor))


SPACES: Mapping[str, Callable[[Space], Iterator[Latent]]] = {
    "pron": pron,
    "vp": vp,
    "names": names,
    "recent": recent,
    "ordinal": ordinal,
    "tv": turns,
    "spk": turns,
    "case": case,
    "d0": d0,
    "far": far,
}
TASKS = tuple(SPACES)


def orbits(latents: list[Latent]) -> list[list[Latent]]:
    """The latents in groups of one per label that share everything but the deciding cue."""
    groups: dict[tuple[Any, ...], list[Latent]] = {}
    for latent in latents:
        groups.setdefault(latent.frame, []).append(latent)
    return [sorted(group, key=lambda latent: latent.label) for group in groups.values()]
