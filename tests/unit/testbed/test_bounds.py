"""Bounds: the published table, hand counts, and simulated observers that read the strings."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from math import sqrt

import pytest

from concatmt.testbed.bounds import SENTENCES, WORDS, bounds, observers
from concatmt.testbed.contrastive import Item
from concatmt.testbed.latents import TASKS, Latent, Space, orbits
from concatmt.testbed.scenes import Scene
from tests.unit.testbed.reader import Reader
from tests.unit.testbed.samples import PAIRS, dials, items, training

# The table of the testbed's specification, "all items / conflict items":
# current only, K=2, K=3, words without order, K=4.
SPECIFIED = """
pron    33.3/33.3 55.6/55.6 77.8/77.8 100.0/100.0 100.0/100.0
vp      12.5/12.5 41.7/41.7 70.8/70.8 56.2/50.0 100.0/100.0
recent  33.3/33.3 77.8/77.8 100.0/100.0 66.7/50.0 100.0/100.0
ordinal 33.3/33.3 55.6/55.6 77.8/77.8 66.7/50.0 100.0/100.0
tv      50.0/50.0 50.0/50.0 100.0/100.0 75.0/50.0 100.0/100.0
spk     50.0/50.0 50.0/50.0 100.0/100.0 75.0/50.0 100.0/100.0
case    25.0/25.0 50.0/12.5 100.0/100.0 75.0/50.0 100.0/100.0
"""
COLUMNS = ("current only", "K=2", "K=3", WORDS, "K=4")


@pytest.mark.parametrize("line", SPECIFIED.strip().splitlines())
def test_the_bounds_at_the_default_dials_are_those_of_the_specification(line: str) -> None:
    task, *expected = line.split()
    found = bounds(dials("en-ru").latents(task), window=4)
    assert [f"{found[c].all:.1f}/{found[c].conflict:.1f}" for c in COLUMNS] == expected


def test_german_case_has_three_options_and_its_bounds_are_counted_by_hand() -> None:
    # 27 latents, nine per pattern. K=2 is right on Q A (9), on Q1 Q2 A1 when both ask the same
    # case (3), and on a third of Q1 Q2 A1 A2 (3): 15/27. Of the 6 + 6 conflict items: 0 + 2.
    # Words without order: 9 + (3 + 6/2) + (3 + 6/2) = 21 of 27; half of the conflict items.
    found = bounds(dials("en-de").latents("case"), window=4)
    assert found["current only"].all == pytest.approx(100 / 3, abs=1e-3)
    assert found["K=2"].all == pytest.approx(1500 / 27, abs=1e-3)
    assert found["K=2"].conflict == pytest.approx(200 / 12, abs=1e-3)
    assert found[WORDS].all == pytest.approx(2100 / 27, abs=1e-3)
    assert found[WORDS].conflict == 50


def test_names_can_be_known_from_the_target_context_alone() -> None:
    latents = dials("en-ru").latents("names")
    assert {bound.all for bound in bounds(latents, 4).values()} == {50.0}
    found = bounds(latents, 4, target=True)
    # One cue at distance 1, 2 or 3: seen by K=2 in a third of the items, else a coin is tossed.
    assert found["K=2"].all == pytest.approx(100 * (1 / 3 + 2 / 3 / 2), abs=1e-3)
    assert found["K=3"].all == pytest.approx(100 * (2 / 3 + 1 / 3 / 2), abs=1e-3)
    assert found["K=4"].all == 100


def test_the_controls_are_solved_by_all_observers_or_by_none() -> None:
    chosen = dials("en-ru")
    assert {bound.all for bound in bounds(chosen.latents("d0"), 4).values()} == {100.0}
    far = bounds(chosen.latents("far"), 4, target=True)
    for bound in far.values():
        assert (bound.all, bound.conflict) == pytest.approx((100 / 3, 100 / 3), abs=1e-3)


def test_a_window_that_holds_every_cue_is_enough_at_every_dial() -> None:
    for window in (4, 5, 8):
        for speakers in (2, 3):
            chosen = dials("en-ru", window=window, speakers=speakers)
            for task in TASKS:
                found = bounds(chosen.latents(task), window, target=True)
                whole = found[f"K={window}"].all
                assert whole == pytest.approx(100 / 3 if task == "far" else 100, abs=1e-3)


def test_an_orbit_has_one_latent_per_label_and_all_orbits_make_the_space() -> None:
    for window, speakers in ((4, 2), (7, 3)):
        chosen = dials("en-ru", window=window, speakers=speakers)
        for task in TASKS:
            latents = chosen.latents(task)
            found = orbits(latents)
            labels = sorted({latent.label for latent in latents})
            assert all([latent.label for latent in orbit] == labels for orbit in found)
            assert sum(map(len, found)) == len(latents)


def test_cues_are_as_far_as_seven_sentences_back() -> None:
    space = Space(window=8, distance=7)
    for task in ("pron", "recent", "ordinal", "vp", "names"):
        latents = dials("en-ru", window=8).latents(task)
        assert max(max(latent.cues) for latent in latents) == space.distance


def seen(scene: Scene, reader: Reader, observer: str, target: bool) -> Hashable:
    """What an observer of a window of four sees in the strings of a scene."""
    current = scene.current.source
    told = [
        reader.told(sentence.source, sentence.target if target else "", current)
        for sentence in scene.context[-3:]
    ]
    here = reader.told_here(current)
    if observer == WORDS:
        return here, tuple(sorted(map(str, (atom for atoms in told for atom in atoms))))
    if observer == SENTENCES:
        return here, tuple(sorted(map(str, told)))
    size = 1 if observer == "current only" else int(observer.removeprefix("K="))
    return here, tuple(told[len(told) - size + 1 :])


def learnt(
    found: list[Item], reader: Reader, observer: str, target: bool
) -> dict[Hashable, list[int]]:
    """The observer's best answers to what it can see, from a balanced set of items."""
    labels: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for item in found:
        sight = seen(item.scene, reader, observer, target)
        labels[sight][item.scene.latent.label] += 1
    return {
        sight: [label for label, count in counts.items() if count == max(counts.values())]
        for sight, counts in labels.items()
    }


