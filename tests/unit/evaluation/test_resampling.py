"""Intervals, against theory and against simulated runs whose truth is known."""

import numpy as np
import pytest

from concatmt.evaluation.resampling import (
    SeedVariance,
    accuracy_estimate,
    add_seed_noise,
    cluster_numbers,
    percentiles,
    resampled_means,
    seed_variance,
)
from tests.unit.evaluation.simulations import coverage, seed_coverage


def test_clusters_are_numbered_in_the_order_of_their_first_item() -> None:
    assert cluster_numbers(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]


def test_the_spread_of_independent_items_is_the_binomial_one() -> None:
    values = np.repeat([1.0, 0.0], [700, 300])[:, None]
    means = resampled_means(values, np.arange(1000), replicates=4000)
    assert means.std() == pytest.approx(np.sqrt(0.7 * 0.3 / 1000), rel=0.05)


def test_items_that_are_always_right_together_count_as_one() -> None:
    once = np.repeat([1.0, 0.0], [70, 30])[:, None]
    single = resampled_means(once, np.arange(100), seed=3)
    fourfold = resampled_means(np.repeat(once, 4, axis=0), np.repeat(np.arange(100), 4), seed=3)
    np.testing.assert_allclose(single, fourfold)


def test_twins_of_which_exactly_one_is_right_have_no_spread() -> None:
    values = np.tile([1.0, 0.0], 50)[:, None]
    means = resampled_means(values, np.repeat(np.arange(50), 2))
    assert means.min() == means.max() == 0.5


def test_columns_are_drawn_together_and_only_over_their_members() -> None:
    values = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    members = np.array([[True, True], [True, True], [True, True], [False, True]])
    means = resampled_means(values, np.arange(4), members)
    both = np.column_stack([values, values])
    together = resampled_means(both, np.arange(4), np.column_stack([members, members]))
    np.testing.assert_array_equal(means, together[:, :2])
    np.testing.assert_array_equal(means, together[:, 2:])
    assert np.isnan(means[:, 0]).any()  # four draws of the last item alone


def test_an_accuracy_of_100_gets_the_exact_interval_of_its_clusters() -> None:
    values = np.ones(40)
    estimate = accuracy_estimate(values, np.repeat(np.arange(20), 2), np.ones(10))
    # Clopper and Pearson: the lower end solves p^20 = 0.025.
    assert estimate.low == pytest.approx(0.025 ** (1 / 20))
    assert estimate.high == 1


def test_one_cluster_has_no_interval() -> None:
    estimate = accuracy_estimate(np.array([1.0, 0.0]), np.zeros(2, dtype=np.int64), np.ones(3))
    assert (estimate.value, estimate.low, estimate.high) == (0.5, None, None)


@pytest.mark.parametrize(
    ("clusters", "size", "mean", "within"),
    [(500, 1, 0.7, 0.0), (1250, 2, 0.85, 0.7), (100, 5, 0.6, 0.5), (30, 4, 0.5, 0.5)],
)
def test_intervals_cover_the_truth_in_95_of_100_simulated_runs(
    clusters: int, size: int, mean: float, within: float
) -> None:
    assert coverage(2000, clusters, size, mean, within) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize("seeds", [3, 5])
def test_intervals_over_seeds_cover_the_truth_and_their_test_rarely_cries_wolf(
    seeds: int, spread: float
) -> None:
    covered, false_positives = seed_coverage(2000, seeds, spread)
    assert covered == pytest.approx(0.95, abs=0.015)
    assert false_positives == pytest.approx(0.05, abs=0.015)


def test_seed_variance_is_that_of_the_seeds_beyond_that_of_the_items() -> None:
    rng = np.random.default_rng(2)
    skill = rng.normal(0.6, 0.05, size=(400, 1))
    values = (rng.random((400, 300)) < skill) * 1.0
    found = seed_variance(values, np.arange(300))
    assert found.value * 400 == pytest.approx(0.05**2, rel=0.2)


def test_one_seed_adds_no_noise_because_nothing_is_known_of_others() -> None:
    means = np.linspace(0, 1, 11)
    alone = seed_variance(np.ones((1, 5)), np.arange(5))
    assert alone == SeedVariance(0.0, 0.0, 1, 5)
    np.testing.assert_array_equal(add_seed_noise(means, [alone]), means)


def test_seeds_that_differ_widen_the_replicates_to_the_whole_variance() -> None:
    means = np.random.default_rng(3).normal(0.5, 0.01, size=200_000)
    moved = add_seed_noise(means, [SeedVariance(0.0003, 0.0, 101, 10_000)])
    assert moved.mean() == pytest.approx(0.5, abs=1e-3)
    assert moved.std() == pytest.approx(0.02, rel=0.02)


def test_few_clusters_widen_the_percentiles() -> None:
    draws = np.random.default_rng(1).normal(size=(200_000, 1))
    many, few = percentiles(draws, 100_000), percentiles(draws, 10)
    assert many[1][0] == pytest.approx(1.96, abs=0.02)
    # Student's t with 9 degrees of freedom: 2.262, times sqrt(10/9).
    assert few[1][0] == pytest.approx(2.262 * np.sqrt(10 / 9), abs=0.06)
