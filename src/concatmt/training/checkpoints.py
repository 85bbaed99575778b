"""Checkpoints of a run: written atomically, verified when read, few on disk.

A checkpoint is a folder: `model.safetensors`, `optimiser.safetensors` and `state.json` with the
hashes of both and its own. Older checkpoints that averaging may still need keep their model only.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from concatmt.errors import UserError
from concatmt.files import (
    atomic_folder,
    hash_file,
    hash_text,
    read_json,
    remove_folder,
    remove_leftovers,
    write_json,
)
from concatmt.model.directory import save_tensors, write_weights
from concatmt.model.transformer import Transformer
from concatmt.settings import Settings, parse_settings
from concatmt.training.state import TrainingState

STATE, MODEL, OPTIMISER = "state.json", "model.safetensors", "optimiser.safetensors"
OWN_HASH = "state_sha256"
KEEP_LAST = 2  # complete checkpoints: the newest, and one to fall back on

Count = Annotated[int, Field(ge=0)]


class Place(Settings):
    """The position of the stream of batches."""

    seed: Count
    epoch: Count
    next: Count


class State(Settings):
    """The content of `state.json`: all state except the tensors."""

    training: TrainingState
    stream: Place
    scaler: dict[str, float | int]
    update: Count
    sha256: dict[str, str]


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint, by the number of updates that went into it."""

    folder: Path

    @property
    def update(self) -> int:
        """The update after which it was made."""
        return int(self.folder.name)


