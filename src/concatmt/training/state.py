"""The progress of a run: updates, validations, best so far, patience."""

from dataclasses import asdict, dataclass, field
from typing import Any

from concatmt.training.config import TrainingConfig


@dataclass
class TrainingState:
    """The state of a run besides weights, optimiser and position in the data."""

    update: int = 0
    validations: list[int] = field(default_factory=list)  # the update of each
    values: list[float] = field(default_factory=list)  # the stop metric of each
    norm: float | None = None  # running mean of the gradient's norm

    def record(self, value: float) -> bool:
        """Record a validation at the current update; returns whether it is the best so far."""
        best = not self.values or value < min(self.values)
        self.validations.append(self.update)
        self.values.append(value)
        return best

    @property
    def best(self) -> int:
        """Index of the best validation; the first of equals."""
        return self.values.index(min(self.values))

    def to_average(self, count: int) -> list[int]:
        """Updates of the best checkpoint and its followers, at most `count` in all."""
        return self.validations[self.best : self.best + count] if self.values else []

    def out_of_patience(self, config: TrainingConfig) -> bool:
        """Whether the last `patience` validations brought no improvement."""
        return bool(self.values) and len(self.values) - 1 - self.best >= config.patience

    def why_stop(self, config: TrainingConfig, epoch: int) -> str | None:
        """The reason to stop now, or None. `epoch` counts the finished ones."""
        if self.out_of_patience(config):
            return f"no improvement in {config.patience} validations"
        if config.max_updates is not None and self.update >= config.max_updates:
            return f"{config.max_updates:,} updates done"
        if config.max_epochs is not None and epoch >= config.max_epochs:
            return f"{config.max_epochs:,} epochs done"
        return None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)
