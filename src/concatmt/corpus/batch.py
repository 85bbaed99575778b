"""A batch of windows: tokens, lengths, segments and sentence counts travel together.

All padding and segment arithmetic lives here, in array operations. Rows are padded on the right.
Shapes: B windows, T tokens of the longest one. Does not know where windows come from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from concatmt.text.vocabulary import END, PAD, SEPARATOR

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Side:
    """One language of a batch of windows: `s1 </s> s2 </s> ... sn <end>` in every row."""

    tokens: Tensor  # (B, T) int64; PAD after the end of a row
    lengths: Tensor  # (B,) int64; tokens of each row, <end> included
    segments: Tensor  # (B, T) int64; k from the right, current sentence 1; 0 on padding
    total: int | None = None  # real tokens, if the host knows (saves asking the device)

    @property
    def mask(self) -> Tensor:
        """(B, T) bool, true on real tokens."""
        return self.segments > 0

    @property
    def token_count(self) -> int:
        """Number of real tokens."""
        return int(self.lengths.sum()) if self.total is None else self.total

    def shifted_right(self, start: int = END) -> "Side":
        """The decoder's input: `start` (k = 1), then the row without its own `<end>`."""
        tokens = torch.full_like(self.tokens, PAD)
        segments = torch.zeros_like(self.segments)
        tokens[:, 0] = start
        segments[:, 0] = 1
        tokens[:, 1:] = torch.where(self.mask[:, 1:], self.tokens[:, :-1], PAD)
        segments[:, 1:] = torch.where(self.mask[:, 1:], self.segments[:, :-1], 0)
        return Side(tokens, self.lengths, segments, self.total)

    def to(self, device: torch.device | str) -> "Side":
        """A copy on another device."""
        return Side(
            self.tokens.to(device, non_blocking=True),
            self.lengths.to(device, non_blocking=True),
            self.segments.to(device, non_blocking=True),
            self.token_count,
        )


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Windows with their translations. Both sides of a window have the same number of sentences."""

    source: Side
    target: Side
    sentences: Tensor  # (B,) int64; n, the number of sentences in the window

    def __len__(self) -> int:
        return len(self.sentences)

    def to(self, device: torch.device | str) -> "WindowBatch":
        """A copy on another device."""
        return WindowBatch(
            self.source.to(device),
            self.target.to(device),
            self.sentences.to(device, non_blocking=True),
        )

    @classmethod
    def from_lists(
        cls,
        source: Sequence[Sequence[Sequence[int]]],
        target: Sequence[Sequence[Sequence[int]]],
    ) -> "WindowBatch":
        """Make a batch of windows: lists of sentences, each a list of ids without separator."""
        sentences = np.array([len(window) for window in source], dtype=np.int64)
        if [len(window) for window in target] != sentences.tolist():
            raise ValueError("a window has as many target sentences as source sentences")
        return cls(side_from_lists(source), side_from_lists(target), torch.from_numpy(sentences))


def side_from_lists(windows: Sequence[Sequence[Sequence[int]]]) -> Side:
    """Make one side of windows: lists of sentences, each a list of ids without separator."""
    sentences = [sentence for window in windows for sentence in window]
    flat = np.array([i for sentence in sentences for i in (*sentence, SEPARATOR)], dtype=np.int64)
    lengths = np.array([len(sentence) + 1 for sentence in sentences], dtype=np.int64)
    return side_from_flat(flat, lengths, np.array([len(w) for w in windows], dtype=np.int64))


def side_from_flat(tokens: Ints, sentence_lengths: Ints, sentences: Ints) -> Side:
    """Make one side of B windows from concatenated tokens, separators included.

    tokens: all tokens of all windows; sentence_lengths: tokens of each sentence with its separator;
    sentences: (B,) number of sentences in each window.
    """
    first = np.cumsum(sentences) - sentences  # index of each window's first sentence
    lengths = np.add.reduceat(sentence_lengths, first)
    place = np.arange(len(sentence_lengths)) - np.repeat(first, sentences)
    k = np.repeat(sentences, sentences) - place
    mask = np.arange(lengths.max())[None, :] < lengths[:, None]
    padded = np.full(mask.shape, PAD, dtype=np.int64)
    padded[mask] = tokens
    padded[np.arange(len(lengths)), lengths - 1] = END
    segments = np.zeros(mask.shape, dtype=np.int64)
    segments[mask] = np.repeat(k, sentence_lengths)
    return Side(torch.from_numpy(padded), torch.from_numpy(lengths), torch.from_numpy(segments))
