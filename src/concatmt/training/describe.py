"""Writes the card of a trained model: origin, data, recipe, results.

Does not know how cards look.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from concatmt import __version__
from concatmt.corpus.store import Store
from concatmt.model.card import Origin, carry_papers, read_origin, write_card
from concatmt.model.systems import system_name
from concatmt.training.config import TrainingConfig

if TYPE_CHECKING:
    from concatmt.training.train import Task
    from concatmt.training.trainer import Trainer

HASH_DIGITS = 12


def write_training_card(folder: Path, task: "Task", trainer: "Trainer", store: Store) -> None:
    """Write the card of a finished run's model into its folder."""
    start, state = task.training.warm_start, trainer.state
    origin = None if start is None else read_origin(start)
    if origin is None:
        made_from = "random weights" if start is None else f"the model {start.resolve().name}"
        origin = Origin(made_from=made_from, licence="that of the training data, or stricter")
    how = "trained" if start is None else "fine-tuned"
    step = (
        f"{how} as {system_name(task.system)} by concatmt {__version__} in {state.update:,} updates"
        f" on the store {store.hash[:HASH_DIGITS]}"
    )
    if start is not None:
        carry_papers(start, folder)
    languages = store.text.settings.languages
    train = store.split("train")
    facts = {
        "data": f"store {store.hash[:HASH_DIGITS]}: {len(train):,} sentence pairs in"
        f" {len(train.documents) - 1:,} documents",
        "recipe": recipe(task.training, task.seed),
    }
    write_card(
        folder,
        (languages.source, languages.target),
        trainer.model.config,
        origin.after(step, trained_on_windows=True),
        facts,
        figures(trainer),
    )


def recipe(training: TrainingConfig, seed: int) -> str:
    """The most important settings, in one line."""
    optimiser = training.optimiser
    parts = [
        f"{optimiser.method}, peak rate {optimiser.learning_rate:g}, warm-up {optimiser.warmup:,}",
        f"{training.tokens_per_update:,} tokens an update",
        f"label smoothing {training.loss.label_smoothing:g}",
        f"{training.discounting} discount",
        "random context" if training.batch.random_context else "full context",
        "" if training.warm_start is None else f"embeddings trained: {training.tuning.embeddings}",
        f"mean of {training.average} checkpoints at most",
        f"seed {seed}",
    ]
    return "; ".join(part for part in parts if part)


def figures(trainer: "Trainer") -> dict[str, str]:
    """What the best validation measured, and the one before training where there was one."""
    records = trainer.reporter.run.metrics()
    start = next((r for r in records if r["kind"] == "start"), {})
    update = trainer.state.validations[trainer.state.best]
    best = next((r for r in records if r["kind"] == "valid" and r["update"] == update), {})
    names = {
        "current": "validation loss of the current sentence, nats a token",
        "alone": "the same without context",
        "bleu": "BLEU of some validation documents",
        "chrf": "chrF of the same",
    }
    return {
        name: f"{best[key]:.3f} at update {update:,}"
        + (f" (before training {start[key]:.3f})" if key in start else "")
        for key, name in names.items()
        if key in best
    }
