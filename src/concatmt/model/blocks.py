"""The blocks of the Transformer: attention, feed-forward, residuals and norms.

The same blocks serve whole windows and single steps with a cache. Does not know embeddings,
positions or windows.

Shapes: B windows, S source tokens, T target tokens, D model dimension, H heads.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.config import Architecture, StackConfig
from concatmt.model.dropout import dropout
from concatmt.model.linear import Kernel, Linear
from concatmt.model.packing import Packing
from concatmt.model.views import Rotation, View

KeysValues = tuple[Tensor, Tensor]  # each (B, H, tokens, D / H)
Store = Callable[[Tensor, Tensor], KeysValues]  # new keys and values -> all that can be attended to
# Called with queries, keys and their view whenever attention is computed.
Observer = Callable[[Tensor, Tensor, View], None]


class Attention(nn.Module):
    """Multi-head attention. Subclasses say how queries, keys and values are made.

    The result still has to go through the output layer, which adds it to the residual.
    Starting values are fairseq's: Xavier-uniform, for queries, keys and values with a gain of
    1/sqrt(2).
    """

    observer: Observer | None = None

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.output = Linear(dim, dim)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, D / H)"""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)

    def attend(self, q: Tensor, kv: KeysValues, view: View) -> Tensor:
        """(B, H, T, D / H) -> (B, T, D); queries and keys are already rotated."""
        if self.observer is not None:
            self.observer(q, kv[0], view)
        mask = view.mask
        if isinstance(mask, Packing):
            x = mask.attend(q, *kv)
        elif torch.is_inference_mode_enabled() and q.device.type == "cpu" and not view.causal:
            x = _by_products(q, *kv, mask)
        else:
            p = self.dropout if self.training else 0.0
            if mask is not None and mask.dtype != q.dtype:  # under autocast
                mask = mask.to(q.dtype)
            if q.dtype == torch.bfloat16 and q.device.type == "cpu":
                x = _in_bfloat16(q, *kv, _causal(q, kv[0]) if view.causal else mask, p)
            else:
                x = F.scaled_dot_product_attention(q, *kv, mask, dropout_p=p, is_causal=view.causal)
        return x.transpose(1, 2).flatten(2)


