"""Makes documents of scenes and ordinary sentences, all distinct.

Density is the share of scenes that hold a phenomenon; the others are as many ordinary sentences.
A document has one scene or more and a few ordinary sentences between them: 4 to 12 in all, unless
the dials say otherwise.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from concatmt.errors import UserError
from concatmt.testbed.dials import LONGEST_DOCUMENT, Dials
from concatmt.testbed.latents import Latent
from concatmt.testbed.scenes import Scene, scene_length, tell
from concatmt.testbed.sentences import ordinary
from concatmt.testbed.surface import Sentence, Surface
from concatmt.testbed.words import Language

TRIES = 1000


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences in order, and the scenes among them by the place of their last sentence."""

    sentences: tuple[Sentence, ...]
    scenes: Mapping[int, Scene]
    scene_count: int  # with the ordinary ones


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the documents of a split are drawn."""

    scene_language: Language
    language: Language  # of ordinary sentences
    latents: Mapping[str, Sequence[Latent]]
    tasks: tuple[str, ...]  # that scenes are drawn from, each as often as its weight says
    density: float
    window: int
    length: float
    scenes: int  # of a document, at most
    around: int  # ordinary sentences around its scenes, at most

    @classmethod
    def of(
        cls,
        dials: Dials,
        scene_language: Language,
        latents: Mapping[str, Sequence[Latent]],
        length: float,
    ) -> "Recipe":
        """The recipe of a split, from the dials and its own values."""
        return cls(
            scene_language,
            dials.language,
            latents,
            dials.drawn_tasks,
            dials.density,
            dials.window,
            length,
            dials.most_scenes,
            dials.around,
        )


def training_recipe(dials: Dials) -> Recipe:
    """For training and validation: held-out words only occur in ordinary sentences."""
    language = dials.language
    seen = language.divided(dials.hold_out_words)[0] if dials.hold_out_words else language
    latents = {task: dials.training_latents(task) for task in dials.active_tasks}
    return Recipe.of(dials, seen, latents, dials.length)


def evaluation_recipe(dials: Dials) -> Recipe:
    """For the test: all words and distances, and perhaps another length of sentences."""
    latents = {task: dials.latents(task) for task in dials.active_tasks}
    return Recipe.of(dials, dials.language, latents, dials.test_length)


def draw_document(recipe: Recipe, seed: str) -> Document:
    """One document, decided by the seed."""
    surface = Surface(recipe.scene_language, seed, recipe.length)
    between = Surface(recipe.language, f"{seed} between", recipe.length)
    plan = _plan(recipe, surface)
    spare = LONGEST_DOCUMENT - sum(length for length, _, _ in plan)
    gaps = [0] * (len(plan) + 1)
    for _ in range(between.below(1 + min(spare, recipe.around))):
        gaps[between.below(len(gaps))] += 1
    sentences = [ordinary(between) for _ in range(gaps[0])]
    scenes = {}
    for (length, task, latent), gap in zip(plan, gaps[1:], strict=True):
        if latent is None:
            sentences += [ordinary(between) for _ in range(length)]
        else:
            scene = tell(task, latent, surface, recipe.window)
            sentences += scene.sentences
            scenes[len(sentences) - 1] = scene
        sentences += [ordinary(between) for _ in range(gap)]
    return Document(tuple(sentences), scenes, len(plan))


def draw_documents(recipe: Recipe, seed: str, count: int, taken: set[bytes]) -> Iterator[Document]:
    """Draw `count` distinct documents; neither they nor their scenes are in `taken`.

    They are added to `taken` as whole documents; see `keep_out` for their scenes.
    """
    for number in range(count):
        for attempt in range(TRIES):
            document = draw_document(recipe, f"{seed} {number} {attempt}")
            key = fingerprint(document.sentences)
            if key not in taken and not any(
                fingerprint(scene.sentences) in taken for scene in document.scenes.values()
            ):
                break
        else:
            raise UserError(
                f"no distinct document left after {number:,} of {count:,}; "
                "ask for fewer, or raise --length"
            )
        taken.add(key)
        yield document


def keep_out(documents: Iterable[Document], taken: set[bytes]) -> None:
    """Bar the scenes of these documents from all documents that are drawn later."""
    for document in documents:
        taken.update(fingerprint(scene.sentences) for scene in document.scenes.values())


def fingerprint(sentences: Iterable[Sentence]) -> bytes:
    """A hash of the source side."""
    text = "\n".join(sentence.source for sentence in sentences)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _plan(recipe: Recipe, surface: Surface) -> list[tuple[int, str, Latent | None]]:
    """Length, task and latent of each scene; an ordinary scene has no latent."""
    plan = []
    room = LONGEST_DOCUMENT
    for _ in range(1 + surface.below(recipe.scenes)):
        length, task, latent = recipe.window, "", None
        if surface.number() < recipe.density:
            task = surface.pick(recipe.tasks)
            latent = surface.pick(recipe.latents[task])
            length = scene_length(latent, recipe.window)
        room -= length
        if room < 0:
            break
        plan.append((length, task, latent))
    return plan
