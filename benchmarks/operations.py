"""Multiplications that a task needs at least, counted from its tokens: no padding, nothing twice.

A ratio of two counts is what one way of working can gain over another if both run equally well.
Only matrix products and attention are counted; all else is small beside them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from concatmt.model.config import Architecture


@dataclass
class Operations:
    """Multiply-adds, by what they are for."""

    encoder: float = 0  # its layers
    source: float = 0  # keys and values of the cross-attention
    decoder: float = 0  # its layers
    attention: float = 0  # scores and sums, on both sides
    output: float = 0  # logits

    @property
    def total(self) -> float:
        """All of them."""
        return self.encoder + self.source + self.decoder + self.attention + self.output

    def rounded(self) -> dict[str, float]:
        """In thousands of millions, for people."""
        parts = {**asdict(self), "total": self.total}
        return {name: round(value / 1e9, 2) for name, value in parts.items()}


class Counter:
    """Adds up what a model does."""

    def __init__(self, shape: Architecture, vocabulary: int) -> None:
        self.shape, self.vocabulary = shape, vocabulary
        self.sum = Operations()

    def encode(self, tokens: int) -> None:
        """A source window."""
        dim, stack = self.shape.dim, self.shape.encoder
        self.sum.encoder += stack.layers * tokens * dim * (4 * dim + 2 * stack.feed_forward)
        self.sum.attention += stack.layers * tokens * tokens * 2 * dim
        self.sum.source += self.shape.decoder.layers * tokens * 2 * dim * dim

    def decode(self, seen: Iterable[int], source: int, last_layer: bool = True) -> None:
        """Target tokens of one window, each of which sees so many, itself among them.

        Without `last_layer` they are only there to be seen: it makes keys and values alone.
        """
        dim, stack = self.shape.dim, self.shape.decoder
        columns = list(seen)
        layers = stack.layers if last_layer else stack.layers - 1
        of_layer = dim * (6 * dim + 2 * stack.feed_forward)
        self.sum.decoder += len(columns) * layers * of_layer
        self.sum.attention += layers * 2 * dim * (sum(columns) + len(columns) * source)
        if not last_layer:
            self.sum.decoder += len(columns) * 2 * dim * dim

    def logits(self, rows: int) -> None:
        """Distributions over the vocabulary."""
        self.sum.output += rows * self.shape.dim * self.vocabulary
