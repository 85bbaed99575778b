"""The encoder-decoder Transformer over windows of sentences.

Whole windows (training, scoring) and single steps with a cache (decoding) run through the same
blocks. What tells sentences apart comes from an `Encoding`; nothing here looks at tokens other than
to embed them. Does not know text, losses or beams.

Shapes: B windows, S source tokens, T target tokens, D model dimension, V vocabulary.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.model.blocks import DecoderBlock, EncoderBlock, KeysValues, Store
from concatmt.model.cache import Cache, Slabs
from concatmt.model.config import ModelConfig, StackConfig
from concatmt.model.dropout import dropout
from concatmt.model.encodings import FIRST_POSITION, EncodingSizes, Signal, build_encoding
from concatmt.model.packing import Packing, additive, real_tokens, unpack
from concatmt.model.views import Mask, Place, Rotation, View, Where, with_bias
from concatmt.text.vocabulary import PAD

TRIM_SHARE = 0.75  # of the source tokens with room; below this the room is reduced


@dataclass(frozen=True, slots=True)
class Memory:
    """The source windows as the decoder sees them. All hypotheses of a window share one row."""

    # Of the cross-attention in every decoder block; with a bias by position also t and k
    # of the source tokens, as the keys and values of one more layer, (B, 1, tokens, 1) each.
    layers: tuple[KeysValues, ...]
    mask: Mask  # (B, 1, 1, S)
    sentences: Tensor  # (B, 1) n of each window

    def select(self, rows: Tensor) -> "Memory":
        """The given rows, in that order."""
        assert not isinstance(self.mask, Packing)
        # Much faster than indexing, on the CPU.
        layers = tuple(
            (keys.index_select(0, rows), values.index_select(0, rows))
            for keys, values in self.layers
        )
        mask = None if self.mask is None else self.mask[rows]
        return Memory(layers, mask, self.sentences[rows])

    def put(self, rows: Tensor, other: "Memory") -> "Memory":
        """Replace `rows` by the rows of `other`, in the same tensors if they fit."""
        own, theirs = (memory.layers[0][0].shape[2] for memory in (self, other))
        width, layers = max(own, theirs), self.layers
        if width > own:
            room = (0, 0, 0, width - own)
            layers = tuple((F.pad(keys, room), F.pad(values, room)) for keys, values in layers)
        for into, new in zip(layers, other.layers, strict=True):
            for place, values in zip(into, new, strict=True):
                # Anything further right is hidden by the mask.
                place[:, :, :theirs].index_copy_(0, rows, values)
        mask = self._wide_mask(width).index_copy(0, rows, other._wide_mask(width))
        # Narrower once the longest row is gone, but not at once, as widening means a copy.
        longest = int((mask == 0).sum(dim=3).max())
        width = longest if longest < TRIM_SHARE * width else width
        layers = tuple((keys[:, :, :width], values[:, :, :width]) for keys, values in layers)
        return Memory(
            layers, mask[..., :width], self.sentences.index_copy(0, rows, other.sentences)
        )

    def _wide_mask(self, width: int) -> Tensor:
        """The mask of the source tokens, widened to `width` columns."""
        keys, mask = self.layers[0][0], self.mask
        if mask is None:
            mask = keys.new_zeros(len(keys), 1, 1, keys.shape[2])
        assert isinstance(mask, Tensor)
        return F.pad(mask, (0, width - mask.shape[3]), value=-torch.inf)


@dataclass(frozen=True, slots=True)
class PackedMemory:
    """Source windows packed into one row, without padding."""

    layers: tuple[KeysValues, ...]  # each (1, H, all tokens, D / H)
    lengths: list[int]
    sentences: Tensor  # (B,) n of each window

    def for_targets(self, lengths: Sequence[int]) -> Memory:
        """As memory to `decode` this many tokens of each window, in one row."""
        n = _repeated(self.sentences, lengths)
        return Memory(self.layers, Packing(lengths, self.lengths), n)

    def padded(self) -> Memory:
        """As memory to `decode` step by step, a row for each window."""
        real = real_tokens(self.lengths, self.sentences.device)
        # Head by head in memory, as many steps will read it.
        layers = tuple(
            (unpack(keys, self.lengths).contiguous(), unpack(values, self.lengths).contiguous())
            for keys, values in self.layers
        )
        even = len(set(self.lengths)) == 1
        mask = None if even else additive(real[:, None, None], layers[0][0].dtype)
        return Memory(layers, mask, self.sentences[:, None])


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
        self.output = nn.Linear(dim, config.target_vocabulary, bias=architecture.output_bias)
        self.tie()
        self._draw_embeddings()
        heads = architecture.encoder.heads, architecture.decoder.heads
        sizes = EncodingSizes(dim, system.sentences, config.shift, architecture.positions, heads)
        self.encoding = build_encoding(system.encoding, sizes)
        self.encoder = nn.ModuleList(
            EncoderBlock(architecture, architecture.encoder)
            for _ in range(architecture.encoder.layers)
        )
        self.decoder = nn.ModuleList(
            DecoderBlock(architecture, architecture.decoder)
            for _ in range(architecture.decoder.layers)
        )
        # Post-norm blocks already end in a norm.
        pre_norm = architecture.norm == "pre"
        epsilon = architecture.norm_epsilon
        self.encoder_norm = nn.LayerNorm(dim, eps=epsilon) if pre_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(dim, eps=epsilon) if pre_norm else nn.Identity()

    def tie(self) -> None:
        """Tie the embeddings that the configuration shares."""
        if self.config.architecture.embeddings == "shared":
            self.target_embedding = self.source_embedding
        if self.config.architecture.embeddings != "separate":
            self.output.weight = self.target_embedding.weight

    def _draw_embeddings(self) -> None:
        """N(0, 1/D) with a zero row for padding, as in fairseq; so is the output's matrix."""
        deviation = self.config.architecture.dim**-0.5
        matrices = (self.source_embedding.weight, self.target_embedding.weight)
        for weight in dict.fromkeys(matrices):
            nn.init.normal_(weight, std=deviation)
            nn.init.zeros_(weight[PAD])
        if self.config.architecture.embeddings == "separate":
            nn.init.normal_(self.output.weight, std=deviation)
        if self.config.architecture.output_bias:
            nn.init.zeros_(self.output.bias)

    def forward(self, batch: WindowBatch) -> Tensor:
        """Teacher forcing: hidden states (B, T, D) that predict the target's tokens."""
        shifted = batch.target.shifted_right(self.config.architecture.start_token)
        t = torch.arange(shifted.tokens.shape[1], device=shifted.tokens.device) + FIRST_POSITION
        memory = self.encode(batch.source, batch.sentences)
        return self.decode(shifted.tokens, t[None], shifted.segments, memory)

    def encode(self, source: Side, sentences: Tensor) -> Memory:
        """Encode source windows; `sentences` (B,) is n."""
        length = source.tokens.shape[1]
        t = torch.arange(length, device=source.tokens.device)[None] + FIRST_POSITION
        padded = source.token_count < source.tokens.numel()
        real = source.mask[:, None, None, :]
        mask = additive(real, self.source_embedding.weight.dtype) if padded else None
        place = Place(t, source.segments, sentences[:, None])
        return Memory(self._encode(source.tokens, place, mask), mask, place.n)

    def encode_packed(self, source: Side, sentences: Tensor) -> PackedMemory:
        """Encode only the real tokens. `source` is best on the host, where it is packed."""
        real, device = source.mask, sentences.device
        lengths = source.lengths.tolist()
        t = torch.arange(real.shape[1], device=real.device).expand_as(real) + FIRST_POSITION
        tokens, t, k = (x[real][None].to(device) for x in (source.tokens, t, source.segments))
        n = _repeated(sentences, lengths)
        layers = self._encode(tokens, Place(t, k, n), Packing(lengths, lengths))
        return PackedMemory(layers, lengths, sentences)

    def _encode(self, tokens: Tensor, place: Place, mask: Mask) -> tuple[KeysValues, ...]:
        signal = self.encoding(*place)
        x = self._embed(self.source_embedding, tokens, signal)
        view = self._view("encoder", mask, place, place, x)
        for index, block in enumerate(self.encoder):
            x = block(_with_signal(x, signal, index), view)
        encoded = self.encoder_norm(x)
        rotation = self._rotation("cross", place)
        blocks = cast("Iterable[DecoderBlock]", self.decoder)
        layers = [block.cross_attention.keys_values(encoded, rotation) for block in blocks]
        if "cross" in self.encoding.biases:
            layers.append(_as_keys_values(place, tokens))
        return tuple(layers)

    def decode(
        self,
        tokens: Tensor,
        t: Tensor,
        k: Tensor,
        memory: Memory,
        cache: Cache | None = None,
        visible: Tensor | Packing | None = None,
    ) -> Tensor:
        """Decoder inputs (B, T) at positions t and in segments k -> hidden states (B, T, D).

        t and k have shapes that broadcast to (B, T). Without a cache the tokens are whole windows
        from their start. With a cache they are appended to what it holds, and may be anything that
        `visible` explains, a bool mask (B or 1, T, cached + T) of what each token may look at:
        consecutive tokens of a prefix, one token for each hypothesis of a beam (its ancestors'
        columns and its own), several continuations of one prefix. Without `visible` every token
        sees all that was appended before it. With a `Packing` the tokens are those of several
        windows in one row, (1, all tokens), and so must be the memory; there is no cache then.
        """
        place = Place(t, k, memory.sentences)
        signal = self.encoding(*place)
        x = self._embed(self.target_embedding, tokens, signal)
        cached = 0 if cache is None else cache.length
        biased = "decoder" in self.encoding.biases
        if visible is None and tokens.shape[1] > 1 and (cached or biased):
            visible = _order_mask(tokens, cached)
        # Convert once, as every block needs it.
        mask = additive(visible[:, None], x.dtype) if isinstance(visible, Tensor) else visible
        keys = self._places_seen(place, tokens, cache) if biased else None
        causal = visible is None and not cached and not biased
        view = self._view("decoder", mask, place, keys, x, causal)
        at_source = self._view("cross", memory.mask, place, self._source_places(memory), x)
        for index, block in enumerate(self.decoder):
            store = None if cache is None else cache.writer(index)
            x = block(_with_signal(x, signal, index), memory.layers[index], at_source, view, store)
        if cache is not None:
            cache.advance(tokens.shape[1])
        hidden: Tensor = self.decoder_norm(x)
        return hidden

    def fill(
        self, tokens: Tensor, k: Tensor, lengths: Sequence[int], memory: PackedMemory, cache: Cache
    ) -> None:
        """Put the first decoder inputs of windows into an empty cache, at the left of its rows.

        tokens, k: (1, all tokens), `lengths` of each window. No hidden states are needed, so the
        last block only makes keys and values.
        """
        t = torch.cat([torch.arange(length) for length in lengths])[None].to(tokens.device)
        facing = memory.for_targets(lengths)
        place = Place(t + FIRST_POSITION, k, facing.sentences)
        signal = self.encoding(*place)
        x = self._embed(self.target_embedding, tokens, signal)
        view = self._view("decoder", Packing.in_order(lengths, x), place, place, x)
        at_source = self._view("cross", facing.mask, place, self._source_places(facing), x)
        *blocks, last = cast("Iterable[DecoderBlock]", self.decoder)
        for index, block in enumerate(blocks):
            x = _with_signal(x, signal, index)
            store = _unpacking(cache, index, lengths)
            x = block(x, facing.layers[index], at_source, view, store)
        store = _unpacking(cache, len(blocks), lengths)
        last.remember(_with_signal(x, signal, len(blocks)), view.rotation, store)
        if "decoder" in self.encoding.biases:
            _unpacking(cache, len(self.decoder), lengths)(*_as_keys_values(place, tokens))
        cache.advance(max(lengths))

    def cache(self, capacity: int = 64, slabs: Slabs | None = None) -> Cache:
        """An empty cache for `decode`, with room for `capacity` tokens a row before it grows.

        If the decoder has a bias by position, positions have a layer of their own, the last.
        """
        layers = len(self.decoder) + ("decoder" in self.encoding.biases)
        return Cache(layers, capacity, slabs)

    def log_probs(self, hidden: Tensor) -> Tensor:
        """(..., D) -> (..., V) natural log-probabilities in float32."""
        return F.log_softmax(self.output(hidden).float(), dim=-1)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, signal: Signal) -> Tensor:
        if signal.input is None:
            x = self.scale * embedding(tokens)
        else:
            vectors = signal.input.to(embedding.weight.dtype)
            x = torch.add(vectors, embedding(tokens), alpha=self.scale)
        return dropout(x, self.config.architecture.dropout if self.training else 0.0)

    def _view(
        self,
        where: Where,
        mask: Mask,
        queries: Place,
        keys: Place | None,
        like: Tensor,
        causal: bool = False,
    ) -> View:
        """The view of queries and keys, with what the encoding does inside attention.

        With a bias, the positions of the keys must be known.
        """
        if where in self.encoding.biases:
            assert keys is not None
            heads = self._stack(where).heads
            mask = with_bias(
                mask, lambda q, k: self.encoding.bias(where, q, k, heads), queries, keys, like
            )
        return View(mask, causal, self._rotation(where, queries))

    def _rotation(self, where: Where, place: Place) -> Rotation | None:
        if where not in self.encoding.rotates:
            return None
        width = self.config.architecture.dim // self._stack(where).heads
        return self.encoding.rotation(where, place, width)

    def _stack(self, where: Where) -> StackConfig:
        architecture = self.config.architecture
        return architecture.encoder if where == "encoder" else architecture.decoder

    def _places_seen(self, place: Place, tokens: Tensor, cache: Cache | None) -> Place:
        """The positions of all keys of decoder inputs, including those in the cache."""
        if cache is None:
            return place
        t, k = cache.writer(len(self.decoder))(*_as_keys_values(place, tokens))
        return Place(t[:, 0, :, 0], k[:, 0, :, 0], place.n)

    def _source_places(self, memory: Memory) -> Place | None:
        """The positions of the source tokens, if the bias of cross-attention needs them."""
        if "cross" not in self.encoding.biases:
            return None
        t, k = memory.layers[len(self.decoder)]
        return Place(t[:, 0, :, 0], k[:, 0, :, 0], memory.sentences)


