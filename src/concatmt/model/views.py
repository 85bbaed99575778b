"""What attention gets besides vectors: masks and biases of keys, and positions of tokens.

Masks have one meaning everywhere: numbers that are added to the scores of keys. Does not know
encodings or layers.

Shapes: B windows, H heads, Q queries, S keys, T tokens, D model dimension.
"""

from collections.abc import Callable
from itertools import repeat
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from concatmt.model.packing import Packing

# Added to the scores (B, H, Q, S), broadcasting, -inf where a query may not look;
# or the same for several windows in one row; None: nothing is added.
Mask = Tensor | Packing | None

Where = Literal["encoder", "decoder", "cross"]  # the self-attention of a side, or between them


class Place(NamedTuple):
    """Positions of tokens. The shapes broadcast to (B, T)."""

    t: Tensor  # position in the window, from FIRST_POSITION on
    k: Tensor  # segment, counted from the right; 0 is padding
    n: Tensor  # sentences in the window


class Rotation(NamedTuple):
    """Angles to rotate pairs of dimensions by; each (B, T, pairs), or broadcasting."""

    cos: Tensor
    sin: Tensor

    def turn(self, x: Tensor) -> Tensor:
        """(B, H, T, D / H) -> the same. Dimension i is paired with i + pairs; others stay."""
        pairs = self.cos.shape[-1]
        cos, sin = (part[:, None].to(x.dtype) for part in self)
        first, second = x[..., :pairs], x[..., pairs : 2 * pairs]
        turned = [first * cos - second * sin, second * cos + first * sin, x[..., 2 * pairs :]]
        return torch.cat(turned, dim=-1)


class View(NamedTuple):
    """How the queries of an attention look at its keys."""

    mask: Mask = None
    causal: bool = False  # each query sees keys up to its own position; only without a mask
    rotation: Rotation | None = None  # of the queries, and in self-attention of the new keys


Bias = Callable[[Place, Place], Tensor]  # queries, keys -> (B or 1, H or 1, Q, S)


def with_bias(mask: Mask, bias: Bias, queries: Place, keys: Place, like: Tensor) -> Mask:
    """Add the bias of queries and keys to a mask, as numbers like `like`.

    For packed windows, positions are those of all tokens in the row; n is that of the queries.
    """
    if not isinstance(mask, Packing):
        added = bias(queries, keys).to(like.dtype)
        return added if mask is None else added + mask
    asking = (torch.split(part, list(mask.queries), dim=1) for part in queries)
    seen = (torch.split(part, list(mask.keys), dim=1) for part in (keys.t, keys.k))
    masks = []
    before_all = mask.masks or repeat(None)
    for t, k, n, key_t, key_k, before in zip(*asking, *seen, before_all, strict=False):
        key_n = n[:, :1] if n.numel() else n.new_ones(1, 1)
        added = bias(Place(t, k, n), Place(key_t, key_k, key_n))[0].to(like.dtype)
        masks.append(added if before is None else added + before)
    return Packing(mask.queries, mask.keys, masks)
