"""Linear layers in int8 on the CPU: weights scaled by output channel, activations by row.

A row's scale is its own largest value, so a result does not depend on the other rows of a batch.
The product is oneDNN's. Does not know models.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from concatmt.decoding.float32_layers import KeptRows
from concatmt.model.linear import ACTIVATIONS
from concatmt.processor import avoid_missing_tiles

STEPS = 127  # values of an activation on either side of 0
OFFSET = 128  # activations are unsigned: the fast product is uint8 by int8
# Processors without VNNI add two products in 16 bits, which 7-bit weights cannot overflow; with 8
# bits the result would be wrong there, and differ between machines.
WEIGHT_STEPS = 63
# Outputs at a time of a wide layer, few enough to stay in the cache. Not a power of two, with
# which the rows of a result would compete for the same cache lines.
PART = 10752
ROWS = 512  # at a time, for the same reason


class QuantizedLinear(nn.Module):
    """y = x W' + b with W and x rounded to 8 bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None, positive: bool = False) -> None:
        """weight: (out, in) float32; `positive`: x never has values below 0."""
        super().__init__()
        avoid_missing_tiles()
        scales = weight.abs().amax(dim=1).clamp_(min=1e-12).div_(WEIGHT_STEPS)
        rounded = weight.div(scales[:, None]).round_().to(torch.int8)
        self.packed = torch.ops.onednn.qlinear_prepack(rounded, None)
        self.scales = scales
        self.zeros = torch.zeros(len(weight), dtype=torch.int64)
        self.bias = None if bias is None else bias.detach()
        self.positive = positive
        # What the offset of the activations adds to a product; oneDNN would compute it every time.
        excess = rounded.sum(dim=1) * scales * (OFFSET / STEPS)
        self.correction = None if positive else -excess

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        rows = x.reshape(-1, x.shape[-1])
        if len(rows) <= ROWS:
            return self._few_rows(rows).view(*x.shape[:-1], -1)
        y = x.new_empty(*x.shape[:-1], len(self.scales))
        places = torch.split(y.view(len(rows), -1), ROWS)
        for part, place in zip(torch.split(rows, ROWS), places, strict=True):
            self._few_rows(part, place)
        return y

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """(..., in) -> (all rows, out): the activation of y."""
        return ACTIVATIONS[activation](self.forward(x.flatten(0, -2)))

    def onto(self, residual: Tensor, x: Tensor, _: float) -> Tensor:
        """residual + y, in the shape of `residual` (..., out); there is no dropout."""
        return self.forward(x).view(residual.shape).add_(residual)

    def _few_rows(self, x: Tensor, out: Tensor | None = None) -> Tensor:
        """(R, in) -> (R, out), into `out` if there is one."""
        levels, peaks = quantize_positive_rows(x) if self.positive else quantize_rows(x)
        y = self.product(levels)
        out = y if out is None else out
        if self.bias is None:
            return torch.mul(y, peaks, out=out)
        return torch.addcmul(self.bias, y, peaks, out=out)

    def product(self, levels: Tensor) -> Tensor:
        """levels of rows (..., in) -> (..., out), to be multiplied by the rows' peaks."""
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            levels,
            1 / STEPS,
            0,
            self.packed,
            self.scales,
            self.zeros,
            self.correction,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return y


class WideQuantizedLinear:
    """y = x W' + b for many rows of W, in parts."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.layers = [QuantizedLinear(part, None) for part in torch.split(weight, PART)]
        self.biases = None if bias is None else torch.split(bias, PART)
        self.rows = KeptRows(len(weight))

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out), in reused memory; see `KeptRows`."""
        y = self.rows.like(x)
        parts, peaks = self.parts(x)
        for part, columns in zip(parts, torch.split(y, PART, dim=1), strict=True):
            if peaks is None:
                columns.copy_(part)
            else:
                torch.mul(part, peaks, out=columns)
        return y

    def parts(self, x: Tensor) -> tuple[Iterator[Tensor], Tensor | None]:
        """The columns of y in parts, and the factors (R, 1) to multiply their rows by, if any.

        With a bias there are no factors: it is added to the true values.
        """
        levels, peaks = quantize_rows(x)
        if self.biases is None:
            return (layer.product(levels) for layer in self.layers), peaks
        pairs = zip(self.layers, self.biases, strict=True)
        return (torch.addcmul(b, layer.product(levels), peaks) for layer, b in pairs), None


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Values in uint8 around OFFSET, and the peak of each row (..., 1)."""
    highest, lowest = x.amax(dim=-1, keepdim=True), x.amin(dim=-1, keepdim=True)
    peaks = torch.maximum(highest, lowest.neg_()).clamp_(min=1e-12)
    # By way of int8, since torch has no fast conversion to uint8; the sign bit adds the offset.
    levels = x.mul(STEPS / peaks).round_().to(torch.int8).view(torch.uint8)
    return levels.bitwise_xor_(OFFSET), peaks


def quantize_positive_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """The same of values that are not below 0, without the offset."""
    peaks = x.amax(dim=-1, keepdim=True).clamp_(min=1e-12)
    return x.mul(STEPS / peaks).round_().to(torch.int8).view(torch.uint8), peaks
