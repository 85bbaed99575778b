"""Compares how likely a model finds the right candidate in different contexts.

Only for runs of the same models, whose log-probabilities are comparable: a set and its perturbed
copies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from concatmt.evaluation.outcomes import System
from concatmt.evaluation.resampling import (
    Array,
    Estimate,
    Indices,
    cluster_numbers,
    percentiles,
    resampled_means,
)
from concatmt.evaluation.significance import holm, replicates_p_value


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Mean log-probability of the current sentence of the right candidate, in nats."""

    system: str
    estimate: Estimate
    difference: Estimate | None  # to the first run
    p_value: float | None  # Holm's


def likelihoods(systems: Sequence[System]) -> list[Likelihood]:
    """One for each context; none if the models differ or were not scored.

    Averages over seeds; intervals are over documents.
    """
    models = {
        tuple(file.signature.values.get("model") for file in system.files) for system in systems
    }
    if len(systems) < 2 or len(models) != 1 or None in next(iter(models)):
        return []
    rows = [
        [[outcome.log_prob for outcome in file.outcomes] for file in system.files]
        for system in systems
    ]
    if any(value is None for runs in rows for row in runs for value in row):
        return []
    values = np.array(rows, dtype=np.float64).mean(axis=1).T
    clusters = cluster_numbers(outcome.cluster for outcome in systems[0].files[0].outcomes)
    levels = _estimates(values, clusters)
    gains = values[:, 1:] - values[:, :1]
    p_values = holm([replicates_p_value(column) for column in resampled_means(gains, clusters).T])
    return [
        Likelihood(system.name, level, gain, p_value)
        for system, level, gain, p_value in zip(
            systems, levels, [None, *_estimates(gains, clusters)], [None, *p_values], strict=True
        )
    ]


def _estimates(values: Array, clusters: Indices) -> list[Estimate]:
    """Means of columns [N, C], with intervals over clusters."""
    number = int(clusters.max()) + 1
    means = values.mean(axis=0).tolist()
    if number < 2:
        return [Estimate(mean, None, None) for mean in means]
    low, high = percentiles(resampled_means(values, clusters), number)
    return [Estimate(*row) for row in zip(means, low.tolist(), high.tolist(), strict=True)]
