"""Linear layers fused with what blocks do next, and the activations.

`Kernel` is the interface that blocks use. Training uses `Linear`; decoding has kernels of its
own, in float32 and int8.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.dropout import dropout_add
from concatmt.model.products import linear

Activation = Callable[[Tensor], Tensor]  # may overwrite its input


def _relu(x: Tensor) -> Tensor:
    return F.relu(x, inplace=True)


def _swish(x: Tensor) -> Tensor:
    # In place only without autograd, which needs the input again.
    return F.silu(x, inplace=not torch.is_grad_enabled())


ACTIVATIONS: dict[str, Activation] = {"relu": _relu, "swish": _swish}


class Kernel(Protocol):
    """A linear layer y = x W' + b with the operation that follows it in a block."""

    def __call__(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y.

        Without the bias, if that was folded into the next kernel.
        """

    def onto(self, residual: Tensor, x: Tensor, p: float) -> Tensor:
        """residual + dropout(y), in the shape of `residual` (..., out)."""


class Linear(nn.Linear):
    """The kernel of training."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        return linear(x, self.weight, self.bias)

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y."""
        # Flat, because autograd copies a view several times if it is changed in place.
        return ACTIVATIONS[activation](self(x.flatten(0, -2)))

    def onto(self, residual: Tensor, x: Tensor, p: float) -> Tensor:
        """residual + dropout(y), in the shape of `residual` (..., out)."""
        return dropout_add(self(x).view(residual.shape), residual, p)
