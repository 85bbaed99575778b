"""The nine pitfalls of generated contrastive data, each shown to be avoided."""

import io
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from math import log
from typing import Any

import pytest
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from concatmt.testbed.bounds import bounds
from concatmt.testbed.contrastive import Item
from concatmt.testbed.documents import fingerprint
from concatmt.testbed.scenes import Scene
from tests.unit.testbed.reader import TABLES, Reader, rows
from tests.unit.testbed.samples import PAIRS, dials, items, judge, options, training

ALL = [(pair, task) for pair in PAIRS for task in dials(pair).active_tasks]


def orbits_of(found: list[Item]) -> Iterator[list[Item]]:
    for _, orbit in groupby(found, key=lambda item: item.orbit):
        yield list(orbit)


def scenes_of(pair: str, task: str) -> list[Scene]:
    documents = training(pair, density=1.0)
    return [scene for d in documents for scene in d.scenes.values() if scene.task == task]


@pytest.mark.parametrize(("pair", "task"), ALL)
def test_pitfall_1_agreeing_items_are_kept_in(pair: str, task: str) -> None:
    """With conflict items alone, the opposite of the other cue would always be right."""
    found = items(pair)[task]
    conflict = Counter(item.scene.latent.conflict for item in found)
    assert conflict[True] > 0
    assert conflict[False] > 0
    if task in ("tv", "spk"):
        opposite = [
            1 - cue.value == item.scene.latent.label
            for item in found
            for distance, cue in item.scene.latent.cues.items()
            if distance != item.scene.latent.distance
        ]
        assert sum(opposite) == len(opposite) / 2


@pytest.mark.parametrize(("pair", "task"), ALL)
def test_pitfall_2_orbits_are_closed_under_labels_and_differ_in_the_cue_alone(
    pair: str, task: str
) -> None:
    for orbit in orbits_of(items(pair)[task]):
        records = [item.contrastive() for item in orbit]
        assert [r["correct"] for r in records] == list(range(options(orbit)))
        if task == "d0":
            continue  # its cue is in the current sentence: twins must differ there
        assert len({(r["source"][-1], *r["candidates"]) for r in records}) == 1
        distance = records[0]["distance"]
        for position in range(len(records[0]["context"])):
            told = {(r["source"][position], r["context"][position]) for r in records}
            decides = len(records[0]["source"]) - 1 - position == distance
            assert len(told) == (len(records) if decides else 1)


def test_pitfall_3_bounds_are_counted_on_latents_where_strings_would_deceive() -> None:
    """Grouped by their strings, scenes look as if two sentences were always enough."""
    labels: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for scene in scenes_of("en-ru", "vp"):
        window = tuple(sentence.source for sentence in scene.sentences[-2:])
        labels[window][scene.latent.label] += 1
    count = sum(counts.total() for counts in labels.values())
    by_string = sum(max(counts.values()) for counts in labels.values()) / count
    by_latent = bounds(dials("en-ru").latents("vp"), 4)["K=2"].all / 100
    assert by_latent == pytest.approx(0.4167, abs=1e-4)
    assert by_string > 0.9


@pytest.mark.parametrize("pair", PAIRS)
def test_pitfall_4_every_speaker_gives_exactly_one_cue(pair: str) -> None:
    reader = Reader(pair)
    for task in {"tv", "spk"} & set(items(pair)):
        cue_words = reader.vocatives if task == "tv" else reader.roles
        for item in items(pair)[task]:
            words = [w for s in item.contrastive()["source"] for w in s.split()]
            assert sum(word in cue_words for word in words) == 2


def test_pitfall_5_articles_adjuncts_and_word_order_are_those_of_the_languages() -> None:
    """Forms are checked one by one in test_agreement; here, what a sentence adds."""
    past_times = ("yesterday", "on Monday", "last week", "two months ago", "at noon")
    habits = {row[0] for row in rows(TABLES["en-ru"].HABITS)}
    for pair in PAIRS:
        for document in training(pair):
            for source, target in document.sentences:
                assert " a a" not in source
                assert " a e" not in source
                assert " a o" not in source
                assert source[0].isupper()
                assert target[0].isupper()
                if habits & set(source.split()):
                    assert not any(time in source for time in past_times)
                if source.startswith("You ") and pair == "en-de":
                    assert target.split()[0] in ("Du", "Sie")
                if source.startswith("You ") and pair == "en-ru":
                    assert target.split()[0] in ("Ты", "Вы")


def test_pitfall_5_the_german_verb_stands_second() -> None:
    times = ("Gestern", "Am Montag", "Letzte Woche", "Am Abend", "Kurz nach Mitternacht")
    times += ("Am letzten Tag des Jahres", "Vor zwei Monaten", "Am Mittag", "Im Vorfrühling")
    times += ("Während der Ferien",)
    table = TABLES["en-de"]
    verbs = {form for row in rows(table.PAST) for form in row[1:]}
    verbs |= {form for row in rows(table.GOVERNMENT) for form in row[3:]}
    verbs |= {"regnete", "schneite", "hagelte", "donnerte"}
    fronted = 0
    for document in training("en-de"):
        for _, target in document.sentences:
            for time in times:
                if target.startswith(f"{time} "):
                    assert target.removeprefix(time).split()[0] in verbs
                    fronted += 1
    assert fronted > 1000


