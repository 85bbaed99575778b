"""Tests of significance, against textbook cases and simulated runs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from concatmt.evaluation.significance import holm, mcnemar, replicates_p_value
from tests.unit.evaluation.simulations import false_positives


def of_counts(only_ours: int, only_theirs: int, both: int = 0) -> float:
    """The p-value of independent items."""
    ours = np.repeat([1.0, 0.0, 1.0], [only_ours, only_theirs, both])
    theirs = np.repeat([0.0, 1.0, 1.0], [only_ours, only_theirs, both])
    return mcnemar(ours, theirs, np.arange(len(ours)))


def test_mcnemar_by_hand() -> None:
    # 9 against 1: twice the chance of at most one head in ten throws, 2 (1 + 10) / 1024.
    assert of_counts(9, 1, 30) == pytest.approx(22 / 1024)


def test_mcnemar_of_agrestis_approval_ratings() -> None:
    # The example of R's help of mcnemar.test: 150 changed one way and 86 the other. By hand, the
    # normal approximation with continuity correction is z = 63 / sqrt(236) = 4.10, p = 4.1e-5.
    assert of_counts(150, 86) == pytest.approx(4.1e-5, rel=0.15)


@pytest.mark.parametrize(("better", "worse"), [(9, 1), (150, 86), (0, 3), (7, 7)])
def test_without_clusters_mcnemar_is_the_sign_test_of_what_differs(better: int, worse: int) -> None:
    expected = stats.binomtest(better, better + worse).pvalue
    assert of_counts(better, worse, 20) == pytest.approx(expected)


def test_equal_runs_do_not_differ() -> None:
    assert of_counts(0, 0, 10) == 1


@given(
    st.lists(st.sampled_from([-3, -2, -1, -0.5, 0, 1 / 3, 0.5, 1, 2, 4]), min_size=1, max_size=9)
)
def test_mcnemar_counts_all_ways_to_flip_clusters(sums: list[float]) -> None:
    ours, clusters = np.array(sums), np.arange(len(sums))
    flips = itertools.product((-1, 1), repeat=len(sums))
    totals = np.array([np.dot(signs, sums) for signs in flips])
    expected = (np.abs(totals) >= abs(sum(sums)) - 1e-9).mean()
    assert mcnemar(ours, np.zeros(len(sums)), clusters) == pytest.approx(expected)


def test_many_kinds_of_ties_are_sampled_instead_of_counted() -> None:
    rng = np.random.default_rng(4)
    theirs = 1 / rng.integers(2, 13, size=400)
    ours = theirs + rng.choice([-1 / 11, 1 / 9], size=400, p=[0.5, 0.5])
    p_value = mcnemar(ours, theirs, np.arange(400))
    z = (ours - theirs).sum() / np.sqrt(((ours - theirs) ** 2).sum())
    assert p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.02)


def test_holm_of_the_usual_example() -> None:
    # The example of the encyclopaedia: 0.01, 0.04, 0.03, 0.005 at 5% rejects the first and last.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == []


def test_replicates_on_one_side_of_zero_are_significant() -> None:
    assert replicates_p_value(np.linspace(0.1, 1, 1999)) == pytest.approx(2 / 2000)
    assert replicates_p_value(np.linspace(-1, 1, 2001)) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("clusters", "size", "within"), [(500, 1, 0.0), (250, 2, 0.7), (100, 5, 0.5)]
)
def test_equally_good_runs_are_found_different_in_5_of_100_cases(
    clusters: int, size: int, within: float
) -> None:
    found = false_positives(800, clusters, size, within, clustered_test=True)
    assert found == pytest.approx(0.05, abs=0.015)


def test_mcnemar_by_item_would_cry_wolf_when_items_come_in_clusters() -> None:
    assert false_positives(200, 100, 5, 0.5, clustered_test=False) > 0.1
