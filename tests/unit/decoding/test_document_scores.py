"""Scores of documents are those of the model itself, whatever parts the documents come in."""

from pathlib import Path

import pytest

from concatmt.corpus.parts import Part
from concatmt.decoding.config import PoolConfig
from concatmt.decoding.document_scores import DocumentScorer
from concatmt.decoding.loading import LoadedModel
from concatmt.errors import UserError
from tests.unit.decoding.models import teacher_forced

SOURCE = ["The house is old.", "", "It has a garden.", "Anna reads."]
TARGET = ["Das Haus ist alt.", "nichts", "Es hat einen Garten.", "Anna liest."]
POOL = PoolConfig(threads=1)


@pytest.fixture(scope="module")
def model(model_folder: Path) -> LoadedModel:
    return LoadedModel.load(model_folder)


def scores(model: LoadedModel, *parts: Part) -> dict[tuple[int, int], list[float]]:
    scorer = DocumentScorer(model, [0, 2], POOL)
    found = [one for of_part in scorer.scores(parts) for one in of_part]
    return {(one.sentence, one.context): one.log_probs for one in found}


def test_a_sentence_is_scored_as_the_model_scores_its_window(model: LoadedModel) -> None:
    found = scores(model, Part("d", source=SOURCE, gold=TARGET))
    # An empty sentence is not scored, and is no context.
    assert sorted(found) == [(n, context) for n in (0, 2, 3) for context in (0, 2)]
    ids = [model.text.source.encode(line) for line in SOURCE]
    gold = [model.text.target.encode(line) for line in TARGET]
    for (sentence, context), log_probs in found.items():
        places = [n for n in (0, 2, 3) if n <= sentence][-1 - context :]
        expected = teacher_forced(
            model.engine.model, [ids[n] for n in places], [gold[n] for n in places]
        )
        assert log_probs == pytest.approx(expected[-len(log_probs) :], abs=1e-3)
        assert len(log_probs) == len(gold[sentence]) + 1


def test_parts_of_a_document_are_scored_as_the_whole(model: LoadedModel) -> None:
    whole = scores(model, Part("d", source=SOURCE, gold=TARGET))
    cut = scores(
        model,
        Part("d", source=SOURCE[:3], gold=TARGET[:3]),
        Part("d", first=3, source=SOURCE[3:], gold=TARGET[3:]),
    )
    assert cut.keys() == whole.keys()
    for key, log_probs in whole.items():
        assert cut[key] == pytest.approx(log_probs, abs=1e-4)


def test_a_new_document_does_not_see_the_one_before(model: LoadedModel) -> None:
    alone = scores(model, Part("b", source=SOURCE[3:], gold=TARGET[3:]))
    after = DocumentScorer(model, [2], POOL).scores(
        [Part("a", source=SOURCE, gold=TARGET), Part("b", source=SOURCE[3:], gold=TARGET[3:])]
    )
    [last] = list(after)[1]
    assert last.log_probs == pytest.approx(alone[0, 2], abs=1e-4)


def test_a_document_without_translations_is_refused(model: LoadedModel) -> None:
    with pytest.raises(UserError, match="document 'd': has no translations to score"):
        scores(model, Part("d", source=SOURCE))