@pytest.mark.parametrize("pair", PAIRS)
def test_pitfall_6_candidates_have_the_same_number_of_words_and_of_bpe_pieces(pair: str) -> None:
    """With merges enough to make every word of the small vocabulary whole, as `prepare` has."""
    text = "".join(f"{s.target}\n" for d in training(pair) for s in d.sentences)
    codes = io.StringIO()
    learn_bpe(io.StringIO(text), codes, num_symbols=8000, min_frequency=1, verbose=False)
    pieces = BPE(codes).segment
    for found in items(pair).values():
        for item in found:
            candidates = item.scene.current.candidates
            assert len(set(candidates)) == len(candidates)
            assert len({len(candidate.split()) for candidate in candidates}) == 1
            assert len({len(pieces(candidate).split()) for candidate in candidates}) == 1


@pytest.mark.parametrize("pair", PAIRS)
def test_pitfall_7_nothing_of_the_contrastive_sets_occurs_in_training(pair: str) -> None:
    barred = {fingerprint(i.scene.sentences) for found in items(pair).values() for i in found}
    documents = training(pair)
    windows = {
        fingerprint(document.sentences[start:stop])
        for document in documents
        for stop in range(1, len(document.sentences) + 1)
        for start in range(max(0, stop - 6), stop)
    }
    assert not barred & windows
    assert len({fingerprint(document.sentences) for document in documents}) == len(documents)


@pytest.mark.parametrize("pair", PAIRS)
def test_pitfall_8_the_number_of_words_back_does_not_give_the_sentence_away(pair: str) -> None:
    """A cue two sentences back can be farther in words than a cue three sentences back."""
    words_back: dict[int, list[int]] = defaultdict(list)
    for scene in scenes_of(pair, "pron"):
        between = scene.context[len(scene.context) - scene.latent.distance + 1 :]
        words_back[scene.latent.distance].append(sum(len(s.source.split()) for s in between))
    near, far = sorted(words_back[2]), sorted(words_back[3])
    assert near[9 * len(near) // 10] > far[len(far) // 10]
    lengths = {len(s.source.split()) for d in training(pair) for s in d.sentences}
    assert lengths >= set(range(3, 20))


@pytest.mark.parametrize(("pair", "task"), ALL)
def test_pitfall_9_a_constant_scorer_is_at_chance_per_item_and_at_zero_per_orbit(
    pair: str, task: str
) -> None:
    found = items(pair)[task]
    chance = pytest.approx(1 / options(found))
    assert judge(lambda record: [0.0] * len(record["candidates"]), found) == (chance, 0)
    first = judge(lambda record: [-float(i) for i in range(len(record["candidates"]))], found)
    assert first == (chance, 0)


class CurrentSentence:
    """Scores a candidate by how often its words stood with the source words in training."""

    def __init__(self, pair: str) -> None:
        self.together: Counter[tuple[str, str]] = Counter()
        self.alone: Counter[str] = Counter()
        for document in training(pair, density=1.0):
            for sentence in document.sentences:
                words = set(sentence.source.split())
                self.alone.update(words)
                self.together.update((s, t) for s in words for t in set(sentence.target.split()))

    def __call__(self, record: dict[str, Any]) -> list[float]:
        source = set(record["source"][-1].split())
        return [
            sum(
                log(1e-9 + max(self.together[s, t] / self.alone[s] for s in source))
                for t in candidate.split()
            )
            for candidate in record["candidates"]
        ]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_scorer_that_sees_the_current_sentence_alone_is_at_chance(pair: str) -> None:
    scorer = CurrentSentence(pair)
    for task, found in items(pair).items():
        accuracy, orbits = judge(scorer, found)
        if task != "d0":
            assert accuracy == pytest.approx(1 / options(found))
            assert orbits == 0


@pytest.mark.parametrize("pair", PAIRS)
def test_windows_of_far_are_the_same_for_all_twins(pair: str) -> None:
    for orbit in orbits_of(items(pair)["far"]):
        windows = {
            (*record["source"][-4:], *record["context"][-3:])
            for record in (item.contrastive() for item in orbit)
        }
        assert len(windows) == 1


def naive_bayes(told: list[tuple[set[str], int]]) -> tuple[float, int]:
    """Accuracy on every third scene of a classifier by words that learnt from the others."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    learnt = [scene for i, scene in enumerate(told) if i % 3]
    for words, label in learnt:
        counts[label].update(words)
    totals = Counter(label for _, label in learnt)

    def score(words: set[str], label: int) -> float:
        return sum(log((counts[label][w] + 1) / (totals[label] + 2)) for w in words)

    tested = told[::3]
    right = sum(max(totals, key=lambda y: score(words, y)) == label for words, label in tested)
    return right / len(tested), len(tested)


@pytest.mark.parametrize(("pair", "task"), ALL)
def test_words_of_the_current_sentence_do_not_predict_the_label_in_training(
    pair: str, task: str
) -> None:
    scenes = scenes_of(pair, task)
    told = [(set(scene.current.source.split()), scene.latent.label) for scene in scenes]
    accuracy, count = naive_bayes(told)
    chance = 1 / len(scenes[0].current.candidates)
    if task == "d0":
        assert accuracy > 1.5 * chance
    else:
        assert abs(accuracy - chance) < 4 * (chance * (1 - chance) / count) ** 0.5


@pytest.mark.parametrize("pair", PAIRS)
def test_words_of_the_window_do_not_predict_the_label_of_far_but_that_of_pron(pair: str) -> None:
    def accuracy(task: str) -> float:
        words = [
            ({w for s in scene.sentences[-4:] for w in s.source.split()}, scene.latent.label)
            for scene in scenes_of(pair, task)
        ]
        return naive_bayes(words)[0]

    assert accuracy("far") == pytest.approx(1 / 3, abs=0.12)
    assert accuracy("pron") > 0.5
