"""Linear layers in float32 as decoding wants them: stored by columns, with few biases.

A bias is a pass over memory. Most of them can be left to a layer that has one anyway. Knows the
blocks of a model, but not what is around them.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.blocks import Block, CrossAttention, SelfAttention
from concatmt.model.linear import ACTIVATIONS


class LinearByColumns(nn.Module):
    """y = x W' + b, a few per cent faster for few rows than with W stored by rows."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.columns = linear.weight.detach().t().contiguous()
        self.bias = linear.bias.detach()  # of the first outputs, if it is shorter than they are

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        y = F.linear(x, self.columns.t())
        if len(self.bias):
            y[..., : len(self.bias)] += self.bias
        return y

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): relu(y) - b, as the layer after it adds b; or swish(y)."""
        rows = x.flatten(0, -2)
        if activation == "relu":
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


def leave_biases_to_last_layers(block: Block) -> None:
    """Take as many biases as possible out of a block whose layers are stored by columns.

    A bias of keys adds the same to the scores of all keys, which a softmax does not see. One of
    values comes out of the attention as it went in, for the weights add up to 1. That of the first
    feed-forward layer can be left out before a ReLU: relu(y) = max(x W', -b) + b.
    """
    for module in block.children():
        if isinstance(module, SelfAttention | CrossAttention):
            layer = module.qkv if isinstance(module, SelfAttention) else module.kv
            made, output = _by_columns(layer), _by_columns(module.output)
            others, _, values = made.bias.tensor_split([-2 * len(output.bias), -len(output.bias)])
            output.take(values)
            made.bias = others
    if block.activation == "relu":
        _by_columns(block.feed_forward_out).take(_by_columns(block.feed_forward_in).bias)


def _by_columns(layer: nn.Module) -> LinearByColumns:
    return cast("LinearByColumns", layer)
