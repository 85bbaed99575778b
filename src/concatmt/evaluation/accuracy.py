"""Computes accuracies by phenomenon, distance and orbit, with intervals and differences.

Items and orbits are units; a group is the set of units of one accuracy. Knows outcomes, not how
they were obtained.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from concatmt.evaluation import aggregates
from concatmt.evaluation.outcomes import Outcome, System, check_comparable
from concatmt.evaluation.resampling import (
    LEVEL,
    REPLICATES,
    Array,
    Estimate,
    Indices,
    accuracy_estimate,
    add_seed_noise,
    cluster_numbers,
    percentiles,
    resampled_means,
    seed_variance,
)
from concatmt.evaluation.significance import holm, mcnemar, replicates_p_value

Mask = NDArray[np.bool_]
ALPHA = 0.05
# With several seeds p-values are counted in replicates, and Holm multiplies them by the number of
# comparisons: with hundreds, one must still be able to survive.
SEEDED_REPLICATES = 20_000
# A phenomenon with fewer items is not shown alone: no difference on so few can survive Holm's
# correction, and every one of them makes it harder for the others.
FEWEST = 10
OTHERS = "other"


@dataclass(slots=True)
class Difference:
    """The difference between a system and the first one."""

    estimate: Estimate
    p_value: float
    adjusted: float = 1.0  # by Holm, over all differences of a table

    @property
    def survives(self) -> bool:
        """Whether it is significant, given all others in its table."""
        return self.adjusted <= ALPHA


@dataclass(slots=True)
class Figure:
    """An accuracy of every system, in the order of the systems."""

    kind: str  # all, context, phenomenon, distance, conflict, orbit or aggregate
    name: str
    count: int
    clusters: int
    chance: float | None
    accuracies: list[Estimate] = field(default_factory=list)
    differences: list[Difference | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Group:
    """The units of one accuracy; with `parts`, the accuracy is the mean over the parts."""

    kind: str
    name: str
    members: Mask
    parts: tuple[Mask, ...] = ()

    def values(self, units: Array) -> Array:
        """The values whose mean is the accuracy; averages of parts are made linear in the units."""
        if not self.parts:
            return units
        size, number = int(self.members.sum()), len(self.parts)
        means = [float(units[part].mean()) for part in self.parts]
        values = np.full(len(units), sum(means) / number)
        for part, mean in zip(self.parts, means, strict=True):
            values[part] += (units[part] - mean) * size / (number * int(part.sum()))
        return values


class Units:
    """The items of a set of outcomes, then their orbits; every run has the same."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.items = len(outcomes)
        twins: dict[str, list[int]] = {}
        for place, outcome in enumerate(outcomes):
            if outcome.orbit is not None:
                twins.setdefault(f"{outcome.set} {outcome.orbit}", []).append(place)
        self.orbits = [places for places in twins.values() if len(places) > 1]
        self.outcomes = [*outcomes, *(outcomes[places[0]] for places in self.orbits)]
        self.clusters = cluster_numbers(outcome.cluster for outcome in self.outcomes)
        self.phenomena = shown_phenomena(outcomes)
        self.chance: Array | None = None
        if all(outcome.options for outcome in outcomes):
            self.chance = self.with_orbits([1 / (outcome.options or 1) for outcome in outcomes])

    def with_orbits(self, right: Sequence[float]) -> Array:
        """Outcomes of items, then of orbits. All twins must be right; a tie is broken for each."""
        values = np.array(right)
        return np.concatenate([values, [float(values[places].prod()) for places in self.orbits]])

    def groups(self) -> list[Group]:
        """All groups with an accuracy, without repeating the group of everything."""
        is_item = np.arange(len(self.outcomes)) < self.items
        groups = [Group("all", "all items", is_item)]
        needy = np.array([outcome.needs_context for outcome in self.outcomes]) & is_item
        if needy.any():
            groups.append(Group("context", "items that need context", needy))
        for kind, key in KEYS.items():
            names = [key(outcome) for outcome in self.outcomes]
            if kind == "phenomenon":
                names = [self.phenomena[outcome.phenomenon] for outcome in self.outcomes]
            for name in sorted({name for name in names if name is not None}, key=_others_last):
                members = np.array([other == name for other in names]) & is_item
                groups.append(Group(kind, name, members))
        groups += self._aggregates(groups)
        if self.orbits:
            groups.append(Group("orbit", "all orbits", ~is_item))
        shown = [self.phenomena[outcome.phenomenon] for outcome in self.outcomes]
        for name in sorted(set(shown[self.items :]), key=_others_last):
            orbits = np.array([other == name for other in shown]) & ~is_item
            groups.append(Group("orbit", f"{name} orbits", orbits))
        unique: dict[bytes, Group] = {}
        for group in groups:
            unique.setdefault(group.members.tobytes() + bytes([len(group.parts)]), group)
        return list(unique.values())

    def _aggregates(self, groups: Sequence[Group]) -> list[Group]:
        """The paper's aggregates, if the sets are the paper's."""
        masks = {group.name: group.members for group in groups}
        is_item = masks["all items"]
        combined = []
        if all(name in masks for name in aggregates.PHENOMENA):
            parts = tuple(masks[name] for name in aggregates.PHENOMENA)
            of_voita = np.any(parts, axis=0)
            combined += [Group("aggregate", "Voita", of_voita)]
            combined += [Group("aggregate", "Voita_avg", of_voita, parts)]
        contrapro = np.array(
            [outcome.set.lower().startswith("contrapro") for outcome in self.outcomes]
        )
        contrapro &= is_item
        parts = tuple(masks.get(name, ~is_item) & contrapro for name in aggregates.DISTANCES)
        if all(part.any() for part in parts) and np.array_equal(np.any(parts, axis=0), contrapro):
            outside = np.any(parts[1:], axis=0)
            combined += [Group("aggregate", "CP_d>0", outside)]
            combined += [Group("aggregate", "CP_avg", outside, parts[1:])]
            combined += [Group("aggregate", "CP", contrapro)]
        return combined


