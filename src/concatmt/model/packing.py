"""Windows of different lengths one after the other in one row, so that no padding is computed.

All layers but attention look at single tokens and need not know. Attention runs window by window.
For inference: there is no dropout. Does not know what the tokens are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True, slots=True)
class Packing:
    """Which queries look at which keys: those of each window at those of the same window."""

    queries: Sequence[int]  # of each window, in the order in which they stand in the row
    keys: Sequence[int]
    masks: Sequence[Tensor] | None = None  # (queries, keys) each, added to the scores; None: all
    causal: bool = False  # each query looks at keys up to its own

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(1, H, all queries, D / H) -> (1, H, all queries, D / H)"""
        masks: Sequence[Tensor | None] = self.masks or [None] * len(self.queries)
        parts = zip(
            torch.split(q, list(self.queries), dim=2),
            torch.split(k, list(self.keys), dim=2),
            torch.split(v, list(self.keys), dim=2),
            masks,
            strict=True,
        )
        found = [
            F.scaled_dot_product_attention(*part, is_causal=self.causal)
            for part in parts
            if part[0].shape[2]
        ]
        # Token by token in memory, as the layer after it wants them.
        return torch.cat([part.transpose(1, 2) for part in found], dim=1).transpose(1, 2)


def additive(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask to be added to the scores: 0 where `visible` is true, else -inf."""
    mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return mask.masked_fill_(~visible, -torch.inf)


def real_tokens(lengths: Sequence[int], device: torch.device) -> Tensor:
    """(B, T) bool: true on the first tokens of each row, so many as its length."""
    longest = torch.arange(max(lengths), device=device)
    return longest < torch.tensor(lengths, device=device)[:, None]


def unpack(x: Tensor, lengths: Sequence[int]) -> Tensor:
    """(1, H, all tokens, D / H) -> (B, H, T, D / H), 0 behind the tokens of each window."""
    windows = torch.split(x[0].transpose(0, 1), list(lengths))
    return pad_sequence(list(windows), batch_first=True).transpose(1, 2)
