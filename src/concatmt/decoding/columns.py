"""Linear layers in float32 for decoding: stored by columns, with as few biases as possible.

A bias is a pass over memory. Most can be folded into a layer that has one anyway. Knows the
blocks of a model, but not the rest of it.
"""

from collections.abc import Container
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.blocks import Block, CrossAttention, DecoderBlock, SelfAttention
from concatmt.model.linear import ACTIVATIONS
from concatmt.model.views import Where


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
