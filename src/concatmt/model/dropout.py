"""Dropout."""

from torch import Tensor
from torch.nn import functional as F


def dropout(x: Tensor, p: float) -> Tensor:
    return F.dropout(x, p) if p > 0 else x


def dropout_add(x: Tensor, residual: Tensor, p: float) -> Tensor:
    return dropout(x, p) + residual
