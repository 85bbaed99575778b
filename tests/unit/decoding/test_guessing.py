"""A document that is walked by pieces comes out as one sentence after the other."""

from copy import deepcopy
from pathlib import Path

import pytest

from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.guessing import GuessedDocument, pieces_of
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.scheduler import search_for
from concatmt.decoding.translation import History, Passage, Report, Translation
from concatmt.decoding.translator import Translator

WORDS = ["The", "house", "is", "old", "and", "Anna", "likes", "her", "garden", "reads"]
CONFIG = TranslateConfig(
    search=SearchConfig(beam=2, length_factor=0.3, length_constant=2),
    pool=PoolConfig(threads=1),
    max_tokens=60,
)


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    loaded = LoadedModel.load(model_folder)
    return Translator(loaded.engine, loaded.text, CONFIG, loaded.identity)


def passage(sentences: int = 26) -> Passage:
    """Short and long sentences, empty ones, one far too long, and some that are settled."""
    source = [" ".join(WORDS[i % 7 :][: 1 + i % 3]) for i in range(sentences)]
    source[5], source[13], source[17] = "", " ".join(WORDS * 9), "  "
    given: list[str | None] = [None] * sentences
    given[8], given[21] = "Ein Satz.", "Noch einer."
    return Passage(source, given=given)


def by_pieces(
    translator: Translator, one: Passage, pieces: int
) -> tuple[list[Translation], Report, GuessedDocument]:
    document = GuessedDocument(translator.sentences, one, translator.context, pieces)
    found: list[Translation] = []
    report, config = Report(), translator.config

    walks = [document.walk(piece, pieces) for piece in range(pieces)]
    search_for(walks, translator.engine, config.search, config.pool, config.nbest)
    last = document.last_walk(found.append, report)
    search_for([last], translator.engine, config.search, config.pool, config.nbest)
    return found, report, document


@pytest.mark.parametrize("pieces", [1, 2, 5, 13])
def test_pieces_come_out_as_one_sentence_after_the_other(
    translator: Translator, pieces: int
) -> None:
    before = History()
    before.push([9, 9], [8, 8], 2)
    one, other = passage(), passage()
    one.history, other.history = deepcopy(before), deepcopy(before)
    (wanted,), told = translator._side_by_side([one])
    found, report, document = by_pieces(translator, other, pieces)
    assert [a.text for a in found] == [b.text for b in wanted]
    assert [a.tokens for a in found] == [b.tokens for b in wanted]
    assert [a.score for a in found] == pytest.approx([b.score for b in wanted], abs=1e-4)
    assert other.history == one.history
    counts = ("sentences", "unknown", "long", "trimmed", "copied", "miscounts")
    assert [getattr(report, name) for name in counts] == [getattr(told, name) for name in counts]
    windows = sum(max(1, -(-len(g.ids) // 59)) for g in document.guesses if g.ids)
    if pieces == 1:
        assert report.searches >= windows - 2  # the settled ones are not searched
    assert report.guessed == len(found) == 26


def test_beginnings_are_searched_again_with_the_context_that_they_lacked(
    translator: Translator,
) -> None:
    one = Passage([" ".join(WORDS[i % 7 :][: 1 + i % 3]) for i in range(24)])
    alone = by_pieces(translator, one, 1)[1].searches
    cut = by_pieces(translator, Passage(one.source), 4)[1].searches
    assert alone == 24
    # Three pieces begin without their two context sentences; at most everything is done twice.
    assert 24 + 3 * 2 <= cut <= 2 * 24 + 3 * 12


def test_few_documents_are_cut_and_many_are_not() -> None:
    assert [pieces_of(n) for n in (0, 1, 11, 12, 100, 200)] == [1, 1, 1, 2, 6, 8]
    assert pieces_of(100_000) == 32


def test_the_threads_do_not_change_what_comes_out(model_folder: Path) -> None:
    loaded = LoadedModel.load(model_folder)
    found = []
    for threads in (1, 2):
        config = CONFIG.model_copy(update={"pool": PoolConfig(threads=threads)})
        one = Translator(loaded.engine, loaded.text, config, loaded.identity)
        documents, report = one.translate_passages([passage(26), passage(22), passage(22)])
        assert report.guessed == 70
        found.append([[(s.text, s.score) for s in of] for of in documents])
    assert found[0] == found[1]
