"""Significance tests: is one system better than another, or is it chance?

Outcomes are numbers in [0, 1] per item, paired by item. Does not know what the items are.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import signal, stats

from concatmt.evaluation.resampling import Array, Indices, cluster_sums

# Ties of m candidates count 1/m, m <= 12 in existing sets: multiples of 1/27720.
DENOMINATOR = math.lcm(*range(1, 13))
LARGEST_SUM = 1 << 21
FLIPS = 10_000


def mcnemar(ours: Array, theirs: Array, clusters: Indices) -> float:
    """Exact two-sided McNemar test of items [N] that come in clusters.

    If the systems are equally good, each cluster could just as well have gone the other way as a
    whole: the sum of all differences is compared with those of all ways to flip clusters. With one
    item to a cluster and no ties this is McNemar's test, a sign test of the items that differ.
    """
    difference = np.rint((ours - theirs)[:, None] * DENOMINATOR)
    sums = cluster_sums(difference, clusters)[:, 0].astype(np.int64)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    sums //= np.gcd.reduce(sums)
    sizes, counts = np.unique(np.abs(sums), return_counts=True)
    observed = abs(int(sums.sum()))
    if int(sizes @ counts) > LARGEST_SUM:
        return _sampled_flips(np.abs(sums), observed)
    distribution = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        single = np.zeros(size * count + 1)
        single[::size] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        distribution = signal.convolve(distribution, single) if len(distribution) > 1 else single
    # The sum of sizes of positive clusters, u, gives the total 2 u - (sum of all sizes).
    totals = np.abs(2 * np.arange(len(distribution)) - (len(distribution) - 1))
    return float(min(1.0, max(0.0, distribution[totals >= observed].sum())))


def _sampled_flips(sizes: Indices, observed: int) -> float:
    rng = np.random.default_rng(0)
    totals = [int(sizes @ (2 * rng.integers(2, size=len(sizes)) - 1)) for _ in range(FLIPS)]
    return (1 + sum(abs(total) >= observed for total in totals)) / (FLIPS + 1)


def replicates_p_value(differences: Array) -> float:
    """Two-sided p-value of "no difference" from bootstrap replicates of a difference."""
    usable = differences[np.isfinite(differences)]
    tail = min(int((usable <= 0).sum()), int((usable >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(usable) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that the chance of any false alarm among all of them stays below 5%.

    Holm (1979): the i-th smallest of m is multiplied by m - i + 1 and may not fall below another.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, place in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = running
    return adjusted
