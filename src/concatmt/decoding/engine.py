"""Makes a model ready for decoding: packs its linear layers and ranks its output.

Everything that decoding asks of a model goes through here, in float32 or int8, on the device where
the model is. Does not know hypotheses, windows or text.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from concatmt.corpus.batch import Side
from concatmt.decoding.candidates import Candidates, Output, Projection
from concatmt.decoding.float32_layers import (
    KeptRows,
    LinearByColumns,
    PackedLinear,
    WidePackedLinear,
    leave_biases_to_last_layers,
)
from concatmt.decoding.int8_layers import QuantizedLinear, WideQuantizedLinear
from concatmt.model import products
from concatmt.model.blocks import Block
from concatmt.model.cache import Cache, Slabs
from concatmt.model.packing import Packing
from concatmt.model.transformer import Memory, PackedMemory, Transformer


class Engine:
    """Encoder, decoder and output layer of a model, for inference."""

    def __init__(self, model: Transformer, int8: bool = False) -> None:
        """Copy the model's linear layers in the form that decoding needs; `int8`: rounded."""
        self.config = model.config
        self.device = model.output.weight.device
        self.int8 = int8
        self.slabs = Slabs()
        self.model = quantized_copy(model) if int8 else packed_copy(model)
        bias = None if model.output.bias is None else model.output.bias.detach()
        pack: type[Output] = WideQuantizedLinear if int8 else _Transposed
        if not int8 and products.by_onednn(model.output.weight):
            pack = WidePackedLinear
        self.projection = Projection(model.output.weight.detach(), bias, pack)

    @property
    def candidate_limit(self) -> int:
        """The most candidates of a hypothesis, including impossible ones of the last block."""
        return self.projection.vocabulary + self.projection.padding

    def encode(self, source: Side, sentences: Tensor) -> PackedMemory:
        """What the decoder needs of source windows; `sentences` (B,) is n."""
        return self.model.encode_packed(source, sentences.to(self.device))

    def fill(
        self, tokens: Tensor, k: Tensor, lengths: Sequence[int], memory: PackedMemory, cache: Cache
    ) -> None:
        """The first decoder inputs of windows into an empty cache; see `Transformer.fill`."""
        self.model.fill(tokens, k, lengths, memory, cache)

    def decode(
        self,
        tokens: Tensor,
        t: Tensor,
        k: Tensor,
        memory: Memory,
        cache: Cache | None = None,
        visible: Tensor | Packing | None = None,
    ) -> Tensor:
        """Hidden states (B, T, D) of decoder inputs (B, T); see `Transformer.decode`."""
        return self.model.decode(tokens, t, k, memory, cache, visible)

    def cache(self, capacity: int) -> Cache:
        """An empty cache with room for `capacity` columns; to be released after use."""
        return self.model.cache(capacity, self.slabs)

    def candidates(self, hidden: Tensor, count: int) -> Candidates:
        """The `count` best next words of hidden states (R, D), and the two boundaries."""
        return self.projection(hidden, count)

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """(R, D) -> (R, V) log-probabilities of every token."""
        return self.projection.logits(hidden).log_softmax(dim=1)

    def log_probs(self, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """(E,) float32: log-probabilities of `tokens` (E,), each under a row of `hidden` (R, D)."""
        return self.projection.log_probs(hidden, rows, tokens)


def quantized_copy(model: Transformer) -> Transformer:
    """The model with every linear layer of its blocks in int8."""

    def make(linear: nn.Linear, name: str) -> nn.Module:
        # Its input is the output of a ReLU; swish goes below 0.
        positive = name == "feed_forward_out" and model.config.architecture.activation == "relu"
        return QuantizedLinear(linear.weight.detach(), linear.bias, positive)

    return copy_with(model, make)


def packed_copy(model: Transformer) -> Transformer:
    """The model with every linear layer of its blocks packed for the library that multiplies."""
    if products.by_onednn(model.output.weight):
        return copy_with(model, lambda linear, _: PackedLinear(linear))
    twin = copy_with(model, lambda linear, _: LinearByColumns(linear))
    for block in (*twin.encoder, *twin.decoder):
        leave_biases_to_last_layers(cast("Block", block), model.encoding.rotates)
    return twin


def copy_with(model: Transformer, make: Callable[[nn.Linear, str], nn.Module]) -> Transformer:
    """A copy of the model with other linear layers in its blocks; embeddings are shared.

    `make` gets a layer and its name in the block.
    """
    kept = {id(parameter): parameter for parameter in model.parameters()}
    # Copy only the tree of modules, and replace the layers in it.
    twin = copy.deepcopy(model, memo=dict(kept))
    for module in list(twin.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and child is not twin.output:
                setattr(module, name, make(child, name))
    return twin


class _Transposed:
    """x W' + b for few rows of x and many of W, into reused memory; see `KeptRows`.

    With few rows, the product is faster with W stored by columns.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight, self.bias = weight.t().contiguous(), bias
        self.rows = KeptRows(len(weight))

    def __call__(self, x: Tensor) -> Tensor:
        if self.bias is None:
            return torch.mm(x, self.weight, out=self.rows.like(x))
        return torch.addmm(self.bias, x, self.weight, out=self.rows.like(x))

    def parts(self, x: Tensor) -> tuple[Iterator[Tensor], None]:
        return iter([self(x)]), None
