"""Linear layers in float32 for decoding, with weights packed by oneDNN.

Biases, activations and residuals cost nothing: they are fused into the product. Does
not know models.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from concatmt.model.products import multiply, multiply_onto, packed

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
