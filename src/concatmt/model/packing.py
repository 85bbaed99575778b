"""Windows of different lengths one after the other in one row, so that no padding is computed.

All layers but attention look at single tokens and need not know. Attention runs window by window.
For inference: there is no dropout. Does not know what the tokens are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Packing:
    """Which queries look at which keys: those of each window at those of the same window."""

    queries: Sequence[int]  # of each window, in the order in which they stand in the row
    keys: Sequence[int]
    masks: Sequence[Tensor] | None = None  # (queries, keys) each, added to the scores; None: all

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(1, H, all queries, D / H) -> (1, H, all queries, D / H)"""
        masks = self.masks or [None] * len(self.queries)
        parts = zip(
            q.split(list(self.queries), dim=2),
            k.split(list(self.keys), dim=2),
            v.split(list(self.keys), dim=2),
            masks,
            strict=True,
        )
        found = [F.scaled_dot_product_attention(*part) for part in parts]
        # Token by token in memory, as the layer after it wants them.
        return torch.cat([part.transpose(1, 2) for part in found], dim=1).transpose(1, 2)
