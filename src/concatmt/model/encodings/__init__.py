"""Encodings of token and sentence position, by which the model knows where tokens are."""

from concatmt.model.encodings.attention import (
    AlibiEncoding,
    RotaryEncoding,
    SentenceRotaryEncoding,
    SyncEncoding,
)
from concatmt.model.encodings.interface import (
    DEFAULT_SEGMENT_DIM,
    ENCODINGS,
    FIRST_POSITION,
    Encoding,
    EncodingConfig,
    EncodingSizes,
    PositionConfig,
    Signal,
    build_encoding,
    register,
)
from concatmt.model.encodings.vectors import (
    LearnedEncoding,
    OneHotEncoding,
    PositionEncoding,
    SegmentEncoding,
    ShiftEncoding,
    SinusoidalEncoding,
    sinusoid,
)

__all__ = [
    "DEFAULT_SEGMENT_DIM",
    "ENCODINGS",
    "FIRST_POSITION",
    "AlibiEncoding",
    "Encoding",
    "EncodingConfig",
    "EncodingSizes",
    "LearnedEncoding",
    "OneHotEncoding",
    "PositionConfig",
    "PositionEncoding",
    "RotaryEncoding",
    "SegmentEncoding",
    "SentenceRotaryEncoding",
    "ShiftEncoding",
    "Signal",
    "SinusoidalEncoding",
    "SyncEncoding",
    "build_encoding",
    "register",
    "sinusoid",
]
