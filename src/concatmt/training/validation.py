"""Validation: the losses of a split, shared out over the processes."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

from concatmt.corpus.batches import BatchConfig, plan_batches
from concatmt.corpus.windows import Windows
from concatmt.training.objective import Objective, Totals, totals_of
from concatmt.training.processes import Processes


class Validator:
    """Measures the same windows in the same batches each time."""

    def __init__(self, windows: Windows, config: BatchConfig, processes: Processes) -> None:
        self.windows, self.processes = windows, processes
        self.plan = plan_batches(windows, config, 0, 0, shuffle=False)

    @torch.no_grad()
    def __call__(
        self, objective: Objective, precision: Callable[[], AbstractContextManager[object]]
    ) -> Totals:
        """Sums over all windows; every process gets those of the whole split."""
        objective.eval()
        totals = Totals()
        for index in range(self.processes.rank, len(self.plan), self.processes.world):
            batch = self.windows.batch(self.plan[index]).to(self.processes.device)
            with precision():
                totals.add(totals_of([objective(batch)], [batch]))
        objective.train()
        return Totals.from_tensor(self.processes.sum(totals.to_tensor(self.processes.device)))
