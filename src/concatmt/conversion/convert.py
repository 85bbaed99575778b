"""Converts a foreign model into a model directory, or a model directory into another format.

Recognises what a path holds: a model of ours, or one of the foreign formats.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from concatmt import __version__
from concatmt.conversion.config import ImportConfig
from concatmt.conversion.ctranslate2 import export_ctranslate2
from concatmt.conversion.fairseq import import_fairseq
from concatmt.conversion.hugging_face import CONFIG, import_hugging_face, is_marian_directory
from concatmt.conversion.imported import Imported, save_imported
from concatmt.conversion.marian import import_marian, is_marian_model
from concatmt.conversion.to_hugging_face import export_hugging_face
from concatmt.errors import UserError
from concatmt.files import read_json
from concatmt.model.adapt import with_system
from concatmt.model.card import read_origin
from concatmt.model.directory import RUN_MODEL, load_model
from concatmt.model.systems import parse_system, system_name
from concatmt.text.marian import MarianConfig
from concatmt.text.pipeline import TextPipeline

KNOWN = (
    "known are MarianMT directories of Hugging Face, Marian's models (a folder, a zip or an npz)"
    " and fairseq checkpoints (.pt)"
)


def is_own(folder: Path) -> bool:
    """Whether a path is a model directory of ours."""
    if not (folder / CONFIG).is_file():
        return False
    config = read_json(folder / CONFIG, "model directory")
    return isinstance(config, dict) and "format" in config


def own_model(path: Path) -> Path:
    """The model directory at `path`, or the one of the training run there."""
    for folder in (path, path / RUN_MODEL):
        if is_own(folder):
            return folder
    raise UserError(f"{path}: no model directory; only those can be exported (--to)")


def check_output(path: Path, output: Path, to: str | None) -> None:
    """Refuse to write over the input or over a model of another kind."""
    if output.exists() and output.resolve() == path.resolve():
        raise UserError(f"{output}: give another folder for the output than for the input")
    if (is_own(output) and to is not None) or (is_marian_directory(output) and to is None):
        raise UserError(f"{output}: holds a model of another kind; choose another output")


def import_model(path: Path, config: ImportConfig) -> Imported:
    """Import the model at `path`, in whatever format, for the requested system."""
    imported = _import(path, config)
    origin = imported.origin.after(f"imported by concatmt {__version__}")
    imported = replace(imported, origin=origin)
    return imported if config.system is None else _for_system(imported, config)


def _import(path: Path, config: ImportConfig) -> Imported:
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    text = MarianConfig(normalise=config.normalise or "opus", label=config.label)
    if is_marian_directory(path):
        _refuse(path, config, "source_dict", "target_dict")
        return import_hugging_face(path, config.positions, text)
    if is_own(path):
        raise UserError(f"{path}: already a model of concatmt; give --to to export it")
    if is_marian_model(path):
        _refuse(path, config, "source_dict", "target_dict", "positions")
        return import_marian(path, text)
    if path.suffix not in (".pt", ".pth") and config.source_dict is None:
        raise UserError(f"{path}: not a model that can be converted; {KNOWN}")
    _refuse(path, config, "positions", "label", "normalise")
    if config.source_dict is None or config.target_dict is None:
        raise UserError(
            f"{path}: a fairseq checkpoint needs --source-dict and --target-dict, its dict.*.txt"
        )
    return import_fairseq(path, config.source_dict, config.target_dict)


def _refuse(path: Path, config: ImportConfig, *names: str) -> None:
    """Refuse options that do not apply to this format."""
    for name in names:
        if getattr(config, name) is not None:
            flag = name.replace("_", "-")
            raise UserError(f"{path}: --{flag} does not apply to models of this format")


def _for_system(imported: Imported, config: ImportConfig) -> Imported:
    """The model for another system; single sentences become windows, untrained."""
    assert config.system is not None
    system, old = parse_system(config.system), imported.model.config.system
    if system == old:
        return imported
    if system.sentences < old.sentences:
        raise UserError(
            f"--system {config.system}: the model already has windows of {old.sentences} sentences"
        )
    model = with_system(imported.model, system, config.separator, None)
    step = f"made ready for {system_name(system)}"
    if old.sentences == 1:
        step += f" with a separator that starts as {config.separator}"
    trained = imported.origin.trained_on_windows and old.sentences > 1
    return replace(
        imported, model=model, origin=imported.origin.after(step, trained_on_windows=trained)
    )


Target = Literal["huggingface", "ctranslate2"]


def convert_in(path: Path, output: Path, config: ImportConfig) -> Imported:
    """Write the model directory of a foreign model."""
    check_output(path, output, None)
    imported = import_model(path, config)
    save_imported(imported, output)
    return imported


def convert_out(path: Path, output: Path, to: Target, quantization: str | None = None) -> None:
    """Write a model directory of ours in another format."""
    check_output(path, output, to)
    if quantization is not None and to != "ctranslate2":
        raise UserError("--quantization: only applies with --to ctranslate2")
    folder = own_model(path)
    model, text = load_model(folder), TextPipeline.load(folder / "text")
    if to == "huggingface":
        export_hugging_face(model, text, output, read_origin(folder), folder)
    else:
        export_ctranslate2(model, text, output, quantization)
