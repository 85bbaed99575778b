"""The encoder-decoder Transformer over windows of sentences.

Whole windows (training, scoring) and single steps with a cache (decoding) run through the same
blocks. What tells sentences apart comes from an `Encoding`; nothing here looks at tokens other than
to embed them. Does not know text, losses or beams.

Shapes: B windows, S source tokens, T target tokens, D model dimension, H heads, C cached columns.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.model.cache import Cache
from concatmt.model.config import Architecture, ModelConfig, StackConfig
from concatmt.model.dropout import dropout, dropout_add
from concatmt.model.encodings import FIRST_POSITION, Signal, build_encoding
from concatmt.text.vocabulary import PAD

KeysValues = tuple[Tensor, Tensor]  # each (B, H, tokens, D / H)
Mask = Tensor | None  # bool, true where a query may look; None: everywhere


@dataclass(frozen=True, slots=True)
class Memory:
    """The source windows as the decoder sees them. All hypotheses of a window share one row."""

    layers: tuple[KeysValues, ...]  # of the cross-attention in every decoder block
    mask: Mask  # (B, 1, 1, S)
    sentences: Tensor  # (B,) n of each window

    def select(self, rows: Tensor) -> "Memory":
        """The given rows, in that order."""
        layers = tuple((keys[rows], values[rows]) for keys, values in self.layers)
        mask = None if self.mask is None else self.mask[rows]
        return Memory(layers, mask, self.sentences[rows])


class Attention(nn.Module):
    """Multi-head attention. Subclasses say how queries, keys and values are made."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.output = nn.Linear(dim, dim)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, D / H)"""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)

    def attend(self, q: Tensor, kv: KeysValues, mask: Mask, causal: bool) -> Tensor:
        """(B, H, T, D / H) -> (B, T, D)"""
        p = self.dropout if self.training else 0.0
        x = F.scaled_dot_product_attention(q, *kv, mask, dropout_p=p, is_causal=causal)
        y: Tensor = self.output(x.transpose(1, 2).flatten(2))
        return y


class SelfAttention(Attention):
    """Attention within one side; queries, keys and values come from one projection."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__(dim, heads, dropout)
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(
        self,
        x: Tensor,
        mask: Mask,
        causal: bool = False,
        store: Callable[[Tensor, Tensor], KeysValues] | None = None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); `store` adds keys and values to a cache and returns all."""
        q, k, v = (self.split(part) for part in self.qkv(x).chunk(3, dim=-1))
        return self.attend(q, (k, v) if store is None else store(k, v), mask, causal)


class CrossAttention(Attention):
    """The decoder's look at the source; keys and values are made once for a window."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__(dim, heads, dropout)
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)

    def keys_values(self, encoded: Tensor) -> KeysValues:
        """(B, S, D) -> keys and values"""
        keys, values = (self.split(part) for part in self.kv(encoded).chunk(2, dim=-1))
        return keys, values

    def forward(self, x: Tensor, kv: KeysValues, mask: Mask) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        return self.attend(self.split(self.q(x)), kv, mask, causal=False)


class Block(nn.Module):
    """What encoder and decoder blocks have in common: feed-forward, residuals and norms."""

    def __init__(self, architecture: Architecture, stack: StackConfig) -> None:
        super().__init__()
        dim = architecture.dim
        self.pre_norm = architecture.norm == "pre"
        self.dropout = architecture.dropout
        self.activation_dropout = architecture.activation_dropout
        self.self_attention = SelfAttention(dim, stack.heads, architecture.attention_dropout)
        self.self_attention_norm = nn.LayerNorm(dim)
        self.feed_forward_in = nn.Linear(dim, stack.feed_forward)
        self.feed_forward_out = nn.Linear(stack.feed_forward, dim)
        self.feed_forward_norm = nn.LayerNorm(dim)

    def residual(
        self, x: Tensor, norm: nn.LayerNorm, sublayer: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Post-norm: norm(x + f(x)). Pre-norm: x + f(norm(x))."""
        p = self.dropout if self.training else 0.0
        if self.pre_norm:
            return dropout_add(sublayer(norm(x)), x, p)
        y: Tensor = norm(dropout_add(sublayer(x), x, p))
        return y

    def feed_forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        inner = F.relu(self.feed_forward_in(x), inplace=True)
        y: Tensor = self.feed_forward_out(
            dropout(inner, self.activation_dropout if self.training else 0.0)
        )
        return y