def simulated(
    scenes: list[Scene], answers: dict[Hashable, list[int]], reader: Reader, key: tuple[str, bool]
) -> list[float]:
    """The share of right answers on each scene; a tie among m answers counts 1/m."""
    return [
        (scene.latent.label in best) / len(best)
        for scene in scenes
        for best in [answers[seen(scene, reader, *key)]]
    ]


def mean(values: list[float]) -> float:
    return 100 * sum(values) / len(values)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("target", [False, True])
def test_simulated_observers_of_the_contrastive_sets_reach_the_bounds_exactly(
    pair: str, target: bool
) -> None:
    reader = Reader(pair)
    for task, found in items(pair).items():
        expected = bounds(dials(pair).latents(task), 4, target)
        for observer in observers(4):
            answers = learnt(found, reader, observer, target)
            scenes = [item.scene for item in found]
            shares = simulated(scenes, answers, reader, (observer, target))
            conflict = [s for s, x in zip(shares, scenes, strict=True) if x.latent.conflict]
            assert mean(shares) == pytest.approx(expected[observer].all, abs=1e-3)
            assert mean(conflict) == pytest.approx(expected[observer].conflict, abs=1e-3)


@pytest.mark.parametrize("pair", PAIRS)
def test_simulated_observers_of_training_documents_reach_the_bounds_within_sampling_error(
    pair: str,
) -> None:
    reader = Reader(pair)
    scenes: dict[str, list[Scene]] = defaultdict(list)
    for document in training(pair, density=1.0):
        for scene in document.scenes.values():
            scenes[scene.task].append(scene)
    for task, told in scenes.items():
        expected = bounds(dials(pair).latents(task), 4, target=True)
        for observer in observers(4):
            answers = learnt(items(pair)[task], reader, observer, True)
            shares = simulated(told, answers, reader, (observer, True))
            deviation = sqrt(sum((s - mean(shares) / 100) ** 2 for s in shares)) / len(shares)
            assert abs(mean(shares) - expected[observer].all) <= 400 * deviation + 1e-3


def test_latents_are_equally_frequent_in_training() -> None:
    """Chi-square with Wilson and Hilferty's approximation of its 99.99% quantile."""
    counts: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)

    def name(latent: Latent) -> tuple[object, ...]:
        return (*latent.frame, latent.label)

    for document in training("en-ru", density=1.0):
        for scene in document.scenes.values():
            counts[scene.task][name(scene.latent)] += 1
    for task in TASKS:
        names = [name(latent) for latent in dials("en-ru").latents(task)]
        expected = counts[task].total() / len(names)
        statistic = sum((counts[task][n] - expected) ** 2 / expected for n in names)
        free = len(names) - 1
        assert statistic < free * (1 - 2 / (9 * free) + 3.72 * sqrt(2 / (9 * free))) ** 3
