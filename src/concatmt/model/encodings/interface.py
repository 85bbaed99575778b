"""The interface of encodings of token and sentence position, and their registry.

An encoding is a pure function of (t, k, n) and never sees tokens, so training and decoding cannot
disagree. t is the token's position in its window and starts at 2 (fairseq's convention), k its
segment counted from the right (current sentence 1), n the number of sentences in the window. The
three may have any shapes that broadcast. Does not know windows, batches or beams.

An encoding may act in three places: add vectors to the input and to every block (`forward`), rotate
queries and keys (`rotation`), and add a bias to attention scores by the positions of query and key
(`bias`). To add an encoding, write one class and `register` it; its `notation` then works in
systems' names.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator
from torch import Tensor, nn

from concatmt.errors import UserError
from concatmt.model.views import Place, Rotation, Where
from concatmt.settings import Settings, nearest

FIRST_POSITION = 2  # t of the first token; `PositionConfig` says which sinusoid that is
DEFAULT_SEGMENT_DIM = 4  # d_SE in the paper's experiments (section 3)
NOTATION = re.compile(r"\d?[a-z]+")  # a number may follow it in the name of a system
RESERVED_NOTATIONS = ("base", "cd", "pers", "pse")  # other parts of the names of systems

ENCODINGS: dict[str, "type[Encoding]"] = {}  # by kind; see `register`


class PositionConfig(Settings):
    """Which sinusoid encodes the position of a token; the defaults are fairseq's.

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
    segment_init: Literal["normal", "zero"] = (
        "normal"  # `zero`: a learned encoding starts as a no-op
    )

    @model_validator(mode="after")
    def _check(self) -> "EncodingConfig":
        if self.kind not in ENCODINGS:
            hint = nearest(self.kind, list(ENCODINGS)) or f"; known are {', '.join(ENCODINGS)}"
            raise ValueError(f"unknown encoding {self.kind!r}{hint}")
        if self.fusion == "pse" and not ENCODINGS[self.kind].has_segments:
            raise ValueError(
                f"encoding {self.kind!r} has no segment vectors that pse could put beside the"
                " positions; use pse with onehot, sinusoidal or learned"
            )
        if self.fusion == "add" and self.segment_dim != DEFAULT_SEGMENT_DIM:
            raise ValueError("segment_dim is an option of fusion 'pse'; leave it out with 'add'")
        if self.kind != "shift" and self.shift != "average":
            raise ValueError(f"shift is an option of encoding 'shift', not of {self.kind!r}")
        return self


class Signal(NamedTuple):
    """What an encoding adds to a stack of blocks. The shapes broadcast with (B, T, D)."""

    input: Tensor | None  # added to the scaled token embeddings
    block: Tensor | None  # added to the input of every block after the first (section 2.2)


@dataclass(frozen=True, slots=True)
class EncodingSizes:
    """What an encoding needs to know of its model."""

    dim: int
    sentences: int  # most sentences in a window
    shift: int = 0  # of `shift`, resolved
    positions: PositionConfig = field(default_factory=PositionConfig)
    heads: tuple[int, int] = (1, 1)  # of encoder and decoder


class Encoding(nn.Module, ABC):
    """The interface. What an encoding does inside attention is the same in every block."""

    kind: ClassVar[str]  # in configurations
    notation: ClassVar[str]  # in names of systems, as the paper writes it
    has_segments: ClassVar[bool] = False  # vectors that `pse` could put beside the positions
    rotates: ClassVar[frozenset[Where]] = frozenset()  # the attentions with a `rotation`
    biases: ClassVar[frozenset[Where]] = frozenset()  # and those with a `bias`

    def __init__(self, config: EncodingConfig, sizes: EncodingSizes) -> None:
        super().__init__()
        self.persistent = config.persistent

    @abstractmethod
    def forward(self, t: Tensor, k: Tensor, n: Tensor) -> Signal:
        """Vectors for tokens at position t, in segment k, of windows with n sentences."""

    def rotation(self, where: Where, place: Place, width: int) -> Rotation:
        """The rotation of queries or keys of `width` dimensions at `place`.

        In cross-attention it is called for both sides, each with its own places.
        """
        raise NotImplementedError(f"{type(self).__name__} says that it rotates, but not how")

    def bias(self, where: Where, queries: Place, keys: Place, heads: int) -> Tensor:
        """(B or 1, heads or 1, Q, S): added to the score of each key for each query."""
        raise NotImplementedError(f"{type(self).__name__} says that it has a bias, but not which")

    @classmethod
    def problem(cls, config: EncodingConfig, sentences: int, dim: int | None) -> str | None:
        """Why this encoding cannot serve windows of up to `sentences`, or None if it can.

        `dim` is the model's dimension if already known.
        """
        return None


def register(encoding: type[Encoding]) -> type[Encoding]:
    """Decorator that registers an encoding class.

    Configurations use its `kind`, names of systems its `notation`.
    """
    for name in ("kind", "notation"):
        if not isinstance(getattr(encoding, name, None), str):
            raise UserError(f"encoding {encoding.__name__}: has no {name!r} to name it by")
    kind, notation = encoding.kind, encoding.notation
    for other in ENCODINGS.values():
        if kind == other.kind:
            raise UserError(f"encoding {kind!r}: the name is taken; choose another")
        if notation == other.notation:
            raise UserError(f"encoding {kind!r}: {notation!r} already means {other.kind!r}")
    if notation and not NOTATION.fullmatch(notation):
        raise UserError(f"encoding {kind!r}: the notation {notation!r} must be lower-case letters")
    if notation in RESERVED_NOTATIONS:
        raise UserError(f"encoding {kind!r}: {notation!r} means something else in systems")
    ENCODINGS[kind] = encoding
    return encoding


def build_encoding(config: EncodingConfig, sizes: EncodingSizes) -> Encoding:
    """The encoding of `config` in a model of those sizes."""
    return ENCODINGS[config.kind](config, sizes)
