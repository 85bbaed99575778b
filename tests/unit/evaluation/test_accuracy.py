"""Accuracies: scorers that know nothing are at chance, and differences are told honestly."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure, Group, figures, shown_phenomena
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.resampling import resampled_means
from concatmt.evaluation.sets import ContrastiveItem, read_set
from concatmt.testbed.contrastive import contrastive_sets
from concatmt.testbed.dials import Dials
from tests.unit.evaluation.scorers import (
    constant,
    context_blind,
    judged,
    random_scorer,
    system,
)

VOITA = ("deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp")
# Counted from the sets: the mean of 1 / number of candidates.
CHANCE = {"deixis": 50.0, "lex_cohesion": 45.87, "ellipsis_infl": 20.54, "ellipsis_vp": 9.70}


@pytest.fixture(scope="module")
def voita(shared: Path) -> list[ContrastiveItem]:
    folder = shared / "data" / "contrastive" / "voita"
    return [item for name in VOITA for item in read_set(folder / f"{name}.json").items]


@pytest.fixture(scope="module")
def contrapro(shared: Path) -> list[ContrastiveItem]:
    return read_set(shared / "data" / "contrastive" / "contrapro.jsonl").items


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> list[ContrastiveItem]:
    dials = Dials(pair="en-ru", items=60, tasks=("tv", "pron", "vp"))
    folder = tmp_path_factory.mktemp("testbed")
    items = []
    for name, of_set in contrastive_sets(dials, set()):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(one.contrastive()) + "\n" for one in of_set), "utf-8")
        items += read_set(path).items
    return items


def of(found: list[Figure], name: str) -> Figure:
    return next(figure for figure in found if figure.name == name)


@pytest.mark.parametrize("name", ["voita", "contrapro", "testbed"])
def test_a_constant_scorer_is_exactly_at_chance(name: str, request: pytest.FixtureRequest) -> None:
    for figure in figures([judged(request.getfixturevalue(name), constant)], replicates=20):
        assert figure.accuracies[0].value == pytest.approx(figure.chance)


@pytest.mark.parametrize("name", ["voita", "contrapro", "testbed"])
def test_a_random_scorer_is_at_chance(name: str, request: pytest.FixtureRequest) -> None:
    items = request.getfixturevalue(name)
    for figure in figures([judged(items, random_scorer(7))], replicates=20):
        chance = figure.chance
        assert chance is not None
        error = np.sqrt(chance * (1 - chance) / figure.count)
        assert abs(figure.accuracies[0].value - chance) < 4 * error, figure.name


def test_the_chance_levels_of_voitas_sets_are_those_of_their_candidates(
    voita: list[ContrastiveItem],
) -> None:
    found = figures([judged(voita, constant)], replicates=20)
    for phenomenon, chance in CHANCE.items():
        figure = of(found, phenomenon)
        assert figure.chance is not None
        assert 100 * figure.chance == pytest.approx(chance, abs=0.005)
    counts = [of(found, name).count for name in CHANCE]
    assert counts == [2500, 1500, 500, 500]
    assert of(found, "deixis orbits").count == 1250


def test_a_context_blind_scorer_gets_half_of_deixis_and_no_orbit(
    voita: list[ContrastiveItem],
) -> None:
    found = figures([judged(voita, context_blind)], replicates=20)
    assert of(found, "deixis").accuracies[0].value == 0.5
    assert of(found, "deixis orbits").accuracies[0].value == 0


def test_a_context_blind_scorer_gets_no_orbit_of_the_testbed(
    testbed: list[ContrastiveItem],
) -> None:
    found = figures([judged(testbed, context_blind)], replicates=20)
    for task, options in (("tv", 2), ("pron", 3), ("vp", 8)):
        assert of(found, task).accuracies[0].value == pytest.approx(1 / options)
        assert of(found, f"{task} orbits").accuracies[0].value == 0


def test_voitas_rule_of_ties_would_call_a_constant_scorer_perfect_on_deixis(
    voita: list[ContrastiveItem],
) -> None:
    found = figures([judged(voita, constant, ties="first")], replicates=20)
    assert of(found, "deixis").accuracies[0].value == 1
    assert of(found, "deixis").chance == 0.5


def test_the_papers_aggregates_come_with_the_sets_they_are_of(
    voita: list[ContrastiveItem],
) -> None:
    found = figures([judged(voita, random_scorer(3))], replicates=50)
    by_name = {name: of(found, name).accuracies[0].value for name in CHANCE}
    assert of(found, "Voita_avg").accuracies[0].value == pytest.approx(
        np.mean(list(by_name.values()))
    )
    weighted = sum(by_name[n] * s for n, s in zip(CHANCE, (2500, 1500, 500, 500), strict=True))
    # Voita is the mean over all items: one figure, not two.
    assert of(found, "all items").accuracies[0].value == pytest.approx(weighted / 5000)


def test_an_average_of_parts_varies_as_its_parts_do() -> None:
    # Two halves of 100 and 900 independent items: the variance of the average of both accuracies
    # is (p (1-p) / 100 + p (1-p) / 900) / 4.
    units = np.tile([1.0, 0.0], 500)
    small = np.arange(1000) < 100
    group = Group("aggregate", "average", np.ones(1000, dtype=bool), (small, ~small))
    drawn = resampled_means(group.values(units)[:, None], np.arange(1000))
    assert drawn.std() == pytest.approx(np.sqrt((0.25 / 100 + 0.25 / 900) / 4), rel=0.1)


def test_phenomena_with_few_items_are_one_group_so_that_holm_keeps_its_power() -> None:
    """70 phenomena of one item, as ContraPro has rare pronouns, and two that can be measured."""
    names = [*["er"] * 60, *["sie"] * 40, *(f"rare{number}" for number in range(70))]
    outcomes = [
        replace(one, phenomenon=name, orbit=None, document=str(number), id=str(number))
        for number, (name, one) in enumerate(
            zip(names, system("a", [1.0] * 170).files[0].outcomes, strict=True)
        )
    ]
    wrong = [replace(one, right=float(n % 5 > 0)) for n, one in enumerate(outcomes)]
    systems = [
        System(name, (replace(system(name, [1.0]).files[0], outcomes=tuple(given)),))
        for name, given in (("a", wrong), ("b", outcomes))
    ]
    found = figures(systems, kinds=("all", "phenomenon"))
    assert [(figure.name, figure.count) for figure in found] == [
        ("all items", 170),
        ("er", 60),
        ("sie", 40),
        ("other (70 small groups)", 70),
    ]
    gain = of(found, "sie").differences[1]
    # 8 of 40 items differ, all the same way: 2 / 2**8, times the number of comparisons.
    assert gain is not None
    assert gain.p_value == pytest.approx(2 / 2**8)
    assert gain.survives


def test_the_papers_phenomena_and_a_single_small_one_keep_their_names() -> None:
    names = ["deixis", "ellipsis_vp", *["tv"] * 20, "rare"]
    outcomes = system("a", [1.0] * len(names)).files[0].outcomes
    named = [replace(one, phenomenon=name) for one, name in zip(outcomes, names, strict=True)]
    assert shown_phenomena(named) == {name: name for name in names}


def test_twins_share_a_cluster_and_orbits_need_both() -> None:
    found = figures([system("a", [1, 1, 1, 0, 0, 0, 0.5, 0.5])])
    everything, orbits = of(found, "all items"), of(found, "all orbits")
    assert (everything.count, everything.clusters) == (8, 4)
    assert everything.accuracies[0].value == pytest.approx(4 / 8)
    # One orbit of four is right; a tie in both twins is broken rightly in a quarter of the cases.
    assert orbits.accuracies[0].value == pytest.approx(1.25 / 4)
    assert orbits.chance == 0.25


def test_a_clear_gain_survives_and_none_does_not() -> None:
    rng = np.random.default_rng(0)
    weak, same = ((rng.random(400) < 0.5) * 1.0 for _ in range(2))
    strong = np.maximum(weak, rng.random(400) < 0.5)
    found = of(
        figures([system("base", weak), system("same", same), system("s4", strong)]), "all items"
    )
    none, equal, gain = found.differences
    assert none is None
    assert equal is not None
    assert gain is not None
    assert not equal.survives
    assert gain.survives
    assert gain.estimate.value == pytest.approx(strong.mean() - weak.mean())
    assert gain.estimate.low is not None
    assert gain.estimate.low > 0
    assert gain.adjusted > gain.p_value


def test_seeds_of_one_system_are_averaged_and_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    ease = rng.random(400)
    steady = [(ease < 0.7) * 1.0 for _ in range(5)]
    shaky = [(ease < level) * 1.0 for level in (0.5, 0.6, 0.7, 0.8, 0.9)]
    one, two = of(figures([system("a", *steady), system("b", *shaky)]), "all items").accuracies
    assert two.value == pytest.approx(np.mean([np.mean(run) for run in shaky]))
    assert one.low is not None
    assert one.high is not None
    assert two.low is not None
    assert two.high is not None
    assert two.high - two.low > 1.5 * (one.high - one.low)


def test_a_clear_gain_over_seeds_survives_among_a_hundred_comparisons() -> None:
    rng = np.random.default_rng(4)

    def seeds(level: float) -> list[np.ndarray]:
        return [(rng.random(300) < level) * 1.0 for _ in range(3)]

    others = [system(f"other{number}", *seeds(0.5)) for number in range(25)]
    found = figures([system("base", *seeds(0.5)), *others, system("s4", *seeds(0.9))])
    assert sum(len(figure.differences) - 1 for figure in found) > 100
    everything = of(found, "all items").differences
    assert everything[-1] is not None
    assert everything[-1].survives
    assert not any(one.survives for one in everything[1:-1] if one is not None)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (system("b", [1, 0], ties="wrong"), "different settings.*ties: split, wrong"),
        (
            system("b", [1, 0], score="sum", scope="current"),
            "score: mean, sum; scope: window, curr",
        ),
        (system("b", [1, 0, 1]), "2 items and b-0.jsonl 3, and they differ from item 3 on"),
        (
            System("b", system("b", [1, 0]).files + system("c", [1, 0]).files),
            "c-0.jsonl: is of system c",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(other: System, message: str) -> None:
    with pytest.raises(UserError, match=message):
        figures([system("a", [1, 1]), other])
