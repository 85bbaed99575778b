"""A scene: one context-dependent sentence with all sentences of its window.

A scene is at least K sentences long, so that the window of its last sentence never reaches into
what came before it: no cue of one phenomenon can disturb another.
"""

from dataclasses import dataclass

from concatmt.testbed.latents import Latent
from concatmt.testbed.phenomena import PHENOMENA
from concatmt.testbed.sentences import plain
from concatmt.testbed.surface import Choice, Sentence, Surface


@dataclass(frozen=True, slots=True)
class Scene:
    """A latent put into words; the current sentence is the last."""

    task: str
    latent: Latent
    context: tuple[Sentence, ...]
    current: Choice

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences, with the right translation of the current one."""
        return (*self.context, self.current.take(self.latent.label))


def scene_length(latent: Latent, window: int) -> int:
    """Number of sentences of the latent's scene."""
    return 1 + max(window - 1, *latent.cues)


def tell(task: str, latent: Latent, surface: Surface, window: int) -> Scene:
    """Put a latent into words; a distance without a cue gets a plain sentence."""
    cues, current = PHENOMENA[task](latent, surface)
    distances = range(scene_length(latent, window) - 1, 0, -1)
    context = tuple(cues[d] if d in cues else plain(surface) for d in distances)
    return Scene(task, latent, context, current)
