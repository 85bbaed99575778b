"""Carries out a training run: build the model, train, average, write a model directory."""

import shutil
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError

from concatmt.corpus.statistics import Statistics
from concatmt.corpus.store import Store
from concatmt.corpus.windows import Windows
from concatmt.errors import UserError
from concatmt.model.adapt import take_weights
from concatmt.model.config import Architecture, ModelConfig, SystemConfig
from concatmt.model.directory import CONFIG, load_config, load_model, save_model
from concatmt.model.products import Library, has_onednn, library, using
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import TextPipeline
from concatmt.training.config import TrainingConfig, TuningConfig
from concatmt.training.describe import write_training_card
from concatmt.training.ending import ending_of, write_ending
from concatmt.training.forecast import Forecast, advice
from concatmt.training.processes import Processes
from concatmt.training.reporter import draw_curves
from concatmt.training.run import Run, provenance
from concatmt.training.samples import Samples, TranslateSamples
from concatmt.training.trainer import Trainer

SEEDS = 2**63
PARTIAL_MODEL = "partial-model"  # so named that nothing takes it for the run's result


@dataclass(frozen=True)
class Task:
    """What to train."""

    data: Path
    system: SystemConfig
    architecture: Architecture
    training: TrainingConfig
    seed: int

    def __post_init__(self) -> None:
        if not 0 <= self.seed < SEEDS:
            raise UserError(f"seed {self.seed}: must be from 0 to 2^63 - 1")


def make_task(
    data: Path,
    system: SystemConfig,
    architecture: Architecture,
    training: TrainingConfig,
    seed: int,
    init: Path | None = None,
) -> Task:
    """Make a task from settings; with a model to start from, its sizes are used.

    `init` is the same as `training.warm_start`. `architecture` may then only change dropout.
    """
    if init is not None:
        if training.warm_start not in (None, init):
            raise UserError(f"--init {init}: training.warm_start is {training.warm_start}")
        training = training.model_copy(update={"warm_start": init})
    start = training.warm_start
    if start is None:
        return Task(data, system, architecture, training, seed)
    if not (start / CONFIG).is_file():
        raise UserError(f"training.warm_start: {start}: no such model directory")
    theirs = load_config(start).architecture
    given = {name: getattr(architecture, name) for name in architecture.model_fields_set}
    for name, value in given.items():
        if "dropout" not in name and value != getattr(theirs, name):
            raise UserError(
                f"model.{name}: {start}, which training starts from, has another; leave it out"
            )
    return Task(data, system, theirs.model_copy(update=given), training, seed)


def train(task: Task, output: Path, translate: TranslateSamples | None = None) -> bool:
    """Train `task` in the run directory `output`; False if it was asked to stop before the end.

    Validations use `translate` for the documents of `training.samples`.
    """
    processes = Processes.join(task.training.device)
    run = Run(output)
    try:
        held = run.locked() if processes.first else nullcontext()
        with held, using(_library(run, processes)):
            return _train(task, run, processes, translate)
    finally:
        processes.leave()


def _library(run: Run, processes: Processes) -> Library:
    """The matrix library: the one that the run started with, or the fastest one here.

    The libraries round differently, so a resumed run keeps its own.
    """
    by_onednn = False
    if processes.first:
        # Before this was recorded there was only BLAS.
        name = run.description().get("products", "blas") if run.begun else library()
        by_onednn = name == "onednn" and has_onednn()
    told = processes.sum(torch.tensor(int(by_onednn), device=processes.device))
    return "onednn" if told else "blas"


def _train(task: Task, run: Run, processes: Processes, translate: TranslateSamples | None) -> bool:
    store = Store.open(task.data)
    settings = {
        "system": system_name(task.system),
        "seed": task.seed,
        "data": store.hash,
        "model": task.architecture.model_dump(mode="json"),
        "training": task.training.model_dump(mode="json"),
    }
    if processes.first:
        defaults = {
            "model": Architecture().model_dump(mode="json"),
            "training": TrainingConfig().model_dump(mode="json"),
        }
        run.check(settings, defaults)
    windows = Windows.of(store.split("train"), task.system.sentences)
    valid = Windows.of(store.split("valid"), task.system.sentences)
    torch.manual_seed(task.seed)
    model = build_model(store, task)
    trainer = Trainer(
        run,
        model,
        task.training,
        windows,
        valid,
        task.seed,
        processes,
        make_samples(store, task.training, translate) if processes.first else None,
    )
    if processes.first:
        facts = {**provenance(), "products": library()}
        run.describe(settings, facts)  # last, so that a failed start leaves nothing
    _announce(task, trainer, len(windows))
    say = trainer.reporter.say
    reason = trainer.run()
    if reason is None:
        saved = trainer.checkpoints.all()[-1:]
        place = f"update {saved[0].update:,}" if saved else "the start"
        say(f"stopped after update {trainer.state.update:,}; the same command resumes from {place}")
        if trainer.from_keyboard:
            raise KeyboardInterrupt
        return False
    if processes.first:
        _finish(task, run, trainer, store, reason)
        best = trainer.state.best
        say(
            f"finished: {reason}; best {task.training.stop_metric}"
            f" {trainer.state.values[best]:.4f} at update {trainer.state.validations[best]:,};"
            f" {run.model} is {_origin(trainer.wanted())}"
        )
        try:
            if not draw_curves(run):
                say("no learning curves drawn: install concatmt[plots] for them")
        except OSError as error:
            trainer.reporter.warn(f"no learning curves drawn: {error.strerror or error}")
    return True


