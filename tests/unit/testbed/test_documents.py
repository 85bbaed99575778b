"""Documents and scenes: what the window shows decides, and nothing else does."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from concatmt.testbed.contrastive import Item, contrastive_sets
from concatmt.testbed.dials import parse_dials
from concatmt.testbed.documents import (
    draw_document,
    draw_documents,
    evaluation_recipe,
    training_recipe,
)
from concatmt.testbed.latents import TASKS
from concatmt.testbed.scenes import tell
from concatmt.testbed.surface import Surface
from tests.unit.testbed.reader import TABLES, Reader, rows
from tests.unit.testbed.samples import PAIRS, dials, items, training

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("pair", PAIRS)
def test_a_reader_of_the_strings_solves_every_item_but_those_of_far(pair: str) -> None:
    reader = Reader(pair)
    for task, found in items(pair).items():
        for item in found:
            record = item.contrastive()
            answer = reader.answer(record["source"][-4:], record["context"][-3:])
            assert answer == (None if task == "far" else record["correct"])


@pytest.mark.parametrize("pair", PAIRS)
def test_a_reader_solves_training_documents_from_their_windows_alone(pair: str) -> None:
    reader, window = Reader(pair), 4
    for document in training(pair):
        source, target = zip(*document.sentences, strict=True)
        for place, sentence in enumerate(source):
            scene = document.scenes.get(place)
            start = max(0, place - window + 1)
            if scene is not None:
                answer = reader.answer(source[start : place + 1], target[start:place])
                assert answer == (None if scene.task == "far" else scene.latent.label)
                assert target[place] == scene.current.candidates[scene.latent.label]
            elif reader.needs_context(sentence):
                # The answers that stand before the last one of a queue.
                answer = reader.answer(source[start : place + 1], target[start:place])
                assert reader.answered(sentence.split()[-2], target[place]) == [answer]


def test_wide_windows_and_three_speakers_are_solved_too() -> None:
    chosen = dials("en-ru", window=8, speakers=3)
    reader = Reader("en-ru", speakers=3)
    for task in TASKS:
        for number, latent in enumerate(chosen.latents(task)[::7]):
            surface = Surface(chosen.language, f"{task} {number}", chosen.length)
            scene = tell(task, latent, surface, chosen.window)
            source, target = zip(*scene.sentences, strict=True)
            answer = reader.answer(source[-8:], target[:-1][-7:])
            assert answer == (None if task == "far" else latent.label)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_name_keeps_its_rendering_throughout_a_document(pair: str) -> None:
    renderings = [row[1:] for row in rows(TABLES[pair].NAMES)]
    for document in training(pair):
        words = {word for sentence in document.sentences for word in sentence.target.split()}
        assert not any(first in words and second in words for first, second in renderings)


@pytest.mark.parametrize("window", [4, 6, 8])
def test_documents_have_four_to_twelve_sentences(window: int) -> None:
    recipe = training_recipe(dials("en-ru", window=window))
    lengths = {len(draw_document(recipe, str(seed)).sentences) for seed in range(500)}
    assert min(lengths) >= 4
    assert max(lengths) <= 12
    assert len(lengths) >= 3


def test_documents_of_one_scene_are_as_long_as_a_window() -> None:
    recipe = training_recipe(dials("en-ru", density=1.0, scenes=1, around=0))
    for document in draw_documents(recipe, "seed", 200, set()):
        ((last, scene),) = document.scenes.items()
        assert last == len(document.sentences) - 1
        assert len(document.sentences) == 4 or scene.task == "far"


def test_scenes_and_ordinary_sentences_stay_within_their_limits() -> None:
    recipe = training_recipe(dials("en-ru", density=1.0, scenes=2, around=1))
    drawn = list(draw_documents(recipe, "seed", 200, set()))
    ordinary = [len(d.sentences) - sum(len(s.sentences) for s in d.scenes.values()) for d in drawn]
    assert {document.scene_count for document in drawn} == {1, 2}
    assert set(ordinary) == {0, 1}


@pytest.mark.parametrize("density", [0.0, 0.05, 0.5, 1.0])
def test_density_is_the_share_of_scenes_with_a_phenomenon(density: float) -> None:
    recipe = training_recipe(dials("en-ru", density=density))
    documents = [draw_document(recipe, str(seed)) for seed in range(1000)]
    told = sum(len(document.scenes) for document in documents)
    scenes = sum(document.scene_count for document in documents)
    assert told / scenes == pytest.approx(density, abs=0.05)


def test_weights_are_how_often_scenes_have_a_task() -> None:
    turned = parse_dials(pair="en-ru", density=1.0, tasks=("pron", "tv"), weights={"tv": 3})
    recipe = training_recipe(turned)
    documents = [draw_document(recipe, str(seed)) for seed in range(500)]
    drawn = Counter(scene.task for one in documents for scene in one.scenes.values())
    assert drawn["tv"] / drawn["pron"] == pytest.approx(3, rel=0.15)


def test_a_document_strings_several_phenomena_together() -> None:
    tasks = [
        {scene.task for scene in document.scenes.values()}
        for document in training("en-ru", density=1.0)
    ]
    assert Counter(map(len, tasks))[3] > 100
    assert set().union(*tasks) == set(TASKS)


def test_a_longer_length_dial_makes_longer_sentences() -> None:
    def mean_length(length: float) -> float:
        recipe = training_recipe(dials("en-de", length=length))
        sentences = [s for seed in range(200) for s in draw_document(recipe, str(seed)).sentences]
        return sum(len(sentence.source.split()) for sentence in sentences) / len(sentences)

    assert mean_length(0) < mean_length(0.65) < mean_length(1.5) < mean_length(3)


def test_three_speakers_give_one_cue_each() -> None:
    chosen = dials("en-ru", speakers=3)
    for task in ("tv", "spk"):
        assert all(set(latent.cues) == {1, 2, 3} for latent in chosen.latents(task))
        assert {latent.distance for latent in chosen.latents(task)} == {3}


def test_distances_that_are_held_out_occur_in_the_test_alone() -> None:
    changes = {"hold_out_distances": (3,)}
    shown = {
        (scene.task, scene.latent.distance)
        for document in training("en-ru", 800, **changes)
        for scene in document.scenes.values()
    }
    assert ("pron", 2) in shown
    assert not any(distance == 3 for _, distance in shown)
    assert any(item.scene.latent.distance == 3 for item in items("en-ru", **changes)["pron"])


def words_of(found: list[Item]) -> set[str]:
    return {word for item in found for s in item.scene.sentences for word in s.source.split()}


def test_words_that_are_held_out_only_occur_in_ordinary_sentences() -> None:
    changes = {"hold_out_words": 0.3}
    seen, unseen = dials("en-ru", **changes).language.divided(0.3)
    out = {noun.source for nouns in unseen.nouns["food"] for noun in nouns}
    out |= {animate.source for animate in unseen.animates}
    documents = training("en-ru", 800, **changes)
    told = {
        word
        for document in documents
        for scene in document.scenes.values()
        for sentence in scene.sentences
        for word in sentence.source.split()
    }
    everywhere = {word for d in documents for s in d.sentences for word in s.source.split()}
    assert not out & told
    assert out <= everywhere
    sets = items("en-ru", **changes)
    assert not words_of(sets["pron"]) & out
    kept = {noun.source for nouns in seen.nouns["food"] for noun in nouns}
    assert not words_of(sets["pron.unseen"]) & kept
    assert "names.unseen" not in sets


def test_expected_words_are_those_of_the_right_candidate_alone() -> None:
    record = items("en-de")["case"][0].generative()
    forms = {row[0]: row[1:] for row in rows(TABLES["en-de"].ANIMATES)}
    asked = record["source"][-1].split()[-2]
    nominative, accusative, dative = (form.split() for form in forms[asked])
    assert set(nominative) - set(accusative) - set(dative) <= set(record["expected"])
    assert set(record["wrong"]) == (set(accusative) | set(dative)) - set(nominative)
    for sets in (items("en-ru"), items("en-de")):
        for item in (item for found in sets.values() for item in found):
            record = item.generative()
            right = item.scene.sentences[-1].target.split()
            assert record["expected"]
            assert set(record["expected"]) <= set(right)
            assert record["wrong"]
            assert not set(record["wrong"]) & set(right)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_documents_shown_in_the_docs_are_those_that_are_generated(pair: str) -> None:
    chosen = parse_dials(pair=pair)
    taken: set[bytes] = set()
    sets = dict(contrastive_sets(chosen, taken))
    shown = (DOCS / "testbed-samples.md").read_text("utf-8")
    documents = draw_documents(evaluation_recipe(chosen), "1 test", 10, taken)
    for document in islice(documents, 10):
        assert "".join(f"| {s.source} | {s.target} |\n" for s in document.sentences) in shown
    examples = (DOCS / "testbed.md").read_text("utf-8")
    for task, found in sets.items():
        contexts = (
            "".join(f"| {s.source} | {s.target} |\n" for s in item.scene.context)
            + f"| {item.scene.current.source} |"
            for item in found
        )
        assert any(context in examples for context in contexts), task
