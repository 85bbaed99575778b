"""Makes contrastive items: whole orbits, with every latent of a task equally often.

All twins of an orbit use the same words, so that only the deciding cue differs. Nothing
but the context can tell them apart, and a scorer without context gets exactly 1/m of them right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from concatmt.errors import UserError
from concatmt.testbed.dials import Dials
from concatmt.testbed.documents import TRIES, fingerprint
from concatmt.testbed.latents import Latent, orbits
from concatmt.testbed.scenes import Scene, tell
from concatmt.testbed.surface import Surface
from concatmt.testbed.words import Language

UNSEEN = ".unseen"  # marks the set with the words that are held out of training


@dataclass(frozen=True, slots=True)
class Item:
    """A scene with a name."""

    id: str
    orbit: str
    scene: Scene

    def contrastive(self) -> dict[str, Any]:
        """The record of a contrastive set; the window is long enough to hold the cue."""
        latent = self.scene.latent
        return {
            "id": self.id,
            "source": [sentence.source for sentence in self.scene.sentences],
            "context": [sentence.target for sentence in self.scene.context],
            "candidates": list(self.scene.current.candidates),
            "correct": latent.label,
            "phenomenon": self.scene.task,
            "distance": latent.distance,
            "conflict": latent.conflict,
            "orbit": self.orbit,
            "document": self.orbit,
        }

    def generative(self) -> dict[str, Any]:
        """The record for testing translations: words that must and must not occur."""
        record = self.contrastive()
        candidates = [candidate.split() for candidate in record.pop("candidates")]
        right = candidates.pop(record.pop("correct"))
        wrong = [word for candidate in candidates for word in candidate if word not in right]
        expected = [w for w in right if not all(w in candidate for candidate in candidates)]
        return {**record, "expected": expected, "wrong": list(dict.fromkeys(wrong))}


def contrastive_sets(dials: Dials, taken: set[bytes]) -> Iterator[tuple[str, list[Item]]]:
    """Name and items of each set; their scenes are added to `taken`."""
    seen = unseen = dials.language
    if dials.hold_out_words:
        seen, unseen = dials.language.divided(dials.hold_out_words)
    for task in dials.active_tasks:
        yield task, list(_items(dials, task, task, seen, taken))
        if dials.hold_out_words and task != "names":
            name = f"{task}{UNSEEN}"
            yield name, list(_items(dials, task, name, unseen, taken))


def _items(
    dials: Dials, task: str, name: str, language: Language, taken: set[bytes]
) -> Iterator[Item]:
    latents = dials.latents(task)
    passes = -(-dials.items // len(latents))
    for number, orbit in enumerate(orbits(latents) * passes):
        for attempt in range(TRIES):
            seed = f"{dials.seed} {name} {number} {attempt}"
            scenes = _tell_all(dials, task, orbit, language, seed)
            keys = {fingerprint(scene.sentences) for scene in scenes}
            if taken.isdisjoint(keys):
                break
        else:
            raise UserError(f"no distinct item of {task} left; lower --items or raise --length")
        taken |= keys
        for scene in scenes:
            yield Item(f"{name}-{number}-{scene.latent.label}", f"{name}-{number}", scene)


def _tell_all(
    dials: Dials, task: str, orbit: list[Latent], language: Language, seed: str
) -> list[Scene]:
    return [
        tell(task, latent, Surface(language, seed, dials.test_length), dials.window)
        for latent in orbit
    ]