class EncoderBlock(Block):
    """Self-attention and feed-forward."""

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """(B, S, D) -> (B, S, D)"""
        x = self.residual(x, self.self_attention_norm, lambda y: self.self_attention(y, mask))
        return self.residual(x, self.feed_forward_norm, self.feed_forward)


class DecoderBlock(Block):
    """Self-attention, cross-attention and feed-forward."""

    def __init__(self, architecture: Architecture, stack: StackConfig) -> None:
        super().__init__(architecture, stack)
        dim, dropout = architecture.dim, architecture.attention_dropout
        self.cross_attention = CrossAttention(dim, stack.heads, dropout)
        self.cross_attention_norm = nn.LayerNorm(dim)

    def forward(
        self,
        x: Tensor,
        source: KeysValues,
        source_mask: Mask,
        mask: Mask,
        causal: bool,
        store: Callable[[Tensor, Tensor], KeysValues] | None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        x = self.residual(
            x,
            self.self_attention_norm,
            lambda y: self.self_attention(y, mask, causal, store),
        )
        x = self.residual(
            x, self.cross_attention_norm, lambda y: self.cross_attention(y, source, source_mask)
        )
        return self.residual(x, self.feed_forward_norm, self.feed_forward)


class Transformer(nn.Module):
    """Windows in, hidden states of their translations out; `output` turns those into logits."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        architecture, system = config.architecture, config.system
        dim = architecture.dim
        self.scale = math.sqrt(dim)
        self.source_embedding = nn.Embedding(config.source_vocabulary, dim, padding_idx=PAD)
        self.target_embedding = nn.Embedding(config.target_vocabulary, dim, padding_idx=PAD)
        self.output = nn.Linear(dim, config.target_vocabulary, bias=False)
        self.tie()
        self.encoding = build_encoding(system.encoding, dim, system.sentences, config.shift)
        self.encoder = nn.ModuleList(
            EncoderBlock(architecture, architecture.encoder)
            for _ in range(architecture.encoder.layers)
        )
        self.decoder = nn.ModuleList(
            DecoderBlock(architecture, architecture.decoder)
            for _ in range(architecture.decoder.layers)
        )
        # Post-norm blocks end in a norm of their own.
        pre_norm = architecture.norm == "pre"
        self.encoder_norm = nn.LayerNorm(dim) if pre_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(dim) if pre_norm else nn.Identity()
        self.reset_parameters()

    def tie(self) -> None:
        """Make one tensor of those embeddings that the configuration shares."""
        if self.config.architecture.embeddings == "shared":
            self.target_embedding = self.source_embedding
        if self.config.architecture.embeddings != "separate":
            self.output.weight = self.target_embedding.weight

    def reset_parameters(self) -> None:
        """Draw all weights anew, as fairseq does.

        Embeddings and output N(0, 1/D) with a zero row for padding; projections of attention
        Xavier-uniform, queries, keys and values with a gain of 1/sqrt(2); feed-forward layers and
        norms as PyTorch has them.
        """
        dim = self.config.architecture.dim
        for weight in {self.source_embedding.weight, self.target_embedding.weight}:
            nn.init.normal_(weight, std=dim**-0.5)
            nn.init.zeros_(weight[PAD])
        if self.config.architecture.embeddings == "separate":
            nn.init.normal_(self.output.weight, std=dim**-0.5)
        for module in self.modules():
            if isinstance(module, Attention):
                nn.init.xavier_uniform_(module.output.weight)
                nn.init.zeros_(module.output.bias)
            if isinstance(module, SelfAttention):
                _xavier_parts(module.qkv.weight, 3)
            if isinstance(module, CrossAttention):
                _xavier_parts(module.q.weight, 1)
                _xavier_parts(module.kv.weight, 2)

    def forward(self, batch: WindowBatch) -> Tensor:
        """Teacher forcing: hidden states (B, T, D) that predict the target's tokens."""
        shifted = batch.target.shifted_right()
        t = torch.arange(shifted.tokens.shape[1], device=shifted.tokens.device) + FIRST_POSITION
        memory = self.encode(batch.source, batch.sentences)
        return self.decode(shifted.tokens, t[None], shifted.segments, memory)

    def encode(self, source: Side, sentences: Tensor) -> Memory:
        """Source windows -> what the decoder needs of them; `sentences` (B,) is n."""
        length = source.tokens.shape[1]
        t = torch.arange(length, device=source.tokens.device)[None] + FIRST_POSITION
        signal = self.encoding(t, source.segments, sentences[:, None])
        x = self._embed(self.source_embedding, source.tokens, signal)
        padded = bool((source.lengths < length).any())
        mask = source.mask[:, None, None, :] if padded else None
        for index, block in enumerate(self.encoder):
            x = block(_with_signal(x, signal, index), mask)
        encoded = self.encoder_norm(x)
        blocks = cast("Iterable[DecoderBlock]", self.decoder)
        layers = tuple(block.cross_attention.keys_values(encoded) for block in blocks)
        return Memory(layers, mask, sentences)

    def decode(
        self,
        tokens: Tensor,
        t: Tensor,
        k: Tensor,
        memory: Memory,
        cache: Cache | None = None,
        visible: Tensor | None = None,
    ) -> Tensor:
        """Decoder inputs (B, T) at positions t and in segments k -> hidden states (B, T, D).

        t and k have shapes that broadcast to (B, T). Without a cache the tokens are whole windows
        from their start. With a cache they are appended to what it holds, and may be anything that
        `visible` explains, a bool mask (B or 1, T, cached + T) of what each token may look at:
        consecutive tokens of a prefix, one token for each hypothesis of a beam (its ancestors'
        columns and its own), several continuations of one prefix. Without `visible` every token
        sees all that was appended before it.
        """
        signal = self.encoding(t, k, memory.sentences[:, None])
        x = self._embed(self.target_embedding, tokens, signal)
        if cache is not None and visible is None:
            visible = cache.causal(tokens.shape[1])
        mask = None if visible is None else visible[:, None]
        causal = cache is None and visible is None
        for index, block in enumerate(self.decoder):
            x = block(
                _with_signal(x, signal, index),
                memory.layers[index],
                memory.mask,
                mask,
                causal,
                None if cache is None else cache.writer(index),
            )
        if cache is not None:
            cache.advance(tokens.shape[1])
        hidden: Tensor = self.decoder_norm(x)
        return hidden

    def log_probs(self, hidden: Tensor) -> Tensor:
        """(..., D) -> (..., V) natural log-probabilities in float32."""
        return F.log_softmax(self.output(hidden).float(), dim=-1)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, signal: Signal) -> Tensor:
        vectors = signal.input.to(embedding.weight.dtype)
        x = torch.add(vectors, embedding(tokens), alpha=self.scale)
        return dropout(x, self.config.architecture.dropout if self.training else 0.0)


def _with_signal(x: Tensor, signal: Signal, index: int) -> Tensor:
    """The input of block `index`: the persistent vectors are added to all but the first."""
    return x if index == 0 or signal.block is None else x + signal.block.to(x.dtype)


def _xavier_parts(weight: Tensor, parts: int) -> None:
    for part in weight.chunk(parts):
        nn.init.xavier_uniform_(part, gain=1 / math.sqrt(2))
