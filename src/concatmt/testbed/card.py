"""Makes the data card: contents of a corpus, lengths of sentences, and bounds of accuracy."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import fmean, pstdev
from typing import Any

from concatmt import __version__
from concatmt.testbed.bounds import Bound, bounds
from concatmt.testbed.contrastive import UNSEEN, Item
from concatmt.testbed.dials import Dials
from concatmt.testbed.documents import Document
from concatmt.testbed.latents import orbits
from concatmt.testbed.scenes import Scene
from concatmt.testbed.surface import Sentence

SELF_CONTAINED = "d0"
NOTES = {
    "bounds": "best accuracy in per cent, on all items and on conflict items, of an observer that "
    "reads the source of its window; a tie among m answers counts 1/m",
    "bounds_with_target": "the same for an observer that also reads the right translation of the "
    "context, as contrastive scoring does",
    "density": "share of scenes that hold a phenomenon; a scene is the window of one "
    "context-dependent sentence",
    "names": "which rendering was used is seen in the target context alone",
    "d0": "the cue stands in the current sentence, so twins differ in it; all can be right",
    "far": "the cue stands K or K+1 sentences back: the item reaches back to it, a window of K "
    "does not",
}


@dataclass
class Tally:
    """Counts of one split, counted while it is written."""

    documents: int = 0
    scenes: int = 0
    tasks: Counter[str] = field(default_factory=Counter)
    dependent: int = 0
    lengths: tuple[Counter[int], Counter[int]] = field(
        default_factory=lambda: (Counter(), Counter())
    )
    words: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))

    def add_document(self, document: Document) -> None:
        """Count a document."""
        self.documents += 1
        self.scenes += document.scene_count
        self.add_sentences(document.sentences)
        for scene in document.scenes.values():
            self.add_scene(scene)

    def add_item(self, item: Item) -> None:
        """Count a contrastive item, a document of one scene."""
        self.documents += 1
        self.scenes += 1
        self.add_sentences(item.scene.sentences)
        self.add_scene(item.scene)

    def add_scene(self, scene: Scene) -> None:
        """Count a phenomenon and the sentences that depend on others; early answers do too."""
        self.tasks[scene.task] += 1
        self.dependent += scene.task != SELF_CONTAINED
        self.dependent += sum(cue.kind == "answer" for cue in scene.latent.cues.values())

    def add_sentences(self, sentences: Iterable[Sentence]) -> None:
        """Count words and lengths."""
        for sentence in sentences:
            for side, text in enumerate(sentence):
                words = text.split()
                self.lengths[side][len(words)] += 1
                self.words[side].update(words)

    def figures(self, dials: Dials, training: "Tally") -> dict[str, Any]:
        """The split's figures for the card."""
        sentences = self.lengths[0].total()
        source, target = (
            {
                "words": sum(length * count for length, count in self.lengths[side].items()),
                "types": len(self.words[side]),
                "types not in training": len(self.words[side] - training.words[side]),
                "length mean": round(fmean(self.lengths[side].elements()), 2),
                "length sd": round(pstdev(self.lengths[side].elements()), 2),
                "length max": max(self.lengths[side]),
            }
            for side in (0, 1)
        )
        return {
            "documents": self.documents,
            "sentences": sentences,
            "scenes": self.scenes,
            "scenes with a phenomenon": self.tasks.total(),
            "context-dependent sentences": self.dependent,
            "context-dependent share": round(self.dependent / sentences, 4),
            "phenomena": {task: self.tasks[task] for task in dials.active_tasks},
            "source": source,
            "target": target,
        }


def task_figures(dials: Dials, sets: Mapping[str, list[Item]]) -> dict[str, Any]:
    """Options, items and exact bounds of every task."""
    result = {}
    for task in dials.active_tasks:
        latents = dials.latents(task)
        items = {name: found for name, found in sets.items() if name in (task, f"{task}{UNSEEN}")}
        result[task] = {
            "options": 1 + max(latent.label for latent in latents),
            "latents": len(latents),
            "orbits in the latent space": len(orbits(latents)),
            "distances": sorted({latent.distance for latent in latents}),
            "items": {name: len(found) for name, found in items.items()},
            "conflict items": {
                name: sum(item.scene.latent.conflict for item in found)
                for name, found in items.items()
            },
            "bounds": _plain(bounds(latents, dials.window)),
            "bounds_with_target": _plain(bounds(latents, dials.window, target=True)),
        }
    return result


def make_card(
    dials: Dials, splits: Mapping[str, Tally], sets: Mapping[str, list[Item]]
) -> dict[str, Any]:
    """The whole card except the files' hashes."""
    return {
        "concatmt": __version__,
        "pair": dials.pair,
        "seed": dials.seed,
        "dials": {**dials.model_dump(mode="json"), "tasks": list(dials.active_tasks)},
        "left_out": dict(dials.language.left_out),
        "splits": {name: tally.figures(dials, splits["train"]) for name, tally in splits.items()},
        "tasks": task_figures(dials, sets),
        "notes": NOTES,
    }


def _plain(bounds: Mapping[str, Bound]) -> dict[str, Any]:
    return {name: asdict(bound) for name, bound in bounds.items()}
