"""Dropout with cheap masks on a CPU.

PyTorch draws one Bernoulli number per element there, which takes longer than the arithmetic around
it, and keeps a mask of floats for the backward pass. Here 16 random bits decide an element, and one
byte is kept. Elsewhere PyTorch's own dropout is used.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

LEVELS = 1 << 16


def dropout(x: Tensor, p: float) -> Tensor:
    """x with every element zero with probability p, the others scaled by 1 / (1 - p)."""
    if p == 0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p)
    return _applied(x, None, p)


def dropout_add(x: Tensor, residual: Tensor, p: float) -> Tensor:
    """dropout(x) + residual, in one pass."""
    if p == 0:
        return x + residual
    if x.device.type != "cpu":
        return F.dropout(x, p) + residual
    return _applied(x, residual, p)


def _applied(x: Tensor, residual: Tensor | None, p: float) -> Tensor:
    y: Tensor = _Dropout.apply(x, residual, round(p * LEVELS))  # type: ignore[no-untyped-call]
    return y


def _keep(x: Tensor, dropped: int) -> Tensor:
    """A bool mask like x; an element is false in `dropped` of LEVELS cases."""
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)
    return bits >= dropped - LEVELS // 2


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, residual: Tensor | None, dropped: int) -> Tensor:
        keep = _keep(x, dropped)
        ctx.save_for_backward(keep)
        ctx.scale = LEVELS / (LEVELS - dropped)  # with the exact probability of the bits
        ctx.has_residual = residual is not None
        factors = keep.to(x.dtype)
        if residual is None:
            return factors.mul_(x).mul_(ctx.scale)
        return torch.addcmul(residual, x, factors, value=ctx.scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        (keep,) = ctx.saved_tensors
        gradient = keep.to(slope.dtype).mul_(slope).mul_(ctx.scale)
        return gradient, slope if ctx.has_residual else None, None
