"""Linear layers in int8 on the CPU: weights by output channel, activations by row.

A row's scale is its own largest value, so a result does not depend on the other rows of a batch.
The product is oneDNN's. Does not know models.
"""

import torch
from torch import Tensor, nn

STEPS = 127  # values of an activation on either side of 0
OFFSET = 128  # activations are unsigned: the fast product is uint8 by int8
# Processors without VNNI add two products in 16 bits, which 7-bit weights cannot overflow; with 8
# bits the result would be wrong there, and differ between machines.
WEIGHT_STEPS = 63


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
        self.middle = torch.tensor(OFFSET + 0.5)
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        peaks = x.abs().amax(dim=-1, keepdim=True).clamp_(min=1e-12)
        # Truncation of a positive number plus a half is rounding.
        levels = torch.addcmul(self.middle, x, STEPS / peaks).to(torch.uint8)
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
        return y.mul_(peaks) if self.bias is None else torch.addcmul(self.bias, y, peaks)
