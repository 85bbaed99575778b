"""Computes intervals by resampling clusters of items, and adds the variance of seeds.

Items of one document are not independent, so whole documents are drawn. Shapes: items N, clusters
D, columns C (a column is a run, or a group of items of one), replicates B, seeds S; `clusters` are
numbers 0..D-1, one per item. Knows numbers, not what they measure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

REPLICATES = 2000
LEVEL = 0.95
DRAWN_AT_A_TIME = 1 << 22
LEAST_SHARE = 0.1  # of the clusters' variance that is kept even if seeds seem to lower it


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval, if there is anything to resample."""

    value: float
    low: float | None
    high: float | None


def cluster_numbers(names: Iterable[str]) -> Indices:
    """Numbers 0..D-1 for the names of clusters, in the order of their first occurrence."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def cluster_sums(values: Array, clusters: Indices) -> Array:
    """Sums of the values [N, C] of each cluster's items, [D, C]."""
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(int(clusters.max()) + 1))
    return np.add.reduceat(values[order], starts, axis=0)


def resampled_means(
    values: Array,
    clusters: Indices,
    members: NDArray[np.bool_] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Array:
    """Means of every column of values [N, C] over clusters drawn with replacement, [B, C].

    All columns see the same draws, so differences of columns are paired. `members` [N, C] says
    which items belong to a column; a replicate without any of them is NaN.
    """
    members = np.ones(values.shape, dtype=bool) if members is None else members
    sums = cluster_sums(np.where(members, values, 0.0), clusters)
    counts = cluster_sums(members.astype(np.float64), clusters)
    size = len(sums)
    rng = np.random.default_rng(seed)
    rows = max(1, DRAWN_AT_A_TIME // size)
    parts = []
    for first in range(0, replicates, rows):
        row = np.arange(min(rows, replicates - first))[:, None]
        drawn = (rng.integers(size, size=(len(row), size)) + size * row).ravel()
        times = np.bincount(drawn, minlength=len(row) * size).reshape(len(row), size) * 1.0
        with np.errstate(invalid="ignore"):
            parts.append((times @ sums) / (times @ counts))
    return np.concatenate(parts)


def percentiles(means: Array, clusters: int, level: float = LEVEL) -> tuple[Array, Array]:
    """Lower and upper ends, [C], of intervals from replicates [B, C] over this many clusters.

    A bootstrap of D clusters is too narrow by sqrt((D-1)/D), and normal where Student's t is due;
    the percentiles are moved outwards accordingly (Hesterberg 2015, "What teachers should know
    about the bootstrap", on the expanded percentile interval).
    """
    student = stats.t.ppf(1 - (1 - level) / 2, clusters - 1)
    tail = 100 * stats.norm.cdf(-math.sqrt(clusters / (clusters - 1)) * student)
    low, high = np.nanpercentile(means, [tail, 100 - tail], axis=0)
    return low, high


def accuracy_estimate(
    values: Array, clusters: Indices, means: Array, level: float = LEVEL
) -> Estimate:
    """Mean of outcomes [N] in [0, 1] with its interval, from replicates [B] of that mean.

    If all are right or all wrong, resampling gives no interval: the exact binomial interval over
    clusters is used instead.
    """
    value = float(values.mean())
    number = len(np.unique(clusters))
    if value in (0.0, 1.0):
        exact = stats.binomtest(number * int(value), number).proportion_ci(level, method="exact")
        return Estimate(value, float(exact.low), float(exact.high))
    if number < 2:
        return Estimate(value, None, None)
    low, high = percentiles(means[:, None], number, level)
    return Estimate(value, max(0.0, float(low[0])), min(1.0, float(high[0])))


@dataclass(frozen=True, slots=True)
class SeedVariance:
    """Mean squares of an analysis of variance of seeds by clusters, divided by their product.

    Their difference is what seeds add to the variance of a mean over all; it may be negative.
    """

    between: float
    within: float
    seeds: int
    clusters: int

    @property
    def value(self) -> float:
        """What the seeds add."""
        return self.between - self.within


def seed_variance(values: Array, clusters: Indices) -> SeedVariance:
    """What seeds add, from outcomes [S, N]; needs more than one seed and one cluster.

    A two-way analysis of variance, seeds by clusters: how much the accuracies of the seeds vary,
    beyond what they would if all seeds were equally good.
    """
    seeds, items = values.shape
    sums = cluster_sums(values.T - values.mean(), clusters).T
    number = sums.shape[1]
    if seeds < 2 or number < 2:
        return SeedVariance(0.0, 0.0, seeds, number)
    table = sums * number / items
    of_seed = table.mean(axis=1, keepdims=True)
    residual = table - of_seed - table.mean(axis=0, keepdims=True) + table.mean()
    within = float((residual**2).sum()) / ((seeds - 1) * (number - 1))
    between = number * float(of_seed.var(ddof=1))
    cells = seeds * number
    return SeedVariance(between / cells, within / cells, seeds, number)


def add_seed_noise(means: Array, systems: Sequence[SeedVariance], seed: int = 1) -> Array:
    """Widen replicates [B] over clusters as far as other seeds would.

    `systems`: those whose sum or difference the replicates are of. Three or five seeds are too few
    to draw from (an interval from such draws is too narrow), so the replicates are given the whole
    variance, of clusters and seeds, and the tails of Student's t with V^2 / sum(MS^2 / (f + 2)) - 1
    degrees of freedom: Welch (1947) subtracts 2, which simulations find too cautious where seeds
    differ little, and nothing is too bold where they differ much (docs/evaluation.md).
    """
    several = [system for system in systems if system.seeds > 1 and system.clusters > 1]
    centre, of_clusters = float(np.nanmean(means)), float(np.nanvar(means, ddof=1))
    if not several or of_clusters == 0:
        return means
    variance = of_clusters + sum(system.value for system in several)
    variance = max(variance, LEAST_SHARE * of_clusters)
    doubt = of_clusters**2 / (several[0].clusters + 1)
    for system in several:
        doubt += system.between**2 / (system.seeds + 1)
        doubt += system.within**2 / ((system.seeds - 1) * (system.clusters - 1) + 2)
    freedom = max(variance**2 / doubt - 1, min(system.seeds for system in several) - 1)
    widths = np.random.default_rng(seed).chisquare(freedom, len(means))
    return centre + (means - centre) * np.sqrt(variance / of_clusters * freedom / widths)
