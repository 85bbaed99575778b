"""Plans batches: which windows go together, in which order, on which process.

The plan of an epoch is a function of (lengths, settings, seed, epoch): nothing else. So every
process computes the same plan and takes its share, and a stream resumes at any batch from three
numbers. Does not read tokens; `Windows` does that when a batch is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from concatmt.corpus.batch import Ints, WindowBatch
from concatmt.corpus.windows import Windows
from concatmt.errors import UserError
from concatmt.settings import Settings


class BatchConfig(Settings):
    """How windows are put into batches."""

    tokens: int = Field(default=4096, ge=1)  # padded tokens of a batch, counted on its longer side
    too_long: Literal["error", "skip"] = "error"  # what to do with windows longer than `tokens`
    random_context: bool = False  # give each window a random number of its context sentences


@dataclass(frozen=True)
class BatchPlan:
    """The batches of one epoch: batch i holds windows rows[bounds[i]:bounds[i + 1]]."""

    rows: Ints  # (windows,)
    bounds: Ints  # (batches + 1,)
    skipped: int  # windows left out because they are too long

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> Ints:
        return self.rows[self.bounds[index] : self.bounds[index + 1]]


def plan_batches(
    windows: Windows,
    config: BatchConfig,
    seed: int,
    epoch: int,
    *,
    shuffle: bool = True,
    multiple_of: int = 1,
) -> BatchPlan:
    """Put windows of similar length together, at most `tokens` padded tokens in each batch.

    With `shuffle`, windows of equal length are reshuffled each epoch, and the batches come in
    random order. The number of batches is a multiple of `multiple_of`: the largest ones are halved
    until it is, so nothing is left out or repeated.
    """
    rng = np.random.default_rng((seed, epoch))
    source, target = windows.lengths()
    rows = rng.permutation(len(windows)) if shuffle else np.arange(len(windows))
    rows, skipped = _fitting(rows, np.maximum(source, target), config)
    # Sort by the longer side, which sets the cost, then by the shorter one to pad less.
    longer = np.maximum(source, target)[rows]
    order = np.lexsort((target[rows], source[rows], longer))
    rows = rows[order]
    bounds = _halve(_cut(longer[order], config.tokens), multiple_of)
    if not shuffle:
        return BatchPlan(rows, bounds, skipped)
    batch_order = rng.permutation(len(bounds) - 1)
    sizes = np.diff(bounds)[batch_order]
    members = np.concatenate([rows[bounds[i] : bounds[i + 1]] for i in batch_order])
    return BatchPlan(members, np.concatenate([[0], np.cumsum(sizes)]), skipped)


def _fitting(rows: Ints, costs: Ints, config: BatchConfig) -> tuple[Ints, int]:
    too_long = costs > config.tokens
    if not too_long.any():
        return rows, 0
    if config.too_long == "error":
        raise UserError(
            f"{too_long.sum():,} windows have more than {config.tokens:,} tokens, the longest"
            f" {costs.max():,}: raise the tokens of a batch, or set too_long=skip"
        )
    rows = rows[~too_long[rows]]
    if not len(rows):
        raise UserError(f"no window has at most {config.tokens:,} tokens: raise the batch size")
    return rows, int(too_long.sum())


def _cut(costs: Ints, budget: int) -> Ints:
    """Bounds of batches over ascending costs; the cost of a batch is rows x largest cost."""
    bounds = [0]
    while bounds[-1] < len(costs):
        start = bounds[-1]
        # At least one row, at most as many as would fit if all cost as little as the first.
        most = min(len(costs), start + max(1, budget // int(costs[start])))
        padded = np.arange(1, most - start + 1) * costs[start:most]
        bounds.append(start + max(1, int(np.searchsorted(padded, budget, side="right"))))
    return np.array(bounds, dtype=np.int64)


def _halve(bounds: Ints, multiple_of: int) -> Ints:
    while (len(bounds) - 1) % multiple_of:
        sizes = np.diff(bounds)
        largest = int(sizes.argmax())
        if sizes[largest] < 2:
            raise UserError(f"{int(bounds[-1]):,} windows are too few for {multiple_of} batches")
        bounds = np.insert(bounds, largest + 1, bounds[largest] + sizes[largest] // 2)
    return bounds


class BatchStream:
    """Batches, epoch after epoch, for one of `world` processes; can resume at any batch."""

    def __init__(
        self,
        windows: Windows,
        config: BatchConfig,
        seed: int,
        *,
        rank: int = 0,
        world: int = 1,
        multiple_of: int = 1,
    ) -> None:
        """`multiple_of` counts the batches of one epoch over all processes."""
        self.all, self.config, self.seed = windows, config, seed
        self.rank, self.world = rank, world
        self.multiple_of = int(np.lcm(world, multiple_of))
        self.epoch, self.next = 0, 0
        self._start_epoch()

    def __len__(self) -> int:
        """Batches of this process in the current epoch."""
        return len(self.plan) // self.world

    def epoch_batches(self) -> Iterator[WindowBatch]:
        """The remaining batches of the current epoch; then plans the next epoch."""
        while self.next < len(self):
            rows = self.plan[self.next * self.world + self.rank]
            self.next += 1
            yield self.windows.batch(rows)
        self.epoch, self.next = self.epoch + 1, 0
        self._start_epoch()

    def state(self) -> dict[str, int]:
        """The position of the stream, to resume from."""
        return {"seed": self.seed, "epoch": self.epoch, "next": self.next}

    def restore(self, state: dict[str, int]) -> None:
        """Resume at the position of a stream with the same windows and settings."""
        self.seed, self.epoch, self.next = state["seed"], state["epoch"], state["next"]
        self._start_epoch()

    def _start_epoch(self) -> None:
        self.windows = self.all
        if self.config.random_context:
            self.windows = self.all.shortened(np.random.default_rng((self.seed, self.epoch, 1)))
        self.plan = plan_batches(
            self.windows, self.config, self.seed, self.epoch, multiple_of=self.multiple_of
        )