def _repeated(values: Tensor, times: Sequence[int]) -> Tensor:
    """(1, sum of times): each value repeated."""
    repeats = torch.tensor(times, device=values.device)
    return values.repeat_interleave(repeats, output_size=sum(times))[None]


def _order_mask(tokens: Tensor, cached: int) -> Tensor:
    """(1, T, cached + T): new tokens see all cached ones, themselves, and new ones before them."""
    width = tokens.shape[1]
    ones = torch.ones(1, width, cached + width, dtype=torch.bool, device=tokens.device)
    return ones.tril_(cached)


def _as_keys_values(place: Place, tokens: Tensor) -> KeysValues:
    """t and k of tokens (B, T) as if they were keys and values of one head, (B, 1, T, 1) each."""
    t, k = (part.expand(tokens.shape)[:, None, :, None] for part in (place.t, place.k))
    return t, k


def _unpacking(cache: Cache, layer: int, lengths: Sequence[int]) -> Store:
    """A store that puts keys and values of packed tokens into a cache and returns them packed."""
    write = cache.writer(layer)

    def store(keys: Tensor, values: Tensor) -> KeysValues:
        write(unpack(keys, lengths), unpack(values, lengths))
        return keys, values

    return store


def _with_signal(x: Tensor, signal: Signal, index: int) -> Tensor:
    """The input of block `index`: the persistent vectors are added to all but the first."""
    return x if index == 0 or signal.block is None else x + signal.block.to(x.dtype)
