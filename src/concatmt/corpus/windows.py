"""Windows as indices into a split: one window per sentence, never across a gap or a document.

A window is (current sentence j, number of sentences n): sentences j-n+1 .. j. Nothing is copied
until a batch is made. Future context would be a third number here and nowhere else.
"""

from dataclasses import dataclass

import numpy as np
import torch

from concatmt.corpus.batch import Ints, Side, WindowBatch, side_from_flat
from concatmt.corpus.store import Sentences, Split


@dataclass(frozen=True)
class Windows:
    """All windows of a split, for windows of at most K sentences; N = number of sentences."""

    split: Split
    sentences: Ints  # (N,) n of each window; the window of sentence j is at index j

    @classmethod
    def of(cls, split: Split, size: int) -> "Windows":
        """Every sentence with up to `size` - 1 sentences before it."""
        if size < 1:
            raise ValueError(f"a window has at least one sentence, not {size}")
        runs = np.asarray(split.runs)
        place = np.arange(len(split)) - np.repeat(runs[:-1], np.diff(runs))
        return cls(split, np.minimum(place + 1, size))

    def __len__(self) -> int:
        return len(self.sentences)

    def shortened(self, rng: np.random.Generator) -> "Windows":
        """The same windows, each with a random number of its context sentences (0 to all)."""
        return Windows(self.split, rng.integers(1, self.sentences, endpoint=True))

    def lengths(self) -> tuple[Ints, Ints]:
        """(N,) tokens of each window, separators and end included: source, target."""
        first = np.arange(len(self)) - self.sentences + 1
        source, target = self.split.source.offsets, self.split.target.offsets
        return source[1:] - source[first], target[1:] - target[first]

    def batch(self, rows: Ints) -> WindowBatch:
        """The windows of the sentences `rows`, in that order."""
        sentences = self.sentences[rows]
        members = _ranges(rows - sentences + 1, sentences)
        return WindowBatch(
            _side(self.split.source, members, sentences),
            _side(self.split.target, members, sentences),
            torch.from_numpy(sentences),
        )


def _side(side: Sentences, members: Ints, sentences: Ints) -> Side:
    starts = side.offsets[members]
    lengths = side.offsets[members + 1] - starts
    flat = side.tokens[_ranges(starts, lengths)].astype(np.int64)
    return side_from_flat(flat, lengths, sentences)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1, ..., start + length - 1 for each pair, concatenated."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
