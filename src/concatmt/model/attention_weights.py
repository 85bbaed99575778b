"""Recomputes the attention weights of a teacher-forced pass from the blocks' queries and keys.

Shapes: B windows, H heads, Q queries, S keys.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, cast

import torch
from torch import Tensor

from concatmt.corpus.batch import WindowBatch
from concatmt.model.blocks import Attention, DecoderBlock, EncoderBlock
from concatmt.model.transformer import Transformer
from concatmt.model.views import View

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def attention_weights(
    model: Transformer, batch: WindowBatch, kinds: Sequence[Kind] = KINDS, layer: int | None = None
) -> Iterator[tuple[Kind, int, Tensor]]:
    """Kind, layer (from 1) and weights (B, H, Q, S) of every requested attention."""
    with _observed(model) as looks:
        model(batch)
    for kind, number, queries, keys, view in looks:
        if kind in kinds and layer in (None, number):
            yield kind, number, weights_of(queries, keys, view)


def weights_of(queries: Tensor, keys: Tensor, view: View) -> Tensor:
    """softmax(q k / sqrt(d) + mask) over the keys that each query may see; for padded windows."""
    scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[3])
    if view.causal:
        order = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~order, -torch.inf)
    if isinstance(view.mask, Tensor):
        scores = scores + view.mask
    return scores.softmax(dim=3)


Look = tuple[Kind, int, Tensor, Tensor, View]  # kind, layer, queries, keys


@contextmanager
def _observed(model: Transformer) -> Iterator[list[Look]]:
    """A list that records the inputs of every attention of the model."""
    looks: list[Look] = []
    observed = []

    def record(kind: Kind, layer: int, module: Attention) -> None:
        module.observer = lambda q, keys, view: looks.append((kind, layer, q, keys, view))
        observed.append(module)

    for layer, block in enumerate(model.encoder, start=1):
        record("encoder", layer, cast("EncoderBlock", block).self_attention)
    for layer, block in enumerate(model.decoder, start=1):
        record("decoder", layer, cast("DecoderBlock", block).self_attention)
        record("cross", layer, cast("DecoderBlock", block).cross_attention)
    try:
        yield looks
    finally:
        for module in observed:
            module.observer = None