def make_samples(
    store: Store, config: TrainingConfig, translate: TranslateSamples | None
) -> Samples | None:
    """The sample documents of validations, if configured."""
    if not config.samples.documents:
        return None
    if translate is None:
        raise UserError("training.samples: no function that translates was given; leave it out")
    return Samples(store, config.samples, translate)


def _announce(task: Task, trainer: Trainer, windows: int) -> None:
    """Print what will be done, how long it will take, and what would be faster."""
    say = trainer.reporter.say
    say(f"{system_name(task.system)}: {windows:,} windows, {trainer.batches} batches an update")
    if trainer.stream.plan.skipped:
        say(f"skipping {trainer.stream.plan.skipped:,} windows longer than a batch")
    for line in Forecast.measure(trainer).lines(trainer):
        say(line)
    if hints := advice(trainer):
        say("what would be faster:")
        for hint in hints:
            say(f"  {hint}")


def _finish(task: Task, run: Run, trainer: Trainer, store: Store, reason: str) -> None:
    """Write the averaged model; if a checkpoint is missing, do not make it the run's model."""

    def write_text(folder: Path) -> None:
        shutil.copytree(store.folder / "text", folder / "text")
        write_ending(folder, ending_of(trainer.state, task.training, reason))
        write_training_card(folder, task, trainer, store)

    wanted = trainer.wanted()
    usable = [update for update in wanted if trainer.checkpoints.usable(update)]
    if usable == wanted:
        trainer.checkpoints.average(usable, trainer.model)
        save_model(run.model, trainer.model, write_text)
        return
    missing = [update for update in wanted if update not in usable]
    problem = f"{run.folder}: {_checkpoints(missing)} missing or damaged, so no model is made"
    if trainer.checkpoints.newest() < missing[0]:
        raise UserError(
            f"{problem}; make room on the disk and run the same command again, which repeats the"
            " updates that were lost"
        )
    if usable:
        trainer.checkpoints.average(usable, trainer.model)
        save_model(run.folder / PARTIAL_MODEL, trainer.model, write_text)
        problem += f" but {PARTIAL_MODEL}, which is {_origin(usable)}"
    raise UserError(f"{problem}; train in another folder for the whole one")


def build_model(store: Store, task: Task) -> Transformer:
    """A new model for the store's vocabularies, possibly with the weights of another."""
    statistics = Statistics.from_json(store.split("train").statistics)
    try:
        config = ModelConfig(
            architecture=task.architecture,
            system=task.system,
            source_vocabulary=len(store.text.source),
            target_vocabulary=len(store.text.target),
            sentence_length=statistics.source_words.mean,
        )
    except ValidationError as error:
        raise UserError(
            f"model: {error.errors()[0]['msg'].removeprefix('Value error, ')}"
        ) from error
    model = Transformer(config)
    if task.training.warm_start is not None:
        warm_start(model, task.training, store)
    elif task.training.tuning != TuningConfig():
        raise UserError("training.tuning: needs a model to start from; give one with --init")
    return model


def warm_start(model: Transformer, training: TrainingConfig, store: Store) -> None:
    """Take the weights of another model; see `take_weights`."""
    folder = training.warm_start
    assert folder is not None
    if not (folder / CONFIG).is_file():
        raise UserError(f"training.warm_start: {folder}: no such model directory")
    theirs = TextPipeline.fingerprint(folder / "text") if (folder / "text").is_dir() else None
    if theirs != TextPipeline.fingerprint(store.folder / "text"):
        raise UserError(
            f"{folder}: made with another vocabulary than {store.folder}; prepare the data with"
            f" --text {folder}"
        )
    take_weights(model, load_model(folder), training.tuning.separator, str(folder))


def _origin(updates: list[int]) -> str:
    """What a model is made of."""
    return f"{'the average of the ' if len(updates) > 1 else ''}{_checkpoints(updates)}"


def _checkpoints(updates: list[int]) -> str:
    """Checkpoints by update, for messages."""
    names = " + ".join(f"{update:,}" for update in updates)
    return f"checkpoint{'s' if len(updates) > 1 else ''} {names}"
