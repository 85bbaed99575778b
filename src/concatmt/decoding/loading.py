"""Loads a model directory: engine, text pipeline, and its part of signatures."""

from dataclasses import dataclass, field
from pathlib import Path

from concatmt.decoding.engine import Engine
from concatmt.decoding.threads import one_core
from concatmt.errors import UserError
from concatmt.files import read_json
from concatmt.model.card import UNTRAINED, read_origin
from concatmt.model.directory import CONFIG, RUN_DESCRIPTION, RUN_MODEL, load_model
from concatmt.model.systems import system_name
from concatmt.signature import Value
from concatmt.text.pipeline import TextPipeline

HASH_DIGITS = 12


@dataclass(frozen=True)
class LoadedModel:
    """What is needed to translate and to score."""

    engine: Engine
    text: TextPipeline
    identity: dict[str, Value]  # the first keys of every signature
    notes: list[str] = field(default_factory=list)  # what its user should know

    @classmethod
    def load(cls, folder: Path, int8: bool = False) -> "LoadedModel":
        """Read and check a model directory, or the one in the directory of a training run."""
        folder = model_folder(folder)
        model = load_model(folder)
        text = TextPipeline.load(folder / "text")
        sizes = len(text.source), len(text.target)
        config = model.config
        if sizes != (config.source_vocabulary, config.target_vocabulary):
            raise UserError(
                f"{folder}: the text pipeline has {sizes[0]} and {sizes[1]} ids, the model"
                f" {config.source_vocabulary} and {config.target_vocabulary}: they do not belong"
                " together"
            )
        weights = read_json(folder / CONFIG, "model directory")["weights_sha256"]
        identity: dict[str, Value] = {
            "system": system_name(config.system),
            "model": weights[:HASH_DIGITS],
            "precision": "int8" if int8 else str(model.output.weight.dtype).removeprefix("torch."),
        }
        # On a busy machine threads would wait for each other longer than they work.
        with one_core():
            engine = Engine(model, int8)
        origin = read_origin(folder)
        trained = origin is None or origin.trained_on_windows
        return cls(engine, text, identity, [] if trained else [UNTRAINED])


def model_folder(folder: Path) -> Path:
    """A model directory, or the one in the directory of a training run."""
    if not (folder / CONFIG).is_file() and (folder / RUN_MODEL / CONFIG).is_file():
        folder = folder / RUN_MODEL
    _explain(folder)
    return folder


def _explain(folder: Path) -> None:
    """Raise an error that says what was given instead of a model directory, if known."""
    if folder.is_file():
        raise UserError(
            f"{folder}: a file where a model directory is expected; the model comes first"
        )
    if not (folder / CONFIG).is_file() and (folder / RUN_DESCRIPTION).is_file():
        raise UserError(
            f"{folder}: a training run that has no model yet; let `concatmt train` finish it"
        )
