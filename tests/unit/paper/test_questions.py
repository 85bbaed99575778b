"""The interval that pools runs: against a t-test, and by simulation."""

import numpy as np
import pytest
from scipy import stats

from concatmt.paper.questions import pooled_difference


def test_of_one_pair_it_is_students_t_test() -> None:
    before, after = [0.5, 0.6, 0.55], [0.7, 0.66, 0.74, 0.69]
    found = pooled_difference([("a", "b")], {"a": before, "b": after})
    wanted = stats.ttest_ind(after, before).confidence_interval(0.95)
    assert found.value == pytest.approx(np.mean(after) - np.mean(before))
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def test_a_system_on_both_sides_of_two_pairs_cancels() -> None:
    found = pooled_difference(
        [("a", "b"), ("b", "c")], {"a": [0.0, 0.2], "b": [0.1, 0.9], "c": [0.4, 0.6]}
    )
    assert found.value == pytest.approx((0.5 - 0.1) / 2)


def test_single_runs_have_no_interval() -> None:
    assert pooled_difference([("a", "b")], {"a": [0.5], "b": [0.6]}).low is None


def test_its_interval_covers_what_it_should() -> None:
    random = np.random.default_rng(1)
    levels = {"a": 0.5, "b": 0.6, "c": 0.4, "d": 0.7}
    pairs = [("a", "b"), ("c", "d")]
    covered = 0
    for _ in range(2000):
        runs = {name: random.normal(level, 0.05, 3).tolist() for name, level in levels.items()}
        found = pooled_difference(pairs, runs)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.2 <= found.high
    assert 0.935 <= covered / 2000 <= 0.965
