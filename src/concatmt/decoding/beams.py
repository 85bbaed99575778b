"""The state of a search: a row for each window, with the hypotheses of its beam.

Position t and segment k travel with each hypothesis. Keys and values of all beams of a window share
one slab that only grows: which columns a hypothesis descends from is a mask, and nothing is
copied when beams are reordered. A row whose window is done can be given to another window, which is
then a few steps behind the others. Does not know how tokens are chosen.

Shapes: B rows, H beams (1 at the first step), C cached columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.decoding.boundaries import Boundaries
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.model.cache import Cache
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.packing import real_tokens
from concatmt.model.transformer import Memory

TIDY_STEPS = 8  # between searches for columns that nobody sees any more
TIDY_SHARE = 0.75  # of the columns still seen, above which none is dropped


@dataclass(eq=False)
class Row:
    """One window of a search."""

    window: Window
    wanted: int  # how many of the best hypotheses are asked for
    longest: int  # tokens of the longest possible hypothesis, boundaries included
    finished: list[Hypothesis] = field(default_factory=list)
    live: bool = True  # whether its search is still going on
    start: int = 0  # the column of `Beams.tokens` in which its hypotheses begin


class Choice(NamedTuple):
    """One step of a search: what continues, and what ends."""

    parents: Tensor  # (B, beam) which hypothesis each beam continues
    tokens: Tensor  # (B, beam) the next token of each beam
    scores: Tensor  # (B, beam) its sum of log-probs, -inf where nothing is left
    ends: Tensor  # (B, H) the sum with <end> of hypotheses that are finished, else -inf


class Inputs(NamedTuple):
    """The next inputs of the decoder."""

    tokens: Tensor  # (B, H)
    segments: Tensor  # (B, H)


class Beams:
    """Rows of hypotheses."""

    def __init__(
        self,
        rows: Sequence[Row],
        boundaries: Boundaries,
        memory: Memory,
        cache: Cache,
        prefix: Sequence[int],
    ) -> None:
        """`prefix`: decoder inputs of each row that are in the cache already."""
        self.rows = list(rows)
        self.boundaries, self.memory, self.cache = boundaries, memory, cache
        device, count = memory.sentences.device, len(prefix)
        self.steps = 0
        self.positions = torch.tensor(prefix, device=device) + FIRST_POSITION  # (B,) t of the next
        self.tokens = torch.empty(count, 1, 0, dtype=torch.int64, device=device)  # (B, H, columns)
        self.sums = torch.empty(count, 1, 0, device=device)  # the same; of log-probs up to there
        self.scores = torch.zeros(count, 1, device=device)  # (B, H) the last of them
        self.visible = real_tokens(prefix, device)[:, None]  # (B, H, C)

    @property
    def free(self) -> list[int]:
        """Rows whose windows are done."""
        return [place for place, row in enumerate(self.rows) if not row.live]

    def length(self, row: Row) -> int:
        """Tokens of a row's hypotheses so far."""
        return self.tokens.shape[2] - row.start

    def feed(self) -> Tensor:
        """Make room for the next token of each hypothesis; returns its positions (B, 1)."""
        beams = self.scores.shape[1]
        own = torch.eye(beams, dtype=torch.bool, device=self.visible.device)
        self.visible = torch.cat([self.visible, own.expand(len(self.rows), -1, -1)], dim=2)
        t = self.positions[:, None]
        self.positions = self.positions + 1
        return t

    def follow(self, choice: Choice) -> Inputs:
        """Continue the chosen hypotheses."""
        segments = self.boundaries.follow(choice.parents, choice.tokens)
        rows = torch.arange(len(self.rows), device=self.scores.device)
        at = rows[:, None], choice.parents
        self.tokens = torch.cat([self.tokens[at], choice.tokens[:, :, None]], dim=2)
        self.sums = torch.cat([self.sums[at], choice.scores[:, :, None]], dim=2)
        self.visible = self.visible[at]
        self.scores = choice.scores
        self.steps += 1
        if self.steps % TIDY_STEPS == 0:
            self._tidy()
        return Inputs(choice.tokens, segments)

    def select(self, rows: Sequence[int]) -> None:
        """Keep the given rows."""
        at = torch.tensor(rows, device=self.scores.device)
        for name in ("positions", "tokens", "sums", "scores", "visible"):
            setattr(self, name, getattr(self, name)[at])
        self.boundaries.select(at)
        self.memory = self.memory.select(at)
        self.cache.select(at)
        self.rows = [self.rows[row] for row in rows]

    def put(self, rows: Sequence[int], other: "Beams") -> None:
        """Replace `rows` by the rows of `other`, which has made its first step."""
        at = torch.tensor(rows, device=self.scores.device)
        self._forget()
        columns = max(self.cache.length, other.cache.length)
        self.visible = _widened(self.visible, columns)
        self.visible.index_copy_(0, at, _widened(other.visible, columns))
        for name in ("tokens", "sums"):
            getattr(self, name)[:, :, -1:].index_copy_(0, at, getattr(other, name))
        self.positions = self.positions.index_copy(0, at, other.positions)
        self.scores = self.scores.index_copy(0, at, other.scores)
        self.boundaries.put(at, other.boundaries)
        self.memory = self.memory.put(at, other.memory)
        self.cache.put(at, other.cache)
        for place, row in zip(rows, other.rows, strict=True):
            self.rows[place] = row
            row.start = self.tokens.shape[2] - 1

    def _forget(self) -> None:
        """Drop token columns that no live row uses."""
        last = self.tokens.shape[2] - 1
        cut = min((row.start for row in self.rows if row.live), default=last)
        self.tokens, self.sums = self.tokens[:, :, cut:], self.sums[:, :, cut:]
        for row in self.rows:
            row.start = max(0, row.start - cut)

    def _tidy(self) -> None:
        """Drop cached columns that no hypothesis descends from, if there are enough of them."""
        seen = self.visible.any(dim=1)  # (B, C)
        width = int(seen.sum(dim=1).max())
        if width > TIDY_SHARE * seen.shape[1]:
            return
        columns = seen.long().argsort(dim=1, descending=True, stable=True)[:, :width]
        self.cache.keep(columns)
        beams = self.visible.shape[1]
        self.visible = self.visible.gather(2, columns[:, None].expand(-1, beams, -1))


def _widened(visible: Tensor, columns: int) -> Tensor:
    return F.pad(visible, (0, columns - visible.shape[2]))
