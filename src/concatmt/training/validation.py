"""Measures validation losses of a split, distributed over the processes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import torch

from concatmt.corpus.batches import BatchConfig, plan_batches
from concatmt.corpus.windows import Windows
from concatmt.training.objective import Objective, Totals, totals_of
from concatmt.training.processes import Processes
from concatmt.training.samples import SampleReport


class Validator:
    """Measures the same windows in the same batches each time.

    `at_most` limits the windows, approximately: evenly spaced batches, which have windows of
    all lengths.
    """

    def __init__(
        self,
        windows: Windows,
        config: BatchConfig,
        processes: Processes,
        at_most: int | None = None,
    ) -> None:
        self.windows, self.processes = windows, processes
        self.plan = plan_batches(windows, config, 0, 0, shuffle=False)
        share = 1.0 if at_most is None else min(1.0, at_most / len(windows))
        count = max(1, round(share * len(self.plan)))
        places = (np.arange(count) + 0.5) * len(self.plan) / count
        self.chosen: list[int] = places.astype(np.int64).tolist()

    @torch.no_grad()
    def __call__(
        self, objective: Objective, precision: Callable[[], AbstractContextManager[object]]
    ) -> Totals:
        """Sums over all windows; every process gets the sums of the whole split."""
        objective.eval()
        totals = Totals()
        for index in self.chosen[self.processes.rank :: self.processes.world]:
            batch = self.windows.batch(self.plan[index]).to(self.processes.device)
            with precision():
                totals.add(totals_of([objective(batch)], [batch]))
        objective.train()
        return Totals.from_tensor(self.processes.sum(totals.to_tensor(self.processes.device)))


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a validation."""

    windows: Totals
    alone: Totals | None = None  # of the same sentences without context
    samples: SampleReport | None = None
