"""Log-probabilities of the right candidate under other contexts."""

from dataclasses import replace

import numpy as np
import pytest

from concatmt.evaluation.likelihood import likelihoods
from concatmt.evaluation.outcomes import System
from tests.unit.evaluation.scorers import system


def scored(name: str, log_probs: list[float], model: str = "abc") -> System:
    base = system(name, [1.0] * len(log_probs), model=model)
    outcomes = tuple(
        replace(one, log_prob=value)
        for one, value in zip(base.files[0].outcomes, log_probs, strict=True)
    )
    return System(name, (replace(base.files[0], outcomes=outcomes),))


def test_a_context_that_hurts_every_item_alike_is_significant_and_its_size_is_reported() -> None:
    gold = np.linspace(-9, -3, 40)
    noise = 0.1 * np.random.default_rng(0).standard_normal(40)
    first, second = likelihoods(
        [scored("gold", gold.tolist()), scored("other", (gold - 1 + noise).tolist())]
    )
    assert first.estimate.value == pytest.approx(-6)
    assert first.difference is None
    assert second.difference is not None
    assert second.difference.value == pytest.approx(-1 + noise.mean())
    assert second.p_value is not None
    assert second.p_value < 0.01


def test_models_whose_log_probs_do_not_compare_are_left_out() -> None:
    one, other = scored("a", [-1.0, -2.0]), scored("b", [-1.0, -2.0], model="def")
    assert likelihoods([one, other]) == []
    assert likelihoods([one]) == []
    assert likelihoods([system("a", [1, 0]), system("b", [1, 0])]) == []


def test_of_several_seeds_the_mean_is_taken() -> None:
    def seeds(name: str, shift: float) -> System:
        runs = [scored(name, [-1.0 + shift + s, -3.0 + shift + s], f"m{s}") for s in (0, 1)]
        return System(name, tuple(run.files[0] for run in runs))

    first, second = likelihoods([seeds("gold", 0.0), seeds("other", -1.0)])
    assert first.estimate.value == pytest.approx(-1.5)
    assert second.difference is not None
    assert second.difference.value == pytest.approx(-1.0)
