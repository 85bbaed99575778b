"""The paper's encodings: vectors for the input and, if persistent, for every block.

Token positions only, shifted by sentence, or with a vector for each segment.
"""

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.encodings.interface import (
    FIRST_POSITION,
    Encoding,
    EncodingConfig,
    EncodingSizes,
    PositionConfig,
    Signal,
    register,
)


def sinusoid(positions: Tensor, dim: int, divisor: str = "half-1") -> Tensor:
    """(...) -> (..., dim): the sines of all frequencies, then their cosines.

    `divisor` is `PositionConfig.frequencies`. An odd dim ends in a zero column. Computed in double
    precision.
    """
    half = dim // 2
    steps = torch.arange(half, dtype=torch.float64, device=positions.device)
    span = half - 1 if divisor == "half-1" else half
    frequencies = torch.exp(steps * (-math.log(10000.0) / max(span, 1)))
    angles = positions.to(torch.float64)[..., None] * frequencies
    waves = torch.cat([angles.sin(), angles.cos()], dim=-1).to(torch.float32)
    return F.pad(waves, (0, dim % 2))


class SinusoidTable:
    """Rows of `sinusoid` for positions 0, 1, 2, ..., computed once and grown when needed.

    A plain attribute, not a buffer: DDP would broadcast a buffer between processes whose tables
    have different lengths.
    """

    def __init__(self, dim: int, positions: PositionConfig | None = None) -> None:
        """With `positions`, rows are looked up by t, which starts at FIRST_POSITION."""
        self.dim = dim
        self.offset = 0 if positions is None else positions.first - FIRST_POSITION
        self.frequencies = "half-1" if positions is None else positions.frequencies
        self.rows = torch.empty(0, dim)

    def __call__(self, positions: Tensor) -> Tensor:
        """(...) int64 -> (..., dim). Any position is exact; there is no upper limit."""
        if self.offset:
            positions = positions + self.offset
        if positions.device.type != "cpu":
            # The host would have to wait to know how long the table must be.
            return sinusoid(positions, self.dim, self.frequencies)
        needed = int(positions.max()) + 1 if positions.numel() else 0
        rows = self.rows  # another thread may replace it by a shorter table
        if needed > len(rows):
            length = max(1024, 1 << (needed - 1).bit_length())
            self.rows = rows = sinusoid(torch.arange(length), self.dim, self.frequencies)
        return F.embedding(positions, rows)


@register
class PositionEncoding(Encoding):
    """Token positions only: the Transformer without sentence positions."""

    kind = "none"
    notation = ""

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.table = SinusoidTable(sizes.dim, sizes.positions)

    def positions(self, t: Tensor, k: Tensor, n: Tensor) -> Tensor:
        """The position to encode."""
        return t

    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        vectors = self.table(self.positions(t, k, n))
        return Signal(vectors, vectors if self.persistent else None)


@register
class ShiftEncoding(PositionEncoding):
    """Segment-shifted positions: every new sentence adds `shift` (section 2.1).

    The first position is never shifted. In the encoder it belongs to the first sentence anyway
    (k = n); in the decoder it is the `<end>` that starts the window, which has k = 1.
    """

    kind = "shift"
    notation = "shift"

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.shift = sizes.shift

    def positions(self, t: Tensor, k: Tensor, n: Tensor) -> Tensor:
        # Padding has k = 0; its vectors are never used, but its positions must exist.
        shifted = t + (n - k.clamp(min=1)) * self.shift
        return torch.where(t == FIRST_POSITION, t, shifted)


class SegmentEncoding(Encoding):
    """Segment vectors, added to the positions or beside them (PSE, section 2.3).

    PSE is [PE(t); SE(k)] with the sinusoid computed for the remaining dimensions,
    not cut. When persistent, `add` repeats only the segment vector and `pse` the whole.
    """

    has_segments = True

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.pse = config.fusion == "pse"
        self.segment_dim = config.segment_dim if self.pse else sizes.dim
        rest = sizes.dim - self.segment_dim if self.pse else sizes.dim
        self.table = SinusoidTable(rest, sizes.positions)

    @abstractmethod
    def segment_vectors(self, k: Tensor) -> Tensor:
        """(...) -> (..., segment_dim); k is at least 1."""

    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        positions = self.table(t)
        # Padding has k = 0: any vector will do, as it is never used.
        segments = self.segment_vectors(k.clamp(min=1))
        if not self.pse:
            return Signal(positions + segments, segments if self.persistent else None)
        positions = positions.expand(*(t + k).shape, -1)
        both = torch.cat([positions, segments.expand(*positions.shape[:-1], -1)], dim=-1)
        return Signal(both, both if self.persistent else None)

    @classmethod
    def problem(cls, config: EncodingConfig, sentences: int, dim: int | None) -> str | None:
        if dim is not None and config.fusion == "pse" and config.segment_dim >= dim:
            return f"pse{config.segment_dim} leaves no dimensions for positions in a model of {dim}"
        return super().problem(config, sentences, dim)


@register
class OneHotEncoding(SegmentEncoding):
    """Segment k is a one in dimension k - 1."""

    kind = "onehot"
    notation = "1hot"

    def segment_vectors(self, k: Tensor) -> Tensor:
        return F.one_hot(k - 1, self.segment_dim).to(torch.float32)

    @classmethod
    def problem(cls, config: EncodingConfig, sentences: int, dim: int | None) -> str | None:
        room = config.segment_dim if config.fusion == "pse" else dim
        if room is not None and sentences > room:
            what = f"pse{room}" if config.fusion == "pse" else f"a model of {room} dimensions"
            fix = f"; use pse{sentences}" if config.fusion == "pse" else ""
            return f"one-hot segments of {sentences} sentences do not fit into {what}{fix}"
        return super().problem(config, sentences, dim)


@register
class SinusoidalEncoding(SegmentEncoding):
    """The sinusoid at p = k."""

    kind = "sinusoidal"
    notation = "sin"

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.segments = SinusoidTable(self.segment_dim)

    def segment_vectors(self, k: Tensor) -> Tensor:
        return self.segments(k)


@register
class LearnedEncoding(SegmentEncoding):
    """A learned vector for every segment, shared by encoder and decoder, also in PSE.

    Drawn from N(0, 1) as the authors do, which is sqrt(D) times a token embedding's deviation but
    is not scaled by sqrt(D) as tokens are. `segment_init: zero` makes it start as a no-op.
    """

    kind = "learned"
    notation = "lrn"

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.weight = nn.Parameter(torch.zeros(sizes.sentences, self.segment_dim))
        if config.segment_init == "normal":
            nn.init.normal_(self.weight)

    def segment_vectors(self, k: Tensor) -> Tensor:
        return F.embedding(k - 1, self.weight)
