"""Linear layers in int8 on the CPU: weights by output channel, activations by row.

A row's scale is its own largest value, so a result does not depend on the other rows of a batch.
The product is oneDNN's. Does not know models.
"""

import torch
from torch import Tensor, nn

from concatmt.decoding.buffers import KeptRows

STEPS = 127  # values of an activation on either side of 0
OFFSET = 128  # activations are unsigned: the fast product is uint8 by int8
# Processors without VNNI add two products in 16 bits, which 7-bit weights cannot overflow; with 8
# bits the result would be wrong there, and differ between machines.
WEIGHT_STEPS = 63
PART = 8192  # outputs at a time of a wide layer


class QuantizedLinear(nn.Module):
    """y = x W' + b with W and x rounded to 8 bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        """weight: (out, in) float32."""
        super().__init__()
        scales = weight.abs().amax(dim=1).clamp_(min=1e-12).div_(WEIGHT_STEPS)
        rounded = weight.div(scales[:, None]).round_().to(torch.int8)
        self.packed = torch.ops.onednn.qlinear_prepack(rounded, None)
        self.scales = scales
        self.zeros = torch.zeros(len(weight), dtype=torch.int64)
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        levels, peaks = quantize_rows(x)
        y = self.product(levels)
        return y.mul_(peaks) if self.bias is None else torch.addcmul(self.bias, y, peaks, out=y)

    def product(self, levels: Tensor) -> Tensor:
        """levels of rows (..., in) -> (..., out), to be multiplied by the rows' peaks."""
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            levels,
            1 / STEPS,
            OFFSET,
            self.packed,
            self.scales,
            self.zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return y


class WideQuantizedLinear:
    """y = x W' for many rows of W, in parts, into memory that is used again; see `KeptRows`."""

    def __init__(self, weight: Tensor) -> None:
        self.parts = [QuantizedLinear(part, None) for part in torch.split(weight, PART)]
        self.rows = KeptRows(len(weight))

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out), which holds until this thread's next call."""
        levels, peaks = quantize_rows(x)
        y = self.rows.like(x)
        for part, columns in zip(self.parts, torch.split(y, PART, dim=1), strict=True):
            torch.mul(part.product(levels), peaks, out=columns)
        return y


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Values in uint8 around OFFSET, and what a row's largest stands for (..., 1)."""
    peaks = x.abs().amax(dim=-1, keepdim=True).clamp_(min=1e-12)
    # By way of int8, since torch has no fast conversion to uint8; the sign bit adds the offset.
    levels = x.mul(STEPS / peaks).round_().to(torch.int8).view(torch.uint8)
    return levels.bitwise_xor_(OFFSET), peaks
