"""Simulated runs whose truth is known: how often intervals cover it, and tests cry wolf.

`python -m tests.unit.evaluation.simulations` prints the table of docs/evaluation.md.
"""

import numpy as np

from concatmt.evaluation import resampling, significance
from concatmt.evaluation.resampling import Array, Indices
from concatmt.tables import markdown_table


def clustered(
    rng: np.random.Generator, runs: int, clusters: int, size: int, mean: float, within: float
) -> tuple[Array, Indices]:
    """0/1 outcomes [N, runs]; with probability `within` an item does as its whole cluster."""
    numbers = np.repeat(np.arange(clusters), size)
    shared = (rng.random((clusters, runs)) < mean)[numbers]
    own = rng.random((len(numbers), runs)) < mean
    follows = rng.random(own.shape) < within
    return np.where(follows, shared, own).astype(float), numbers


def coverage(
    simulations: int, clusters: int, size: int, mean: float, within: float, replicates: int = 1000
) -> float:
    """Share of 95% intervals of an accuracy that hold the truth; all see the same draws."""
    rng = np.random.default_rng(clusters + size)
    values, numbers = clustered(rng, simulations, clusters, size, mean, within)
    means = resampling.resampled_means(values, numbers, replicates=replicates, seed=5)
    low, high = resampling.percentiles(means, clusters)
    return float(((low <= mean) & (mean <= high)).mean())


def false_positives(
    simulations: int, clusters: int, size: int, within: float, clustered_test: bool
) -> float:
    """Share of pairs of equally good runs that a test at 5% tells apart."""
    rng = np.random.default_rng(clusters * size)
    ours, numbers = clustered(rng, simulations, clusters, size, 0.7, within)
    theirs, _ = clustered(rng, simulations, clusters, size, 0.7, within)
    p_values = [
        significance.mcnemar(a, b, numbers if clustered_test else np.arange(len(a)))
        for a, b in zip(ours.T, theirs.T, strict=True)
    ]
    return float((np.array(p_values) <= 0.05).mean())


def seeded(
    rng: np.random.Generator, ease: Array, seeds: int, spread: float, numbers: Indices
) -> Array:
    """Outcomes [S, N] of runs whose quality varies by `spread`, on documents of varying ease."""
    skill = spread * rng.standard_normal((seeds, 1))
    own = 0.5 * rng.standard_normal((seeds, len(ease)))
    return (rng.random((seeds, len(numbers))) < _logistic((ease + skill + own)[:, numbers])) * 1.0


def seed_coverage(
    simulations: int, seeds: int, spread: float, clusters: int = 150, naive: bool = False
) -> tuple[float, float]:
    """Coverage of the difference of two equally good systems, and false positives of its test.

    `naive`: drawing seeds, then documents, with replacement, percentiles as they are.
    """
    rng = np.random.default_rng(seeds)
    numbers = np.repeat(np.arange(clusters), 2)
    pairs = []
    for _ in range(simulations):
        ease = 1 + rng.standard_normal(clusters)
        pairs.append([seeded(rng, ease, seeds, spread, numbers) for _ in range(2)])
    if naive:
        ends = [np.percentile(_naive(rng, *pair, numbers), [2.5, 97.5]) for pair in pairs]
        return float(np.mean([low <= 0 <= high for low, high in ends])), float("nan")
    differences = np.array([ours.mean(axis=0) - theirs.mean(axis=0) for ours, theirs in pairs]).T
    means = resampling.resampled_means(differences, numbers, replicates=1000)
    moved = np.empty_like(means)
    for place, pair in enumerate(pairs):
        variances = [resampling.seed_variance(run, numbers) for run in pair]
        moved[:, place] = resampling.add_seed_noise(means[:, place], variances, seed=place)
    low, high = resampling.percentiles(moved, clusters)
    p_values = np.array([significance.replicates_p_value(column) for column in moved.T])
    return float(((low <= 0) & (high >= 0)).mean()), float((p_values <= 0.05).mean())


def _naive(rng: np.random.Generator, ours: Array, theirs: Array, numbers: Indices) -> Array:
    a, b = (resampling.cluster_sums(run.T, numbers) for run in (ours, theirs))
    clusters, seeds = a.shape
    found = []
    for _ in range(200):
        rows = rng.integers(clusters, size=clusters)
        mine, other = (rng.integers(seeds, size=seeds) for _ in range(2))
        found.append(a[rows][:, mine].mean() - b[rows][:, other].mean())
    return np.array(found)


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)), dtype=np.float64)


def main() -> None:
    rows = []
    for clusters, size, mean, within in (
        (500, 1, 0.7, 0.0),
        (1250, 2, 0.85, 0.7),
        (100, 5, 0.6, 0.5),
        (30, 4, 0.5, 0.5),
    ):
        found = coverage(4000, clusters, size, mean, within)
        case = f"{clusters} clusters of {size}, accuracy {mean}, {within} in common"
        rows.append(("interval of an accuracy", case, f"{100 * found:.1f}% covered"))
    for name, with_clusters in (("McNemar by item", False), ("McNemar by cluster", True)):
        for clusters, size, within in ((500, 1, 0.0), (250, 2, 0.7), (100, 5, 0.5)):
            found = false_positives(4000, clusters, size, within, with_clusters)
            case = f"{clusters} clusters of {size}, {within} in common"
            rows.append((name, case, f"{100 * found:.1f}% false positives"))
    for seeds in (3, 5, 10):
        for spread in (0.0, 0.1, 0.3, 1.0):
            held, wrong = seed_coverage(4000, seeds, spread)
            case = f"{seeds} seeds, spread {spread}"
            figures = f"{100 * held:.1f}% covered, {100 * wrong:.1f}% false positives"
            rows.append(("difference over seeds", case, figures))
        held, _ = seed_coverage(400, seeds, 0.3, naive=True)
        rows.append(
            (
                "drawing seeds, for comparison",
                f"{seeds} seeds, spread 0.3",
                f"{100 * held:.1f}% covered",
            )
        )
    print(markdown_table(("what", "simulated runs", "found"), rows))


if __name__ == "__main__":
    main()
