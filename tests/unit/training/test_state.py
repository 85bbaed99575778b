"""Patience, limits and averaging, against hand calculations."""

from concatmt.training.config import TrainingConfig
from concatmt.training.state import TrainingState


def state(values: list[float]) -> TrainingState:
    state = TrainingState()
    for value in values:
        state.update += 10
        state.record(value)
    return state


def test_the_average_is_the_best_checkpoint_and_the_four_that_follow() -> None:
    assert state([3, 2, 1, 1, 2, 2, 2, 2, 2]).to_average(5) == [30, 40, 50, 60, 70]
    assert state([3, 2, 1]).to_average(5) == [30]


def test_training_stops_after_patience_validations_without_improvement() -> None:
    config = TrainingConfig(patience=2)
    assert state([3, 2, 2]).why_stop(config, 0) is None
    assert state([3, 2, 2, 2]).why_stop(config, 0) == "no improvement in 2 validations"
    assert state([3, 2, 2, 2, 1]).why_stop(config, 0) is None


def test_training_stops_at_its_limits() -> None:
    assert state([1]).why_stop(TrainingConfig(max_updates=10), 0) == "10 updates done"
    assert state([1]).why_stop(TrainingConfig(max_epochs=3), 2) is None
    assert state([1]).why_stop(TrainingConfig(max_epochs=3), 3) == "3 epochs done"
