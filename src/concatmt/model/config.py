"""Settings of a model: architecture, system, and values from the training data.

Knows which combinations are possible. Does not know names of systems (systems.py) or weights.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from concatmt.errors import UserError
from concatmt.model.encodings import ENCODINGS, EncodingConfig, PositionConfig
from concatmt.settings import Settings
from concatmt.text.vocabulary import END, PAD

Probability = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class SystemConfig(Settings):
    """A system of the paper: window size, context discount and encoding."""

    sentences: Count = 1  # K of sKtoK; 1 is the sentence-level model
    context_discount: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    encoding: EncodingConfig = EncodingConfig()

    @model_validator(mode="after")
    def _check(self) -> "SystemConfig":
        if self.sentences == 1 and self.context_discount != 1:
            raise ValueError("a sentence-level model has no context to discount")
        if problem := window_problem(self.encoding, self.sentences, None):
            raise ValueError(problem)
        return self


class StackConfig(Settings):
    """One side of the Transformer."""

    layers: Count = 6
    heads: Count = 8
    feed_forward: Count = 2048


class Architecture(Settings):
    """Sizes and regularisation; the defaults are the paper's (appendix B).

    What pretrained models do differently (Marian's: swish, positions from 0, an output bias, a zero
    vector as first decoder input) is configuration too.
    """

    dim: Count = 512
    encoder: StackConfig = StackConfig()
    decoder: StackConfig = StackConfig()
    norm: Literal["post", "pre"] = "post"
    embeddings: Literal["separate", "decoder-tied", "shared"] = "shared"
    dropout: Probability = 0.3  # of embeddings and sublayers
    attention_dropout: Probability = 0.0
    activation_dropout: Probability = 0.0
    activation: Literal["relu", "swish"] = "relu"  # of the feed-forward layers
    positions: PositionConfig = PositionConfig()
    output_bias: bool = False
    # The decoder's first input: the embedding of `<end>`, or a zero vector.
    start: Literal["end", "zero"] = "end"
    norm_epsilon: Annotated[float, Field(gt=0, lt=1)] = 1e-5

    @model_validator(mode="after")
    def _check(self) -> "Architecture":
        for side in ("encoder", "decoder"):
            heads = getattr(self, side).heads
            if self.dim % heads:
                raise ValueError(f"dim {self.dim} cannot be split over {heads} {side} heads")
        return self

    @property
    def start_token(self) -> int:
        """The decoder's first input; padding stands for a zero vector."""
        return END if self.start == "end" else PAD


def _square(dim: int, feed_forward: int, layers: int, heads: int, dropout: float) -> Architecture:
    stack = StackConfig(layers=layers, heads=heads, feed_forward=feed_forward)
    return Architecture(dim=dim, encoder=stack, decoder=stack, dropout=dropout)


SIZES = {
    "base": _square(512, 2048, 6, 8, 0.3),
    "small": _square(256, 1024, 3, 4, 0.3),
    "tiny": _square(64, 256, 2, 4, 0.1),
}


class ModelConfig(Settings):
    """Everything that decides what a model computes, except its weights."""

    architecture: Architecture = Architecture()
    system: SystemConfig
    source_vocabulary: Annotated[int, Field(ge=4)]
    target_vocabulary: Annotated[int, Field(ge=4)]
    sentence_length: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _check(self) -> "ModelConfig":
        encoding = self.system.encoding
        if problem := window_problem(encoding, self.system.sentences, self.architecture.dim):
            raise ValueError(problem)
        shared = self.architecture.embeddings == "shared"
        if shared and self.source_vocabulary != self.target_vocabulary:
            raise ValueError(
                f"shared embeddings need one vocabulary, found {self.source_vocabulary} source"
                f" and {self.target_vocabulary} target symbols; use decoder-tied or separate"
            )
        if encoding.kind == "shift" and encoding.shift == "average" and not self.sentence_length:
            raise ValueError(
                "encoding 'shift' needs sentence_length, the average sentence length of the"
                " training data, or a constant such as shift8"
            )
        return self

    @property
    def shift(self) -> int:
        """By how many positions `shift` moves each sentence; 0 for other encodings."""
        shift = self.system.encoding.shift
        if self.system.encoding.kind != "shift":
            return 0
        return round(self.sentence_length or 0) if shift == "average" else shift


def window_problem(encoding: EncodingConfig, sentences: int, dim: int | None) -> str | None:
    """Why `encoding` cannot serve windows of `sentences` in a model of `dim`, or None."""
    return ENCODINGS[encoding.kind].problem(encoding, sentences, dim)


def check_window(config: ModelConfig, sentences: int) -> None:
    """Refuse windows of more sentences than the model was trained for."""
    if sentences > config.system.sentences:
        raise UserError(
            f"windows of {sentences} sentences: the model was trained for at most"
            f" {config.system.sentences}; use fewer, or another model"
        )
