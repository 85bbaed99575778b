"""Model directories: writes weights and configuration, and checks them when reading.

`config.json` carries the version of the format, the package's version and hashes, so that a file
that is newer, truncated or altered is refused. The text pipeline writes its own files beside these
two. Does not know what is in those.
"""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.files import atomic_folder, hash_file, hash_text, read_json, recover, write_json
from concatmt.model.config import ModelConfig
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.settings import parse_settings

FORMAT = 1
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TEXT = "text"  # the folder of the text pipeline
RUN_MODEL, RUN_DESCRIPTION = "model", "run.json"  # in the directory of a training run


def save_model(
    folder: Path, model: Transformer, write_text: Callable[[Path], None] | None = None
) -> None:
    """Write a model directory atomically; `write_text` adds the files of the text."""
    with atomic_folder(folder, marker=CONFIG) as temporary:
        if write_text is not None:
            write_text(temporary)
        write_model(temporary, model)


def write_model(folder: Path, model: Transformer) -> None:
    """Write the two files of `model` into an existing folder, with hashes of its text."""
    write_weights(folder / WEIGHTS, model)
    text = sorted(path for path in (folder / TEXT).rglob("*") if path.is_file())
    manifest = {
        "format": FORMAT,
        "concatmt": __version__,
        "system": system_name(model.config.system),
        "model": model.config.model_dump(mode="json"),
        "weights_sha256": hash_file(folder / WEIGHTS),
        "text_sha256": {str(path.relative_to(folder)): hash_file(path) for path in text},
    }
    write_json(folder / CONFIG, {**manifest, "config_sha256": _hash(manifest)})


def write_weights(path: Path, model: Transformer) -> None:
    """Write the parameters of `model`, each once, to a safetensors file."""
    tensors = {
        name: parameter.detach().contiguous() for name, parameter in model.named_parameters()
    }
    save_tensors(path, tensors)


def save_tensors(
    path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file; a failed write is an OSError, as for other files."""
    path.touch()
    mode = path.stat().st_mode
    try:
        save_file(tensors, path, metadata)
    except SafetensorError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error
    path.chmod(mode)  # safetensors makes files that only their owner may read


def load_model(folder: Path) -> Transformer:
    """Read a model directory; the model is in evaluation mode."""
    manifest = _read_manifest(folder)
    config = parse_settings(ModelConfig, manifest["model"], str(folder / CONFIG))
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise UserError(f"{folder}: not a complete model directory: it has no {WEIGHTS}")
    if hash_file(weights) != manifest["weights_sha256"]:
        raise UserError(f"{weights}: truncated or altered: its hash is not the one in {CONFIG}")
    _check_text(folder, manifest.get("text_sha256", {}))
    _check_layers(weights, config)
    # Allocate no memory before the tensors are read: wrong sizes cost nothing.
    with torch.device("meta"):
        model = Transformer(config)
    load_weights(weights, model)
    return model.eval()


def _check_text(folder: Path, hashes: dict[str, str]) -> None:
    """Check the text's files; directories of earlier versions have no hashes of them."""
    for name, expected in hashes.items():
        path = folder / name
        if not path.is_file():
            raise UserError(f"{folder}: not a complete model directory: it has no {name}")
        if hash_file(path) != expected:
            raise UserError(f"{path}: truncated or altered: its hash is not the one in {CONFIG}")


def _check_layers(path: Path, config: ModelConfig) -> None:
    """Refuse a configuration with more layers than tensors before building the model."""
    try:
        with safe_open(path, framework="pt") as file:
            count = len(list(file.keys()))
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: damaged: {error}") from error
    layers = config.architecture.encoder.layers + config.architecture.decoder.layers
    if layers > count:
        raise UserError(f"{path}: has {count} tensors, too few for the {layers} layers of {CONFIG}")


def load_config(folder: Path) -> ModelConfig:
    """Read and check the configuration of a model directory, without its weights."""
    return parse_settings(ModelConfig, _read_manifest(folder)["model"], str(folder / CONFIG))


def load_weights(path: Path, model: Transformer) -> None:
    """Load a safetensors file into `model`; the tensors must be exactly the model's."""
    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise UserError(f"{path}: damaged: {error}") from error
    parameters = dict(model.named_parameters())
    for name, parameter in parameters.items():
        if name not in tensors:
            raise UserError(f"{path}: the tensor {name!r} is missing")
        if tensors[name].shape != parameter.shape:
            shape, wanted = tuple(tensors[name].shape), tuple(parameter.shape)
            raise UserError(f"{path}: the tensor {name!r} has shape {shape}, expected {wanted}")
        if not tensors[name].is_floating_point():
            raise UserError(f"{path}: the tensor {name!r} is of type {tensors[name].dtype}")
        if not bool(tensors[name].isfinite().all()):
            raise UserError(f"{path}: the tensor {name!r} has values that are not finite")
    if unknown := sorted(tensors.keys() - parameters.keys()):
        raise UserError(f"{path}: has a tensor {unknown[0]!r} that the model lacks")
    model.load_state_dict(tensors, strict=False, assign=True)
    model.tie()


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not folder.is_dir():
        recover(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such model directory")
    manifest = read_json(path, "model directory")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise UserError(f"{path}: not the configuration of a model: it has no format")
    if manifest["format"] > FORMAT:
        raise UserError(
            f"{path}: format {manifest['format']}, written by concatmt"
            f" {manifest.get('concatmt', 'of a later version')}; this is concatmt {__version__},"
            f" which reads up to format {FORMAT}: update it"
        )
    stated = manifest.pop("config_sha256", None)
    if stated != _hash(manifest) or not {"model", "weights_sha256"} <= manifest.keys():
        raise UserError(f"{path}: altered since it was written: its hash does not match")
    return manifest


def _hash(manifest: dict[str, Any]) -> str:
    return hash_text(json.dumps(manifest, sort_keys=True, ensure_ascii=False))
