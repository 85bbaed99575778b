"""Model directories: weights and configuration on disk, checked when they are read.

`config.json` carries the version of the format, the package's version and hashes, so that a file
that is newer, truncated or altered is refused. The text pipeline writes its own files beside these
two. Does not know what those are.
"""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

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


def save_model(
    folder: Path, model: Transformer, write_text: Callable[[Path], None] | None = None
) -> None:
    """Write a model directory at once or not at all; `write_text` adds the files of the text."""
    with atomic_folder(folder, marker=CONFIG) as temporary:
        if write_text is not None:
            write_text(temporary)
        write_model(temporary, model)


def write_model(folder: Path, model: Transformer) -> None:
    """Write the two files of `model` into an existing folder."""
    write_weights(folder / WEIGHTS, model)
    manifest = {
        "format": FORMAT,
        "concatmt": __version__,
        "system": system_name(model.config.system),
        "model": model.config.model_dump(mode="json"),
        "weights_sha256": hash_file(folder / WEIGHTS),
    }
    write_json(folder / CONFIG, {**manifest, "config_sha256": _hash(manifest)})


def write_weights(path: Path, model: Transformer) -> None:
    """Write the parameters of `model`, each once, to a safetensors file."""
    tensors = {
        name: parameter.detach().contiguous() for name, parameter in model.named_parameters()
    }
    save_tensors(path, tensors)


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors to a safetensors file; failing to write is an OSError, as for other files."""
    path.touch()
    mode = path.stat().st_mode
    try:
        save_file(tensors, path)
    except SafetensorError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error
    path.chmod(mode)  # safetensors makes files that their owner alone may read


def load_model(folder: Path) -> Transformer:
    """Read a model directory; the model is in evaluation mode."""
    manifest = _read_manifest(folder)
    config = parse_settings(ModelConfig, manifest["model"], str(folder / CONFIG))
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise UserError(f"{folder}: not a complete model directory: it has no {WEIGHTS}")
    if hash_file(weights) != manifest["weights_sha256"]:
        raise UserError(f"{weights}: truncated or altered: its hash is not the one in {CONFIG}")
    with torch.random.fork_rng(devices=[]), _Undrawn():
        model = Transformer(config)
    load_weights(weights, model)
    return model.eval()


def load_config(folder: Path) -> ModelConfig:
    """Read and check the configuration of a model directory, without its weights."""
    return parse_settings(ModelConfig, _read_manifest(folder)["model"], str(folder / CONFIG))


def load_weights(path: Path, model: Transformer) -> None:
    """Put the tensors of a safetensors file into `model`; they must be exactly the model's."""
    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise UserError(f"{path}: damaged: {error}") from error
    parameters = dict(model.named_parameters())
    for name, parameter in parameters.items():
        if name not in tensors:
            raise UserError(f"{path}: the tensor {name!r} is missing")
        if tensors[name].shape != parameter.shape:
            found, wanted = tuple(tensors[name].shape), tuple(parameter.shape)
            raise UserError(f"{path}: the tensor {name!r} has shape {found}, expected {wanted}")
    if unknown := sorted(tensors.keys() - parameters.keys()):
        raise UserError(f"{path}: has a tensor {unknown[0]!r} that the model has not")
    model.load_state_dict(tensors, strict=False, assign=True)
    model.tie()


class _Undrawn(TorchFunctionMode):
    """Leaves new tensors as they are: drawing weights that are replaced at once takes a second."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not folder.is_dir():
        recover(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such model directory")
    manifest = read_json(path, "model directory")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise UserError(f"{path}: not the configuration of a model: it states no format")
    if manifest["format"] > FORMAT:
        raise UserError(
            f"{path}: format {manifest['format']}, written by concatmt"
            f" {manifest.get('concatmt', 'of a later version')}; this is concatmt {__version__},"
            f" which reads up to format {FORMAT}: update it"
        )
    stated = manifest.pop("config_sha256", None)
    if stated != _hash(manifest) or not {"model", "weights_sha256"} <= manifest.keys():
        raise UserError(f"{path}: altered since it was written: its own hash does not fit")
    return manifest


def _hash(manifest: dict[str, Any]) -> str:
    return hash_text(json.dumps(manifest, sort_keys=True, ensure_ascii=False))