def _by_products(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """(B, H, Q, D / H): attention in three steps, faster than the fused kernel for few queries."""
    scores = torch.matmul(q, k.transpose(2, 3))
    scale = q.shape[3] ** -0.5
    scores = scores.mul_(scale) if mask is None else torch.add(mask, scores, alpha=scale)
    return torch.matmul(scores.softmax(dim=3), v)


def _in_bfloat16(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float) -> Tensor:
    """(B, H, Q, D / H): attention in three steps, with gradients, its softmax in float32.

    On processors with tiles for bfloat16 torch's fused kernel takes three to six times as long.
    """
    scores = torch.matmul(q * q.shape[3] ** -0.5, k.transpose(2, 3))
    scores = scores if mask is None else scores + mask
    shares = scores.softmax(dim=3, dtype=torch.float32)
    return torch.matmul(F.dropout(shares, p, training=p > 0).to(v.dtype), v)


def _causal(q: Tensor, k: Tensor) -> Tensor:
    """(Q, S) -inf for keys after the query's position, else 0."""
    size = q.shape[2], k.shape[2]
    return torch.full(size, float("-inf"), dtype=q.dtype, device=q.device).triu(1)


class SelfAttention(Attention):
    """Attention within one side; queries, keys and values come from one projection."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__(dim, heads, dropout)
        self.qkv = _projections(dim, 3)

    def forward(self, x: Tensor, view: View, store: Store | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D); `store` adds keys and values to a cache and returns all."""
        q, k, v = self._parts(x, view.rotation)
        return self.attend(q, (k, v) if store is None else store(k, v), view)

    def remember(self, x: Tensor, rotation: Rotation | None, store: Store) -> None:
        """Only add keys and values to a cache; no output is needed for these tokens."""
        _, k, v = self._parts(x, rotation)
        store(k, v)

    def _parts(self, x: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (self.split(part) for part in self.qkv(x).chunk(3, dim=-1))
        return (q, k, v) if rotation is None else (rotation.turn(q), rotation.turn(k), v)


class CrossAttention(Attention):
    """Attention to the source; keys and values are computed once per window."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__(dim, heads, dropout)
        self.q = _projections(dim, 1)
        self.kv = _projections(dim, 2)

    def keys_values(self, encoded: Tensor, rotation: Rotation | None) -> KeysValues:
        """(B, S, D) -> keys and values"""
        keys, values = (self.split(part) for part in self.kv(encoded).chunk(2, dim=-1))
        return (keys if rotation is None else rotation.turn(keys)), values

    def forward(self, x: Tensor, kv: KeysValues, view: View) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        q = self.split(self.q(x))
        return self.attend(q if view.rotation is None else view.rotation.turn(q), kv, view)


class Block(nn.Module):
    """Shared by encoder and decoder blocks: feed-forward, residuals and norms."""

    def __init__(self, architecture: Architecture, stack: StackConfig) -> None:
        super().__init__()
        dim = architecture.dim
        self.pre_norm = architecture.norm == "pre"
        self.dropout = architecture.dropout
        self.activation = architecture.activation
        self.activation_dropout = architecture.activation_dropout
        self.self_attention = SelfAttention(dim, stack.heads, architecture.attention_dropout)
        self.self_attention_norm = _norm(architecture)
        self.feed_forward_in = Linear(dim, stack.feed_forward)
        self.feed_forward_out = Linear(stack.feed_forward, dim)
        self.feed_forward_norm = _norm(architecture)

    def residual(
        self, x: Tensor, norm: nn.LayerNorm, sublayer: Callable[[Tensor], Tensor], last: Kernel
    ) -> Tensor:
        """With f a sublayer and its last layer, post-norm: norm(x + f(x)); pre: x + f(norm(x))."""
        p = self.dropout if self.training else 0.0
        if self.pre_norm:
            return last.onto(x, sublayer(norm(x)), p)
        y: Tensor = norm(last.onto(x, sublayer(x), p))
        return y

    def feed_forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D), the residual and its norm included"""
        p = self.activation_dropout if self.training else 0.0
        return self.residual(
            x,
            self.feed_forward_norm,
            lambda y: dropout(self.feed_forward_in.activated(y, self.activation), p),
            self.feed_forward_out,
        )


class EncoderBlock(Block):
    """Self-attention and feed-forward."""

    def forward(self, x: Tensor, view: View) -> Tensor:
        """(B, S, D) -> (B, S, D)"""
        attention = self.self_attention
        x = self.residual(
            x, self.self_attention_norm, lambda y: attention(y, view), attention.output
        )
        return self.feed_forward(x)


class DecoderBlock(Block):
    """Self-attention, cross-attention and feed-forward."""

    def __init__(self, architecture: Architecture, stack: StackConfig) -> None:
        super().__init__(architecture, stack)
        dim, dropout = architecture.dim, architecture.attention_dropout
        self.cross_attention = CrossAttention(dim, stack.heads, dropout)
        self.cross_attention_norm = _norm(architecture)

    def forward(
        self,
        x: Tensor,
        source: KeysValues,
        at_source: View,
        view: View,
        store: Store | None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); `view` of its own side, `at_source` of the other."""
        own, cross = self.self_attention, self.cross_attention
        x = self.residual(x, self.self_attention_norm, lambda y: own(y, view, store), own.output)
        x = self.residual(
            x, self.cross_attention_norm, lambda y: cross(y, source, at_source), cross.output
        )
        return self.feed_forward(x)

    def remember(self, x: Tensor, rotation: Rotation | None, store: Store) -> None:
        """Only add keys and values to a cache: all that a prefix needs of the last block."""
        y = self.self_attention_norm(x) if self.pre_norm else x
        self.self_attention.remember(y, rotation, store)


def _norm(architecture: Architecture) -> nn.LayerNorm:
    return nn.LayerNorm(architecture.dim, eps=architecture.norm_epsilon)


def _projections(dim: int, parts: int) -> Linear:
    """Several projections of one input side by side, each initialised on its own."""
    linear = Linear(dim, parts * dim)
    for part in linear.weight.chunk(parts):
        nn.init.xavier_uniform_(part, gain=1 / math.sqrt(2))
    return linear
