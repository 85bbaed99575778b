"""The learning rate of each update, against hand calculations."""

import pytest

from concatmt.errors import UserError
from concatmt.settings import parse_settings
from concatmt.training.config import OptimiserConfig, TrainingConfig
from concatmt.training.optimisers import learning_rate


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
