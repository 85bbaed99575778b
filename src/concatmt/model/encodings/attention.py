"""Encodings that act inside attention: rotations of queries and keys, biases by distance.

Published methods for token positions, and their counterparts for sentences. None of them is among
the paper's.
"""

import torch
from torch import Tensor, nn

from concatmt.model.encodings.interface import (
    FIRST_POSITION,
    Encoding,
    EncodingConfig,
    EncodingSizes,
    Signal,
    register,
)
from concatmt.model.encodings.vectors import PositionEncoding
from concatmt.model.views import Place, Rotation, Where

SELF = frozenset[Where](("encoder", "decoder"))
BASE = 10000.0  # base of the wavelengths of rotations, as in the sinusoid
SENTENCE_SHARE = 4  # one pair of dimensions in this many rotates by sentences, in `srope`


class InsideEncoding(Encoding):
    """Adds nothing to tokens; only attention knows their positions."""

    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        return Signal(None, None)

    @classmethod
    def problem(cls, config: EncodingConfig, sentences: int, dim: int | None) -> str | None:
        if config.persistent:
            return f"{cls.notation} acts in every block anyway; leave out pers"
        return super().problem(config, sentences, dim)


@register
class RotaryEncoding(InsideEncoding):
    """RoPE (Su et al., 2021): queries and keys are rotated by t, so scores depend on distances."""

    kind = "rotary"
    notation = "rope"
    rotates = SELF

    def rotation(self, where: Where, place: Place, width: int) -> Rotation:
        return _rotation(self.angles(place, width // 2))

    def angles(self, place: Place, pairs: int) -> Tensor:
        """(B, T, pairs) in double precision"""
        return _waves(place.t, pairs)


@register
class SentenceRotaryEncoding(RotaryEncoding):
    """RoPE with two clocks: the slowest quarter of the pairs rotates by sentences, not by tokens.

    In windows of a few hundred tokens those pairs would hardly move. Sentence k is rotated by k
    times the frequencies of a rotation of so few pairs: 1, and slower ones.
    """

    kind = "sentence-rotary"
    notation = "srope"

    def angles(self, place: Place, pairs: int) -> Tensor:
        by_sentence = min(pairs, max(1, pairs // SENTENCE_SHARE))
        shape = (place.t + place.k).shape
        by_token = _waves(place.t, pairs)[..., : pairs - by_sentence]
        parts = (by_token, _waves(place.k, by_sentence))
        return torch.cat([part.expand(*shape, -1) for part in parts], dim=-1)


@register
class AlibiEncoding(InsideEncoding):
    """ALiBi (Press et al., 2022): a score falls with the distance in tokens, by head.

    In the encoder the distance counts alike in both directions.
    """

    kind = "alibi"
    notation = "alibi"
    biases = SELF

    def bias(self, where: Where, queries: Place, keys: Place, heads: int) -> Tensor:
        slopes = _slopes(heads, queries.t.device)
        return -slopes[:, None, None] * _distance(queries.t, keys.t)


@register
class SyncEncoding(PositionEncoding):
    """Usual token positions, and scores that fall with the distance in sentences, by head.

    Across the sides that keeps a sentence at its own source, like the sync points of Marian's ALiBi
    do. The first decoder input has k = 1 but predicts the first sentence, so it counts as
    part of that. Slopes are learned; `segment_init: zero` makes it start as a no-op.
    """

    kind = "sync"
    notation = "sync"
    biases = SELF | {"cross"}

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        heads = {"encoder": sizes.heads[0], "decoder": sizes.heads[1], "cross": sizes.heads[1]}
        zero = config.segment_init == "zero"
        self.slopes = nn.ParameterDict(
            {
                where: nn.Parameter(torch.zeros(count) if zero else _slopes(count))
                for where, count in heads.items()
            }
        )

    def bias(self, where: Where, queries: Place, keys: Place, heads: int) -> Tensor:
        k = queries.k
        if where == "cross":
            k = torch.where(queries.t == FIRST_POSITION, queries.n, k)
        slopes: Tensor = self.slopes[where]
        return -slopes[:, None, None] * _distance(k, keys.k)


def _waves(places: Tensor, pairs: int) -> Tensor:
    """(B, T) -> (B, T, pairs): angles, the fastest first"""
    steps = torch.arange(pairs, dtype=torch.float64, device=places.device)
    return places.double()[..., None] * BASE ** (-steps / max(pairs, 1))


def _rotation(angles: Tensor) -> Rotation:
    return Rotation(angles.cos().float(), angles.sin().float())


def _slopes(heads: int, device: torch.device | None = None) -> Tensor:
    """(H,): 2^(-8/H), 2^(-16/H), ..., 2^-8"""
    return torch.exp2(-8 * torch.arange(1, heads + 1, device=device) / heads)


def _distance(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, Q), (B, S) -> (B, 1, Q, S)"""
    return (queries[:, None, :, None] - keys[:, None, None, :]).abs()
