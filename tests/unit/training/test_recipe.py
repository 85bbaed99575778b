"""Schedule, patience, averaging and the accumulation of batches, against hand calculations."""

import pytest

from concatmt.errors import UserError
from concatmt.settings import parse_settings
from concatmt.training.config import OptimiserConfig, TrainingConfig
from concatmt.training.schedule import learning_rate
from concatmt.training.state import TrainingState
from concatmt.training.trainer import batches_per_update


@pytest.mark.parametrize(
    ("update", "rate"),
    [(1, 1e-7), (2001, (1e-3 + 1e-7) / 2), (4001, 1e-3), (16_001, 5e-4), (400_001, 1e-4)],
)
def test_the_rate_rises_to_the_peak_and_falls_with_the_square_root(
    update: int, rate: float
) -> None:
    # fairseq's inverse_sqrt, by hand: 1e-7 + (peak - 1e-7) * step / 4000, then
    # peak * sqrt(4000 / step), where step counts the updates done before.
    assert learning_rate(OptimiserConfig(), update) == pytest.approx(rate)


def test_without_warm_up_the_peak_comes_first() -> None:
    assert learning_rate(OptimiserConfig(warmup=0), 1) == 1e-3


def test_a_cooldown_brings_the_rate_to_zero() -> None:
    config = OptimiserConfig(warmup=0, cooldown=(10, 20))
    plain = OptimiserConfig(warmup=0)
    rates = [learning_rate(config, update) for update in range(1, 22)]
    shares = [rate / learning_rate(plain, update) for update, rate in enumerate(rates, start=1)]
    assert shares[:11] == pytest.approx([1.0] * 11)
    assert shares[11:] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"optimiser": {"cooldown": [5, 5]}, "max_updates": 5}, "first < last"),
        ({"optimiser": {"cooldown": [5, 10]}}, "must not be more than 10"),
        ({"optimiser": {"cooldown": [5, 10]}, "max_updates": 11}, "must not be more than 10"),
    ],
)
def test_a_run_does_not_go_on_after_its_cooldown(tree: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_settings(TrainingConfig, tree, "-")


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


@pytest.mark.parametrize(
    ("update", "batch", "world", "count", "tokens"),
    [
        (32_000, 4_096, 1, 8, 4_000),
        (32_000, 4_096, 4, 8, 4_000),
        (32_000, 32_000, 1, 1, 32_000),
        (32_000, 99_000, 4, 4, 8_000),
        (100, 60, 1, 2, 50),
    ],
)
def test_batches_fill_an_update_whatever_the_devices(
    update: int, batch: int, world: int, count: int, tokens: int
) -> None:
    tree = {"tokens_per_update": update, "batch": {"tokens": batch}}
    config = parse_settings(TrainingConfig, tree, "test")
    batches, sized = batches_per_update(config, world)
    assert (batches, sized.tokens) == (count, tokens)
