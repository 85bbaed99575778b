"""What tells the model where a token stands: encodings of token and sentence position.

An encoding is a pure function of (t, k, n) and never sees tokens, so training and decoding cannot
disagree. t is the token's position in its window and starts at 2 (fairseq's convention), k its
segment counted from the right (current sentence 1), n the number of sentences in the window. The
three may have any shapes that broadcast. Does not know windows, batches or beams.

To add an encoding, write one class and `register` it; its `notation` makes it a part of systems'
names. One that acts inside attention (a rotation, a bias by sentence distance) would get a
field of its own in `Signal`, which the Transformer has at hand wherever it calls a block.
"""

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.errors import UserError
from concatmt.settings import Settings, nearest

FIRST_POSITION = 2  # t of the first token; which sinusoid that is, `PositionConfig` says
DEFAULT_SEGMENT_DIM = 4  # d_SE in the paper's experiments (section 3)
NOTATION = re.compile(r"\d?[a-z]+")  # a number may follow it in the name of a system
RESERVED_NOTATIONS = ("base", "cd", "pers", "pse")  # other parts of the names of systems

ENCODINGS: dict[str, "type[Encoding]"] = {}  # by kind; see `register`


class PositionConfig(Settings):
    """Which sinusoid stands for the position of a token; the defaults are fairseq's.

    Marian counts from 0. Frequencies are 10000^(-i / d) for i < half the dimensions, where d is
    half - 1 in tensor2tensor, fairseq and Marian, and half in Marian's port to transformers.
    """

    first: Annotated[int, Field(ge=0)] = FIRST_POSITION
    frequencies: Literal["half-1", "half"] = "half-1"


class EncodingConfig(Settings):
    """Which encoding, how it joins the token embedding, and where it enters."""

    kind: str = "none"
    fusion: Literal["add", "pse"] = "add"
    persistent: bool = False
    segment_dim: Annotated[int, Field(ge=1)] = DEFAULT_SEGMENT_DIM  # d_SE of `pse`
    shift: Literal["average"] | Annotated[int, Field(ge=0, le=1_000_000)] = "average"
    segment_init: Literal["normal", "zero"] = "normal"  # `zero`: a learned encoding starts absent

    @model_validator(mode="after")
    def _check(self) -> "EncodingConfig":
        if self.kind not in ENCODINGS:
            hint = nearest(self.kind, list(ENCODINGS)) or f"; known are {', '.join(ENCODINGS)}"
            raise ValueError(f"unknown encoding {self.kind!r}{hint}")
        if self.fusion == "pse" and not issubclass(ENCODINGS[self.kind], SegmentEncoding):
            raise ValueError(
                f"encoding {self.kind!r} has no segment vectors that pse could place beside the"
                " positions; use pse with onehot, sinusoidal or learned"
            )
        if self.fusion == "add" and self.segment_dim != DEFAULT_SEGMENT_DIM:
            raise ValueError("segment_dim is an option of fusion 'pse'; leave it out with 'add'")
        if self.kind != "shift" and self.shift != "average":
            raise ValueError(f"shift is an option of encoding 'shift', not of {self.kind!r}")
        return self


class Signal(NamedTuple):
    """What an encoding gives to a stack of blocks. The shapes broadcast with (B, T, D)."""

    input: Tensor  # added to the scaled token embeddings
    block: Tensor | None  # added to the input of every block after the first (section 2.2)


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

    A plain attribute and no buffer: DDP would broadcast a buffer between processes whose tables
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
        needed = int(positions.max()) + 1 if positions.numel() else 0
        rows = self.rows  # another thread may put a shorter table there
        if needed > len(rows) or rows.device != positions.device:
            length = max(1024, 1 << (needed - 1).bit_length())
            places = torch.arange(length, device=positions.device)
            self.rows = rows = sinusoid(places, self.dim, self.frequencies)
        return F.embedding(positions, rows)


