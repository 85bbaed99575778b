"""Tracks the sentence that each hypothesis is in, and which boundary may come next.

The number of sentences is a constraint: `<end>` is barred until n - 1 separators are out, and
separators after that; no sentence is empty, and none is longer than its limit. `Free` leaves the
count to the model, to measure how often the model gets it wrong. Does not know scores or models.

Shapes: B windows, H hypotheses of each.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.text.vocabulary import SEPARATOR


class Allowed(NamedTuple):
    """What may continue each hypothesis, (B, H) bool each."""

    words: Tensor  # any token but the two boundaries
    separator: Tensor
    end: Tensor


@dataclass
class Boundaries:
    """The constrained search: exactly n sentences come out, none of them empty."""

    sentences: Tensor  # (B,) n
    limits: Tensor  # (B, K) longest sentence allowed, in tokens, from the first to the n-th
    separators: Tensor  # (B, H) separators so far
    words: Tensor  # (B, H) tokens of the current sentence so far

    @classmethod
    def start(cls, sentences: Tensor, limits: Tensor, separators: Tensor) -> "Boundaries":
        """One hypothesis per window; `separators` (B,) of its sentences are already forced."""
        return cls(sentences, limits, separators[:, None], torch.zeros_like(separators)[:, None])

    def allowed(self) -> Allowed:
        """What may come next."""
        last = self.separators == self.sentences[:, None] - 1
        # Barred hypotheses (score -inf) may have counted beyond the end.
        place = self.separators.clamp(max=self.limits.shape[1] - 1)
        full = self.words >= self.limits.gather(1, place)
        some = self.words > 0
        return Allowed(~full, ~last & some, last & some)

    def follow(self, parents: Tensor, tokens: Tensor) -> Tensor:
        """Continue hypothesis `parents` (B, H) with `tokens` (B, H); returns the tokens' segments.

        A separator has the segment of the sentence that it closes.
        """
        closed = self.separators.gather(1, parents)
        boundary = tokens == SEPARATOR
        self.separators = closed + boundary
        self.words = (self.words.gather(1, parents) + 1).masked_fill_(boundary, 0)
        return (self.sentences[:, None] - closed).clamp_(min=1)

    def select(self, rows: Tensor) -> None:
        """Keep the given windows."""
        self.sentences, self.limits = self.sentences[rows], self.limits[rows]
        self.separators, self.words = self.separators[rows], self.words[rows]

    def put(self, rows: Tensor, others: "Boundaries") -> None:
        """Replace the windows in `rows` by those of `others`."""
        width = max(self.limits.shape[1], others.limits.shape[1])
        self.limits, limits = (
            F.pad(of.limits, (0, width - of.limits.shape[1]), value=1) for of in (self, others)
        )
        self.limits = self.limits.index_copy(0, rows, limits)
        for name in ("sentences", "separators", "words"):
            merged = getattr(self, name).index_copy(0, rows, getattr(others, name))
            setattr(self, name, merged)


class Free(Boundaries):
    """The unconstrained search of fairseq: anything goes, but a window is not empty and ends.

    `limits` (B, 1) count the tokens of the whole window, separators included.
    """

    def allowed(self) -> Allowed:
        total = self.words + self.separators
        full = total >= self.limits
        return Allowed(~full, ~full, total > 0)

    def follow(self, parents: Tensor, tokens: Tensor) -> Tensor:
        words = self.words.gather(1, parents) + (tokens != SEPARATOR)
        segments = super().follow(parents, tokens)
        self.words = words
        return segments
