"""Word alignments read from attention: links are between words that are there."""

from pathlib import Path

import pytest
import torch

from concatmt.decoding.alignment import Head, WordAligner, _agreements, _links, _same_marks
from concatmt.decoding.loading import LoadedModel
from concatmt.segments.words import count_words, word_spans

PAIRS = [
    ("The house is old.", "Das Haus ist alt, sehr alt."),
    ("", "nichts"),
    ("It has a garden; Anna reads there!", "Es hat einen Garten; dort liest Anna!"),
    ("...", "..."),
    ("\u6f22\u5b57 x", "x \u6f22"),
]


@pytest.mark.parametrize("head", [None, Head(1, 2, True), Head(2, 0, False)])
@pytest.mark.parametrize("int8", [False, True])
def test_links_are_between_existing_words_whatever_is_beside_a_sentence(
    model_folder: Path, head: Head | None, int8: bool
) -> None:
    model = LoadedModel.load(model_folder, int8)
    aligner = WordAligner(model.engine, model.text, head)
    together = aligner.align(PAIRS)
    assert together[1] == ()
    for (source, target), links in zip(PAIRS, together, strict=True):
        for s, t in links:
            assert 0 <= s < count_words(source)
            assert 0 <= t < count_words(target)
    linked = {t for s, t in together[0]}
    words = [n for n, (a, _) in enumerate(word_spans(PAIRS[0][1])) if PAIRS[0][1][a].isalnum()]
    assert linked >= set(words)
    assert [aligner.align([pair])[0] for pair in PAIRS] == together


def test_the_head_that_agrees_with_itself_most_often_is_chosen(model_folder: Path) -> None:
    model = LoadedModel.load(model_folder)
    aligner = WordAligner(model.engine, model.text)
    aligner.align(PAIRS)
    assert aligner.head is None  # so few words say nothing
    sentences = [line for line in ("The old house has a garden and a door .",) for _ in range(12)]
    aligner.align([(line, line) for line in sentences])
    assert aligner.head is not None


def test_agreements_are_counted_from_both_sides() -> None:
    weights = torch.tensor([[[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.6, 0.4]]])
    assert _agreements(weights) == [2, 1]


def test_words_that_are_nobodys_best_are_linked_to_their_own_best() -> None:
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]])
    assert sorted(_links(weights)) == [(0, 0), (0, 1), (1, 1)]


def test_marks_that_both_sides_have_equally_often_are_linked_in_order() -> None:
    assert _same_marks("a, b, c.", "x, y z, w!") == ((1, 1), (3, 4))


def test_what_is_too_long_for_a_sentence_has_no_links(model_folder: Path) -> None:
    model = LoadedModel.load(model_folder)
    long = '"' * 20_000  # each mark a word: a table of all pairs would take gigabytes
    aligner = WordAligner(model.engine, model.text, Head(1, 0, True))
    assert aligner.align([(long, "a"), ("a", long), *PAIRS])[:2] == [(), ()]