@dataclass(frozen=True, slots=True)
class EncodingSizes:
    """What an encoding has to know of its model."""

    dim: int
    sentences: int  # in a window, at most
    shift: int = 0  # of `shift`, resolved
    positions: PositionConfig = field(default_factory=PositionConfig)


class Encoding(nn.Module, ABC):
    """The interface: (t, k, n) -> `Signal`."""

    kind: ClassVar[str]  # in configurations
    notation: ClassVar[str]  # in names of systems, as the paper writes it

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__()
        self.persistent = config.persistent

    @abstractmethod
    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        """Vectors for tokens at position t, in segment k, of windows with n sentences."""

    @classmethod
    def problem(cls, config: EncodingConfig, sentences: int, dim: int | None) -> str | None:
        """Why this encoding cannot serve windows of up to `sentences`, or None if it can.

        `dim` is the model's dimension where it is known already.
        """
        return None


class PositionEncoding(Encoding):
    """Token positions alone: what the Transformer has without sentence positions."""

    kind = "none"
    notation = ""

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.table = SinusoidTable(sizes.dim, sizes.positions)

    def positions(self, t: Tensor, k: Tensor, n: Tensor) -> Tensor:
        """The position that is encoded."""
        return t

    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        vectors = self.table(self.positions(t, k, n))
        return Signal(vectors, vectors if self.persistent else None)


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
        # Padding has k = 0; its vectors are never looked at, only its positions must exist.
        shifted = t + (n - k.clamp(min=1)) * self.shift
        return torch.where(t == FIRST_POSITION, t, shifted)


class SegmentEncoding(Encoding):
    """Segment vectors, added to the positions or beside them (PSE, section 2.3).

    PSE is [PE(t); SE(k)] with the sinusoid computed anew for the dimensions that are left to it,
    not cut. When persistent, `add` repeats the segment vector alone and `pse` the whole.
    """

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
        # Padding has k = 0: it may have any vector, none is ever looked at.
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


class SinusoidalEncoding(SegmentEncoding):
    """The sinusoid at p = k."""

    kind = "sinusoidal"
    notation = "sin"

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__(config, sizes)
        self.segments = SinusoidTable(self.segment_dim)

    def segment_vectors(self, k: Tensor) -> Tensor:
        return self.segments(k)


class LearnedEncoding(SegmentEncoding):
    """A learned vector for every segment, shared by encoder and decoder and read live by PSE.

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


def register(encoding: type[Encoding]) -> type[Encoding]:
    """Add an encoding to those that a configuration may name; a decorator of its class.

    Its `kind` names it in configurations, its `notation` in the names of systems.
    """
    for name in ("kind", "notation"):
        if not isinstance(getattr(encoding, name, None), str):
            raise UserError(f"encoding {encoding.__name__}: has no {name!r}, by which it is named")
    kind, notation = encoding.kind, encoding.notation
    for other in ENCODINGS.values():
        if kind == other.kind:
            raise UserError(f"encoding {kind!r}: there is one of that name; choose another")
        if notation == other.notation:
            raise UserError(f"encoding {kind!r}: {notation!r} stands for {other.kind!r} already")
    if notation and not NOTATION.fullmatch(notation):
        raise UserError(f"encoding {kind!r}: the notation {notation!r} must be lower-case letters")
    if notation in RESERVED_NOTATIONS:
        raise UserError(f"encoding {kind!r}: {notation!r} stands for something else in systems")
    ENCODINGS[kind] = encoding
    return encoding


for _encoding in (
    PositionEncoding,
    ShiftEncoding,
    OneHotEncoding,
    SinusoidalEncoding,
    LearnedEncoding,
):
    register(_encoding)


def build_encoding(config: EncodingConfig, sizes: EncodingSizes) -> Encoding:
    """The encoding of `config` in a model of those sizes."""
    return ENCODINGS[config.kind](config, sizes)
