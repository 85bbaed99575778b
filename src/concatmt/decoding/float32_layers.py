"""Linear layers in float32 for decoding: stored by columns, or packed by oneDNN; reused memory.

A bias is a pass over memory: by columns, most can be folded into a layer that has one anyway.
oneDNN fuses biases, activations and residuals into the product. Knows the blocks of a model, but
not the rest of it.
"""

import threading
from collections.abc import Container, Iterator
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.blocks import Block, CrossAttention, DecoderBlock, SelfAttention
from concatmt.model.linear import ACTIVATIONS
from concatmt.model.products import multiply, multiply_onto, packed
from concatmt.model.views import Where


class KeptRows:
    """Rows of fixed width. Allocating them would cost more than computing them, so each thread
    keeps one buffer, valid until that thread's next call.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.kept = threading.local()

    def like(self, x: Tensor) -> Tensor:
        """(R, width), not initialised, for R rows of x."""
        buffer: Tensor | None = getattr(self.kept, "buffer", None)
        if buffer is None or len(buffer) < len(x):
            buffer = self.kept.buffer = x.new_empty(len(x), self.width)
        return buffer[: len(x)]


class LinearByColumns(nn.Module):
    """y = x W' + b, a few per cent faster for few rows than with W stored by rows."""

    left = False  # whether the next layer adds the bias that `activated` leaves out

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.columns = linear.weight.detach().t().contiguous()
        self.bias = linear.bias.detach()  # of the first outputs only, if it is shorter

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        y = F.linear(x, self.columns.t())
        if len(self.bias):
            y[..., : len(self.bias)] += self.bias
        return y

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y, without a bias that was folded."""
        rows = x.flatten(0, -2)
        if self.left:
            # relu(y) - b = max(x W', -b)
            y = torch.mm(rows, self.columns)
            return torch.maximum(y, -self.bias, out=y)
        return ACTIVATIONS[activation](torch.addmm(self.bias, rows, self.columns))

    def onto(self, residual: Tensor, x: Tensor, _: float) -> Tensor:
        """residual + y, in the shape of `residual` (..., out); there is no dropout."""
        y = residual + self.bias
        y.view(-1, y.shape[-1]).addmm_(x.flatten(0, -2), self.columns)
        return y

    def take(self, bias: Tensor) -> None:
        """Fold the previous layer's `bias` (in,) into this one."""
        total = self.bias.double() + bias.double() @ self.columns.double()
        self.bias = total.to(self.bias.dtype)

    def leave_to(self, after: "LinearByColumns") -> None:
        """Fold this layer's bias, before a ReLU, into the layer after it."""
        after.take(self.bias)
        self.left = True


def leave_biases_to_last_layers(block: Block, rotates: Container[Where] = ()) -> None:
    """Take as many biases as possible out of a block whose layers are stored by columns.

    A bias of keys adds the same to the scores of all keys, which the softmax cancels, unless
    keys are rotated by position (`rotates`). A bias of values passes through attention
    unchanged, as the weights add up to 1. That of the first feed-forward layer can be left out
    before a ReLU: relu(y) = max(x W', -b) + b.
    """
    for module in block.children():
        if isinstance(module, SelfAttention | CrossAttention):
            layer = module.qkv if isinstance(module, SelfAttention) else module.kv
            made, output = _by_columns(layer), _by_columns(module.output)
            others, keys, values = made.bias.tensor_split(
                [-2 * len(output.bias), -len(output.bias)]
            )
            output.take(values)
            made.bias = torch.cat([others, keys]) if _turned(block, module, rotates) else others
    if block.activation == "relu":
        _by_columns(block.feed_forward_in).leave_to(_by_columns(block.feed_forward_out))


def _turned(block: Block, attention: nn.Module, rotates: Container[Where]) -> bool:
    """Whether an encoding rotates the keys of an attention."""
    if isinstance(attention, CrossAttention):
        return "cross" in rotates
    return ("decoder" if isinstance(block, DecoderBlock) else "encoder") in rotates


def _by_columns(layer: nn.Module) -> LinearByColumns:
    return cast("LinearByColumns", layer)


PART = 8192  # outputs at a time of a wide layer, few enough to stay in the cache


class PackedLinear(nn.Module):
    """y = x W' + b with W packed."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = packed(linear.weight.detach())
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        return multiply(x, self.weight, self.bias)

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y."""
        return multiply(x.flatten(0, -2), self.weight, self.bias, activation)

    def onto(self, residual: Tensor, x: Tensor, _: float) -> Tensor:
        """residual + y, in the shape of `residual` (..., out); there is no dropout."""
        return multiply_onto(residual, x.view(*residual.shape[:-1], -1), self.weight, self.bias)


class WidePackedLinear:
    """y = x W' + b for many rows of W, in parts."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.layers = [packed(part) for part in torch.split(weight, PART)]
        self.biases = [None] * len(self.layers) if bias is None else list(torch.split(bias, PART))

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)"""
        return torch.cat(list(self.parts(x)[0]), dim=1)

    def parts(self, x: Tensor) -> tuple[Iterator[Tensor], None]:
        """The columns of y part by part; there are no factors."""
        pairs = zip(self.layers, self.biases, strict=True)
        return (multiply(x, weight, bias) for weight, bias in pairs), None
