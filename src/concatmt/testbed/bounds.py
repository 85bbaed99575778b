"""Computes the best accuracy of observers with restricted sight, by enumerating latents.

An observer maps a latent to what it sees. It answers with the most frequent label among the
latents that look the same to it; a tie among m labels counts 1/m. Nothing is estimated from
text: two texts can differ in words that do not matter.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from concatmt.testbed.latents import Atom, Latent

Observer = Callable[[Latent], Hashable]
WORDS = "words without order"
SENTENCES = "sentences without order"


@dataclass(frozen=True, slots=True)
class Bound:
    """Best accuracy in per cent, on all items and on conflict items only."""

    all: float
    conflict: float


def observers(window: int, target: bool = False) -> dict[str, Observer]:
    """Every observer by name; with `target`, it also reads the context's right translation."""

    def told(latent: Latent, distance: int) -> tuple[Atom, ...]:
        cue = latent.cues.get(distance)
        if cue is None:
            return ()
        return cue.source + cue.target if target else cue.source

    def last(sentences: int) -> Observer:
        return lambda latent: (
            latent.current,
            tuple(told(latent, d) for d in range(1, sentences)),
        )

    def words(latent: Latent) -> Hashable:
        atoms = [atom for d in range(1, window) for atom in told(latent, d)]
        return latent.current, tuple(sorted(atoms))

    def sentences(latent: Latent) -> Hashable:
        return latent.current, tuple(sorted(told(latent, d) for d in range(1, window)))

    by_size = {f"K={k}": last(k) for k in range(2, window + 1)}
    return {"current only": last(1), **by_size, WORDS: words, SENTENCES: sentences}


def accuracies(observer: Observer, latents: Sequence[Latent]) -> list[float]:
    """For each latent, the share of right answers that the observer's best answer gets."""
    labels: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for latent in latents:
        labels[observer(latent)][latent.label] += 1
    return [_share(labels[observer(latent)], latent.label) for latent in latents]


def bounds(latents: Sequence[Latent], window: int, target: bool = False) -> dict[str, Bound]:
    """The bound of every observer on equally likely latents."""
    result = {}
    for name, observer in observers(window, target).items():
        scores = accuracies(observer, latents)
        conflict = [s for s, latent in zip(scores, latents, strict=True) if latent.conflict]
        result[name] = Bound(_per_cent(scores), _per_cent(conflict))
    return result


def _share(labels: Counter[int], label: int) -> float:
    best = max(labels.values())
    winners = [value for value, count in labels.items() if count == best]
    return (label in winners) / len(winners)


def _per_cent(scores: Sequence[float]) -> float:
    return round(100 * sum(scores) / len(scores), 4)
