"""Shared by all importers: tensors that are each used once, and rows of foreign vocabularies.

Does not know any foreign format.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from concatmt.errors import UserError
from concatmt.model.config import ModelConfig
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import END, PAD, SEPARATOR, SPECIALS, UNK, Vocabulary

# The bias of a symbol that must never be chosen. Not -inf: label smoothing averages all symbols.
NEVER = -1e4


class Weights:
    """The tensors of a foreign model, each used exactly once."""

    def __init__(self, tensors: Mapping[str, Tensor], origin: str) -> None:
        """`origin` names the file in messages."""
        self.tensors, self.origin = dict(tensors), origin

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def take(self, name: str) -> Tensor:
        """Take out a tensor, in float32."""
        if name not in self.tensors:
            raise self.refusal(f"the tensor {name!r} is missing")
        tensor = self.tensors.pop(name).float()
        if not bool(tensor.isfinite().all()):
            raise self.refusal(f"the tensor {name!r} has values that are not finite")
        return tensor

    def take_same(self, name: str, tensor: Tensor) -> None:
        """Take out a tensor that must equal another, if it exists."""
        if name in self.tensors and not torch.equal(self.take(name), tensor):
            raise self.refusal(f"the tensor {name!r} differs from the one that it is shared with")

    def finish(self, empty: re.Pattern[str] | None = None) -> None:
        """Refuse tensors that were not used, except those whose names match `empty`."""
        if left := [name for name in self.tensors if not (empty and empty.fullmatch(name))]:
            raise self.refusal(
                f"{len(left)} tensors have no place here, the first is {min(left)!r}"
            )

    def refusal(self, reason: str) -> UserError:
        """Why the model cannot be imported."""
        return UserError(f"{self.origin}: {reason}")


@dataclass(frozen=True)
class Rows:
    """A foreign vocabulary, and which of its rows become our special ones."""

    symbols: Sequence[str]  # in the order of ids
    end: int
    unk: int
    pad: int | None = None  # None: there is none; its row is zeros and it is never chosen
    separator: int | None = None  # None: there is none; its row starts as a copy of the end's

    def vocabulary(self) -> Vocabulary:
        """Our vocabulary: the specials, then the others in their order."""
        return Vocabulary([*SPECIALS, *(self.symbols[i] for i in self._others())])

    def matrix(self, theirs: Tensor) -> Tensor:
        """Embeddings (V, D) in our order."""
        ours = theirs[self._order()].clone()
        if self.pad is None:
            ours[PAD] = 0
        return ours

    def bias(self, theirs: Tensor, windows: bool) -> Tensor:
        """The output bias (V,) in our order; without `windows` the separator is never chosen."""
        ours = theirs[self._order()].clone()
        if self.pad is None:
            ours[PAD] = NEVER
        if not windows:
            ours[SEPARATOR] = NEVER
        return ours

    def _others(self) -> list[int]:
        special = {self.end, self.unk, self.pad, self.separator}
        return [i for i in range(len(self.symbols)) if i not in special]

    def _order(self) -> list[int]:
        specials = {
            PAD: self.end if self.pad is None else self.pad,
            UNK: self.unk,
            SEPARATOR: self.end if self.separator is None else self.separator,
            END: self.end,
        }
        return [*(specials[i] for i in range(len(SPECIALS))), *self._others()]


def build(config: ModelConfig, tensors: Mapping[str, Tensor], weights: Weights) -> Transformer:
    """A model of those tensors, which must be exactly those of `config`."""
    weights.finish()
    with torch.device("meta"):
        model = Transformer(config)
    for name, parameter in model.named_parameters():
        if name not in tensors:
            raise weights.refusal(f"nothing becomes {name!r}")
        if tensors[name].shape != parameter.shape:
            raise weights.refusal(
                f"what becomes {name!r} has shape {tuple(tensors[name].shape)}, but the"
                f" configuration asks for {tuple(parameter.shape)}"
            )
    names = {name for name, _ in model.named_parameters()}
    state = {name: tensor.contiguous() for name, tensor in tensors.items() if name in names}
    model.load_state_dict(state, strict=False, assign=True)
    model.tie()
    return model.eval()


def stack_blocks(
    layers: Mapping[str, int], block: Callable[[str, int], dict[str, Tensor]]
) -> dict[str, Tensor]:
    """The tensors of all blocks under our names; `block` gives those of one side and number."""
    return {
        f"{side}.{layer}.{name}": tensor
        for side, count in layers.items()
        for layer in range(count)
        for name, tensor in block(side, layer).items()
    }
