"""The settings (dials) of the testbed, and checks of their combinations."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from concatmt.errors import UserError
from concatmt.settings import Settings, nearest, parse_settings
from concatmt.testbed.german import GERMAN
from concatmt.testbed.latents import SPACES, TASKS, Latent, Space
from concatmt.testbed.russian import RUSSIAN
from concatmt.testbed.surface import MOST_ADJUNCTS
from concatmt.testbed.words import Language

LANGUAGES = {language.pair: language for language in (RUSSIAN, GERMAN)}
LONGEST_DOCUMENT = 12
# Narrowed as far as the dials allow, the grammar still has more than a million documents.
MOST_DOCUMENTS = 1_000_000
MOST_WEIGHT = 100


class Dials(Settings):
    """Everything that decides what is generated."""

    pair: str = Field(description="Language pair: en-ru or en-de.")
    seed: int = Field(1, description="The same seed gives the same bytes.")
    documents: int = Field(20_000, ge=1, description="Training documents.")
    valid_documents: int = Field(500, ge=1, description="Validation documents.")
    test_documents: int = Field(500, ge=1, description="Test documents.")
    items: int = Field(
        500,
        ge=1,
        le=100_000,
        description="Least contrastive items per task, in whole passes over its latent space.",
    )
    tasks: tuple[str, ...] = Field(
        (), description="Tasks, comma-separated (default: all that the pair has)."
    )
    weights: Mapping[str, int] = Field(
        default_factory=dict,
        description="Weights of tasks, relative to 1 for the others, as in pron=3,vp=3.",
    )
    density: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of scenes (runs of K sentences) with a context-dependent sentence.",
    )
    window: int = Field(4, ge=4, le=8, description="Sentences in a window, 4 to 8.")
    scenes: int | None = Field(
        None,
        ge=1,
        description="Most scenes in a document; by default as many as fit into 12 sentences.",
    )
    around: int = Field(
        4,
        ge=0,
        le=LONGEST_DOCUMENT,
        description="Most ordinary sentences around the scenes of a document.",
    )
    distance: int | None = Field(
        None, ge=3, description="How far back a cue may be, 3 to K-1; by default K-1."
    )
    speakers: int = Field(
        2, ge=2, le=3, description="Speakers that take turns in tv and spk, 2 or 3."
    )
    length: float = Field(
        0.65, ge=0, le=MOST_ADJUNCTS, description="Mean number of adjuncts in a sentence, 0 to 3."
    )
    length_shift: float = Field(
        0.0, description="Added to --length in the test and the contrastive sets."
    )
    hold_out_distances: tuple[int, ...] = Field(
        (), description="Distances of cues that do not occur in training, comma-separated."
    )
    hold_out_words: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="Share of words, up to 0.5, that training only has in ordinary sentences.",
    )

    @property
    def language(self) -> Language:
        """The lexicon and word order of the pair."""
        return LANGUAGES[self.pair]

    @property
    def farthest(self) -> int:
        """The largest distance of a cue within the window."""
        return self.window - 1 if self.distance is None else self.distance

    @property
    def most_scenes(self) -> int:
        """Most scenes of a document; as many as fit unless the dial says fewer."""
        room = LONGEST_DOCUMENT // self.window
        return room if self.scenes is None else min(self.scenes, room)

    @property
    def test_length(self) -> float:
        """Mean number of adjuncts in test documents and contrastive items."""
        return self.length + self.length_shift

    @property
    def active_tasks(self) -> tuple[str, ...]:
        """The tasks that are generated, in the order of the card."""
        asked = self.tasks or tuple(t for t in TASKS if t not in self.language.left_out)
        return tuple(task for task in TASKS if task in asked)

    @property
    def drawn_tasks(self) -> tuple[str, ...]:
        """What scenes draw their task from; one with weight 3 is listed three times."""
        return tuple(t for t in self.active_tasks for _ in range(self.weights.get(t, 1)))

    def latents(self, task: str) -> list[Latent]:
        """The task's whole latent space."""
        language = self.language
        space = Space(
            window=self.window,
            distance=self.farthest,
            speakers=self.speakers,
            verbs=len(language.habits),
            cases=len(language.questions),
        )
        return list(SPACES[task](space))

    def training_latents(self, task: str) -> list[Latent]:
        """The latent space without the distances that are held out of training."""
        return [x for x in self.latents(task) if x.distance not in self.hold_out_distances]


def parse_dials(**values: Any) -> Dials:
    """Check values one by one and together; `None` means the default."""
    given = {key: value for key, value in values.items() if value is not None}
    dials = parse_settings(Dials, given, "testbed")
    check_dials(dials)
    return dials


def check_dials(dials: Dials) -> None:
    """Refuse dials that contradict each other."""
    for check in (_check_names, _check_sizes, _check_distances, _check_held_out):
        check(dials)


def _check_names(dials: Dials) -> None:
    if dials.pair not in LANGUAGES:
        hint = nearest(dials.pair, [*LANGUAGES])
        raise UserError(
            f"--pair {dials.pair}: unknown pair; pairs are {', '.join(LANGUAGES)}{hint}"
        )
    for option, task in [
        *(("--tasks", task) for task in dials.tasks),
        *(("--weights", task) for task in dials.weights),
    ]:
        if task not in TASKS:
            raise UserError(
                f"{option} {task}: unknown task; tasks are {', '.join(TASKS)}{nearest(task, TASKS)}"
            )
        if task in dials.language.left_out:
            reason = dials.language.left_out[task]
            raise UserError(f"{option} {task}: {dials.pair} does not have it: {reason}")

    for task, weight in dials.weights.items():
        if task not in dials.active_tasks:
            raise UserError(f"--weights {task}: not among --tasks")
        if not 1 <= weight <= MOST_WEIGHT:
            raise UserError(f"--weights {task}={weight}: give a whole number, 1 to {MOST_WEIGHT}")


def _check_sizes(dials: Dials) -> None:
    if dials.tasks and dials.density == 0:
        raise UserError(
            "--density 0 leaves no room for the tasks of --tasks; raise --density or drop --tasks"
        )
    wanted = dials.documents + dials.valid_documents + dials.test_documents
    if wanted > MOST_DOCUMENTS:
        raise UserError(
            f"{wanted:,} documents are more than the {MOST_DOCUMENTS:,} distinct ones that the "
            "grammar is sure to have; lower --documents"
        )
    if not 0 <= dials.test_length <= MOST_ADJUNCTS:
        raise UserError(
            f"--length {dials.length:g} with --length-shift {dials.length_shift:g} gives "
            f"{dials.test_length:g} adjuncts a sentence in the test; keep it 0 to {MOST_ADJUNCTS}"
        )


def _check_distances(dials: Dials) -> None:
    if dials.farthest >= dials.window:
        raise UserError(
            f"--distance {dials.farthest} reaches beyond a window of {dials.window} sentences; "
            f"lower it to {dials.window - 1}, raise --window, or use the task far"
        )


def _check_held_out(dials: Dials) -> None:
    for distance in dials.hold_out_distances:
        if not 1 <= distance <= dials.farthest:
            raise UserError(
                f"--hold-out-distances {distance}: cues stand at distances 1 to {dials.farthest}"
            )
    for task in dials.active_tasks:
        if not dials.training_latents(task):
            distances = ", ".join(map(str, sorted({x.distance for x in dials.latents(task)})))
            raise UserError(
                f"--hold-out-distances leaves nothing of {task} in training (its cues stand at "
                f"distance {distances}); hold out others or leave {task} out with --tasks"
            )
