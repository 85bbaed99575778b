"""Linear layers with what blocks do right after them, and the activations there are.

`Kernel` is what a block asks of its layers. Training uses `Linear`; decoding has kernels of its
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
    """A linear layer y = x W' + b with what a block does right after it."""

    def __call__(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y.

        Without the bias, if that was left to the kernel after it, which then adds its effect.
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
        # Flat, because autograd pays for changes in place of a view with several copies.
        return ACTIVATIONS[activation](self(x.flatten(0, -2)))

    def onto(self, residual: Tensor, x: Tensor, p: float) -> Tensor:
        """residual + dropout(y), in the shape of `residual` (..., out)."""
        return dropout_add(self(x).view(residual.shape), residual, p)