class Checkpoints:
    """The checkpoints of a run directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Checkpoint]:
        """All checkpoints on disk, oldest first."""
        if not self.folder.is_dir():
            return []
        names = sorted(p.name for p in self.folder.iterdir() if p.name.isdecimal())
        return [Checkpoint(self.folder / name) for name in names]

    def newest(self) -> int:
        """The update that a run would resume after; 0 if there is no complete checkpoint."""
        updates = (checkpoint.update for checkpoint in reversed(self.all()))
        return next((u for u in updates if self.usable(u, (MODEL, OPTIMISER))), 0)

    def at(self, update: int) -> Checkpoint:
        """The checkpoint of an update, on disk or to be written."""
        return Checkpoint(self.folder / f"{update:08d}")

    def write(
        self,
        update: int,
        model: Transformer,
        parameters: Mapping[str, nn.Parameter],
        optimisers: Sequence[torch.optim.Optimizer],
        state: dict[str, Any],
    ) -> None:
        """Write a complete checkpoint; `parameters` are those that the optimisers step."""
        # A damaged checkpoint may lack any file: anything under this name is replaced.
        with atomic_folder(self.at(update).folder, marker=None) as folder:
            write_weights(folder / MODEL, model)
            save_tensors(folder / OPTIMISER, _optimiser_tensors(parameters, optimisers))
            hashes = {name: hash_file(folder / name) for name in (MODEL, OPTIMISER)}
            state = {**state, "update": update, "sha256": hashes}
            write_json(folder / STATE, {**state, OWN_HASH: _hash(state)})

    def restore(
        self,
        model: Transformer,
        parameters: Mapping[str, nn.Parameter],
        optimisers: Sequence[torch.optim.Optimizer],
    ) -> State | None:
        """Load the newest intact checkpoint; None if there is none.

        Skip a damaged one with a warning.
        """
        if self.folder.is_dir():
            remove_leftovers(self.folder)
        checkpoints = self.all()
        complete = [
            checkpoint
            for place, checkpoint in enumerate(reversed(checkpoints))
            if place < KEEP_LAST or (checkpoint.folder / OPTIMISER).exists()
        ]
        for checkpoint in complete:
            try:
                state = self._verified(checkpoint, (MODEL, OPTIMISER))
                weights = _weights(checkpoint.folder / MODEL, model)
                moments = _moments(checkpoint.folder / OPTIMISER, parameters, optimisers)
            except UserError as error:
                print(f"warning: {error}; taking the one before it", file=sys.stderr)
                continue
            _copy(weights, model)
            _load_optimiser(moments, optimisers)
            return state
        if complete:
            raise UserError(f"{self.folder}: all checkpoints are damaged; start a new run")
        return None

    def prune(self, needed: Iterable[int]) -> None:
        """Remove what neither resuming nor averaging (of the updates `needed`) can still use."""
        wanted = set(needed)
        for checkpoint in self.all()[:-KEEP_LAST]:
            if checkpoint.update in wanted:
                (checkpoint.folder / OPTIMISER).unlink(missing_ok=True)
            else:
                remove_folder(checkpoint.folder)

    def usable(self, update: int, names: tuple[str, ...] = (MODEL,)) -> bool:
        """Whether files of a checkpoint exist and are intact."""
        try:
            self._verified(self.at(update), names)
        except UserError:
            return False
        return True

    def average(self, updates: Iterable[int], model: Transformer) -> None:
        """Put the mean of the weights of some checkpoints into `model`."""
        sums: dict[str, Tensor] = {}
        count = 0
        for update in updates:
            checkpoint = self.at(update)
            self._verified(checkpoint, (MODEL,))
            for name, tensor in _weights(checkpoint.folder / MODEL, model).items():
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
            count += 1
        _copy({name: total / count for name, total in sums.items()}, model)

    def _verified(self, checkpoint: Checkpoint, names: tuple[str, ...]) -> State:
        values = read_json(checkpoint.folder / STATE, "checkpoint")
        # Checkpoints of earlier versions have no hash of their own.
        own = values.pop(OWN_HASH, None) if isinstance(values, dict) else None
        if not isinstance(values, dict) or (own is not None and own != _hash(values)):
            raise UserError(f"{checkpoint.folder / STATE}: damaged: it was changed")
        state = parse_settings(State, values, str(checkpoint.folder / STATE))
        for name in names:
            path = checkpoint.folder / name
            if not path.is_file():
                raise UserError(f"{path}: missing")
            if hash_file(path) != state.sha256.get(name):
                raise UserError(f"{path}: damaged: its hash is not the one in {STATE}")
        return state


def _hash(state: dict[str, Any]) -> str:
    return hash_text(json.dumps(state, sort_keys=True))


def _read(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise UserError(f"{path}: damaged: {error}") from error


def _weights(path: Path, model: Transformer) -> dict[str, Tensor]:
    """The weights of a checkpoint: exactly those of the model."""
    tensors = _read(path)
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if shapes != {name: parameter.shape for name, parameter in model.named_parameters()}:
        raise UserError(f"{path}: damaged: its tensors are not those of the model")
    return tensors


@torch.no_grad()
def _copy(tensors: dict[str, Tensor], model: Transformer) -> None:
    """Change the parameters in place: the optimiser holds on to them."""
    for name, parameter in model.named_parameters():
        parameter.copy_(tensors[name])


def _optimiser_tensors(
    parameters: Mapping[str, nn.Parameter], optimisers: Sequence[torch.optim.Optimizer]
) -> dict[str, Tensor]:
    owner = _owners(optimisers)
    return {
        f"{key}.{name}": value
        for name, parameter in parameters.items()
        for key, value in owner[parameter].state[parameter].items()
    }


Moments = dict[Tensor, dict[str, Tensor]]  # what an optimiser knows of each parameter, by key


def _moments(
    path: Path,
    parameters: Mapping[str, nn.Parameter],
    optimisers: Sequence[torch.optim.Optimizer],
) -> Moments:
    """Read what `_optimiser_tensors` wrote; all parameters of an optimiser have the same keys."""
    moments: Moments = {}
    for full_name, value in _read(path).items():
        key, _, name = full_name.partition(".")
        if name not in parameters or value.shape not in (parameters[name].shape, ()):
            raise UserError(f"{path}: damaged: {full_name!r} does not belong to the model")
        moments.setdefault(parameters[name], {})[key] = value
    owner = _owners(optimisers)
    for optimiser in optimisers:
        kinds = {frozenset(keys) for of, keys in moments.items() if owner[of] is optimiser}
        if len(kinds) > 1:
            raise UserError(f"{path}: damaged: tensors are missing")
    return moments


def _load_optimiser(moments: Moments, optimisers: Sequence[torch.optim.Optimizer]) -> None:
    owner = _owners(optimisers)
    for parameter, values in moments.items():
        for key, value in values.items():
            device = "cpu" if key == "step" else parameter.device
            owner[parameter].state[parameter][key] = value.to(device)


def _owners(
    optimisers: Sequence[torch.optim.Optimizer],
) -> dict[Tensor, torch.optim.Optimizer]:
    """Which optimiser steps a parameter."""
    return {
        parameter: optimiser
        for optimiser in optimisers
        for group in optimiser.param_groups
        for parameter in group["params"]
    }
