"""What is compared: training runs and model directories, as they are named on a command line.

Says which runs are finished. Does not load weights.
"""

import fcntl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from concatmt.decoding.loading import HASH_DIGITS, RUN_MODEL
from concatmt.errors import UserError
from concatmt.evaluation.given import Given
from concatmt.files import hash_text, read_json
from concatmt.model.config import ModelConfig
from concatmt.model.directory import CONFIG, load_config
from concatmt.model.systems import system_name
from concatmt.text.pipeline import TextPipeline
from concatmt.training.ending import Ending, ending_of_run, read_ending
from concatmt.training.run import DESCRIPTION, Run


@dataclass(frozen=True, slots=True)
class Member:
    """One trained model: a seed of a system."""

    label: str  # the candidate's name, with a number if there are several seeds
    path: Path  # as it was given
    model: Path  # the model directory
    config: ModelConfig
    key: str  # hash of the weights and of the text pipeline
    metrics: tuple[dict[str, Any], ...]  # of its training, if it was given as a run
    ending: Ending | None = None  # why its training ended, if that is known

    @property
    def system(self) -> str:
        """Its name in the paper's notation."""
        return system_name(self.config.system)

    @property
    def sees_context(self) -> bool:
        """Whether there is context in its windows."""
        return self.config.system.sentences > 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A system with one model for each seed."""

    name: str
    members: tuple[Member, ...]


def read_candidates(given: Sequence[Given]) -> list[Candidate]:
    """Find the models; a system without a name is called by the paper's notation."""
    found = []
    for one in given:
        members = [_member(path) for path in one.files]
        name = one.name or members[0].system
        for place, member in enumerate(members, start=1):
            if member.system != members[0].system:
                raise UserError(
                    f"{member.path}: is of system {member.system}, but {members[0].path}, given as"
                    f" another seed of it, of {members[0].system}; separate systems by a space"
                )
            label = name if len(members) == 1 else f"{name} #{place}"
            members[place - 1] = replace(member, label=label)
        found.append(Candidate(name, tuple(members)))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two systems are called {name!r}; name them, as in NAME=RUN")
    return found


def languages_of(candidates: Sequence[Candidate]) -> tuple[str, str]:
    """Source and target language, which all systems must share."""
    found = []
    for candidate in candidates:
        for member in candidate.members:
            found.append((member, TextPipeline.load(member.model / "text").settings.languages))
    first, languages = found[0]
    for member, others in found:
        if others != languages:
            raise UserError(
                f"{member.path}: translates {others.source}-{others.target}, but {first.path}"
                f" {languages.source}-{languages.target}; compare systems of one language pair"
            )
    return languages.source, languages.target


def _member(path: Path) -> Member:
    if not path.is_dir():
        raise UserError(f"{path}: no such folder; give training runs or model directories")
    model: Path = path
    metrics: tuple[dict[str, Any], ...] = ()
    if not (path / CONFIG).is_file():
        model, metrics = _finished(path)
    weights = read_json(model / CONFIG, "model directory")["weights_sha256"]
    config = load_config(model)
    if not (model / "text").is_dir():
        raise UserError(f"{model}: not a complete model directory: it has no text pipeline")
    key = hash_text(weights + TextPipeline.fingerprint(model / "text"))[:HASH_DIGITS]
    ending = read_ending(model)
    if ending is None and metrics:
        ending = ending_of_run(Run(path))
    return Member("", path, model, config, key, metrics, ending)


def _finished(path: Path) -> tuple[Path, tuple[dict[str, Any], ...]]:
    """The model and the metrics of a training run that has come to its end."""
    if not (path / DESCRIPTION).is_file():
        raise UserError(
            f"{path}: neither a training run nor a model directory: it has no {DESCRIPTION} and no"
            f" {CONFIG}"
        )
    metrics = tuple(Run(path).metrics())
    trained = metrics[-1]["update"] if metrics else 0
    if _held(path / "lock"):
        raise UserError(f"{path}: is being trained (update {trained:,}); wait until it is finished")
    if not (path / RUN_MODEL / CONFIG).is_file():
        raise UserError(
            f"{path}: the training is not finished (update {trained:,}): it has no averaged model;"
            " start the same 'concatmt train' again, it goes on from there"
        )
    return path / RUN_MODEL, metrics


def _held(lock: Path) -> bool:
    """Whether a process is training in the folder of this lock."""
    if not lock.is_file():
        return False
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