def shown_phenomena(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The group of each phenomenon: its own, or one for all small phenomena.

    Those in the paper's aggregates always have their own.
    """
    counts = Counter(outcome.phenomenon for outcome in outcomes)
    small = [n for n, size in counts.items() if size < FEWEST and n not in aggregates.PHENOMENA]
    if len(small) < 2:
        return {name: name for name in counts}
    together = f"{OTHERS} ({len(small)} small groups)"
    return {name: together if name in small else name for name in counts}


def _others_last(name: str) -> tuple[bool, str]:
    return name.startswith(f"{OTHERS} ("), name


KEYS: dict[str, Callable[[Outcome], str | None]] = {
    "phenomenon": lambda outcome: outcome.phenomenon,
    "distance": lambda outcome: (
        None if outcome.distance is None else aggregates.distance_bin(outcome.distance)
    ),
    "conflict": lambda outcome: (
        None if outcome.conflict is None else ("conflict" if outcome.conflict else "no conflict")
    ),
}


def figures(
    systems: Sequence[System], replicates: int | None = None, kinds: Collection[str] | None = None
) -> list[Figure]:
    """Accuracies of all systems and their differences to the first, for some kinds or all."""
    check_comparable(systems)
    if replicates is None:
        seeded = any(len(system.files) > 1 for system in systems)
        replicates = SEEDED_REPLICATES if seeded else REPLICATES
    units = Units(systems[0].files[0].outcomes)
    groups = [group for group in units.groups() if kinds is None or group.kind in kinds]
    runs = [
        np.array(
            [units.with_orbits([outcome.right for outcome in f.outcomes]) for f in system.files]
        )
        for system in systems
    ]
    # Columns: group by group, and within each, system by system.
    columns = [group.values(run.mean(axis=0)) for group in groups for run in runs]
    members = np.repeat([group.members for group in groups], len(runs), axis=0).T
    drawn = resampled_means(np.array(columns).T, units.clusters, members, replicates)
    figures = []
    for place, group in enumerate(groups):
        means = drawn[:, place * len(runs) : (place + 1) * len(runs)]
        figures.append(_figure(group, units, runs, means))
    compared = [d for figure in figures for d in figure.differences if d is not None]
    for difference, adjusted in zip(compared, holm([d.p_value for d in compared]), strict=True):
        difference.adjusted = adjusted
    return figures


def _figure(group: Group, units: Units, runs: Sequence[Array], means: Array) -> Figure:
    """The accuracies of one group; `means` [B, systems] are its replicates."""
    inside = group.members
    clusters = np.unique(units.clusters[inside], return_inverse=True)[1].astype(np.int64)
    chance = None
    if units.chance is not None:
        chance = float(group.values(units.chance)[inside].mean())
    number = int(clusters.max()) + 1
    figure = Figure(group.kind, group.name, int(inside.sum()), number, chance)
    seeds = [np.array([group.values(run)[inside] for run in system]) for system in runs]
    variances = [seed_variance(values, clusters) for values in seeds]
    for place, values in enumerate(seeds):
        replicates = add_seed_noise(means[:, place], variances[place : place + 1])
        figure.accuracies.append(accuracy_estimate(values.mean(axis=0), clusters, replicates))
        if place == 0:
            figure.differences.append(None)
            continue
        replicates = means[:, place] - means[:, 0]
        replicates = add_seed_noise(replicates, [variances[0], variances[place]])
        figure.differences.append(
            _difference(seeds[0], values, clusters, replicates, exact=not group.parts)
        )
    return figure


def _difference(
    first: Array, other: Array, clusters: Indices, replicates: Array, exact: bool
) -> Difference:
    """Outcomes [S, N] of two systems; with one run each, the test is McNemar's by cluster."""
    value = float(other.mean() - first.mean())
    number = int(clusters.max()) + 1
    if number < 2:
        return Difference(Estimate(value, None, None), 1.0)
    low, high = percentiles(replicates[:, None], number, LEVEL)
    estimate = Estimate(value, float(low[0]), float(high[0]))
    if exact and len(first) == len(other) == 1:
        return Difference(estimate, mcnemar(other[0], first[0], clusters))
    return Difference(estimate, replicates_p_value(replicates))
