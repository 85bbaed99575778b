"""Packs windows of different lengths into one row, so that no padding is computed.

Only attention has to know, as all other layers see single tokens. It runs window by window.
For inference: there is no dropout. Does not know what the tokens are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

# Scores of a window that are in memory at a time, a quarter of a gigabyte with their softmax: a
# sentence of 5,000 tokens may not take a gigabyte. Windows of usual lengths need one go.
MOST_SCORES = 1 << 25


@dataclass(frozen=True, slots=True)
class Packing:
    """Which queries see which keys: those of the same window."""

    queries: Sequence[int]  # number in each window, in the order of the row
    keys: Sequence[int]
    masks: Sequence[Tensor] | None = None  # (queries, keys) each, added to the scores; None: all

    @classmethod
    def in_order(cls, lengths: Sequence[int], like: Tensor) -> "Packing":
        """Each token sees those up to itself; `like`: any tensor of the model."""
        longest = max(lengths)
        order = torch.ones(longest, longest, dtype=torch.bool, device=like.device).tril()
        mask = additive(order, like.dtype)
        return cls(lengths, lengths, [mask[:length, :length] for length in lengths])

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(1, H, all queries, D / H) -> (1, H, all queries, D / H)

        Two products and a softmax: for windows of some dozens of tokens a quarter faster than
        PyTorch's fused attention.
        """
        scale = q.shape[3] ** -0.5
        # Without masks, the tensor that scores are added to is multiplied by 0.
        factor, masks = (1, self.masks) if self.masks else (0, [q.new_empty(())] * len(self.keys))
        # Token by token in memory, as the next layer needs it.
        attended = q.new_empty(q.shape[2], q.shape[1], q.shape[3]).transpose(0, 1)
        parts = zip(
            torch.split(q[0], list(self.queries), dim=1),
            torch.split(k[0].transpose(1, 2), list(self.keys), dim=2),
            torch.split(v[0], list(self.keys), dim=1),
            masks,
            torch.split(attended, list(self.queries), dim=1),
            strict=True,
        )
        for queries, keys, values, mask, place in parts:
            rows = max(1, MOST_SCORES // max(1, queries.shape[0] * keys.shape[2]))
            for start in range(0, queries.shape[1], rows):
                some = slice(start, start + rows)
                one_for_all = mask.dim() < 2 or mask.shape[-2] == 1
                beside = mask if one_for_all else mask[..., some, :]
                scores = torch.baddbmm(beside, queries[:, some], keys, beta=factor, alpha=scale)
                torch.bmm(scores.softmax(dim=2), values, out=place[:, some])
        return attended[None]


def additive(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask to be added to the scores: 0 where `visible` is true, else -inf."""
    mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return mask.masked_fill_(~visible, -torch.inf)


def real_tokens(lengths: Sequence[int], device: torch.device) -> Tensor:
    """(B, T) bool: true on the first tokens of each row, up to its length."""
    longest = torch.arange(max(lengths), device=device)
    return longest < torch.tensor(lengths, device=device)[:, None]


def unpack(x: Tensor, lengths: Sequence[int]) -> Tensor:
    """(1, H, all tokens, D / H) -> (B, H, T, D / H), 0 behind the tokens of each window."""
    windows = torch.split(x[0].transpose(0, 1), list(lengths))
    return pad_sequence(list(windows), batch_first=True).transpose(1, 2)
