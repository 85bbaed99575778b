"""Laws of windows over random corpora."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from concatmt.corpus.windows import Windows
from concatmt.text.vocabulary import END, SEPARATOR
from tests.unit.corpus.corpora import Corpus, make_store

SENTENCE = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5).map(" ".join)
CORPUS = st.lists(
    st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=7), min_size=1, max_size=5
)


@given(CORPUS, st.integers(1, 5))
@settings(max_examples=30)
def test_every_sentence_has_one_window_that_stays_in_its_document(corpus: Corpus, k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder), corpus)
        windows = Windows.of(store.split("train"), k)
        assert len(windows) == sum(map(len, corpus))
        batch = windows.batch(np.arange(len(windows)))
        row = 0
        for document in corpus:
            for j in range(len(document)):
                expected = document[max(0, j - k + 1) : j + 1]
                assert int(batch.sentences[row]) == len(expected)
                for side, codec, place in (
                    (batch.source, store.text.source, 0),
                    (batch.target, store.text.target, 1),
                ):
                    ids: list[int] = []
                    segments: list[int] = []
                    for number, pair in enumerate(expected):
                        closing = END if number == len(expected) - 1 else SEPARATOR
                        ids += [*codec.encode(pair[place]), closing]
                        segments += [len(expected) - number] * (len(pair[place].split()) + 1)
                    length = int(side.lengths[row])
                    assert side.tokens[row, :length].tolist() == ids
                    assert side.segments[row, :length].tolist() == segments
                row += 1


@given(CORPUS, st.integers(1, 5))
@settings(max_examples=20)
def test_window_lengths_are_those_of_the_batch(corpus: Corpus, k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        windows = Windows.of(make_store(Path(folder), corpus).split("train"), k)
        batch = windows.batch(np.arange(len(windows)))
        source, target = windows.lengths()
        assert source.tolist() == batch.source.lengths.tolist()
        assert target.tolist() == batch.target.lengths.tolist()


def test_no_window_reaches_across_a_dropped_sentence(tmp_path: Path) -> None:
    document = [("a", "a"), ("b", "b"), ("too many words here", "c"), ("d", "d"), ("e", "e")]
    store = make_store(tmp_path, [document, [("f", "f")]], clean={"max_words": 3})
    split = store.split("train")
    assert split.documents.tolist() == [0, 4, 5]  # the document is still one
    assert split.runs.tolist() == [0, 2, 4, 5]
    assert Windows.of(split, 4).sentences.tolist() == [1, 2, 1, 2, 1]


def test_a_document_may_lose_its_ends_without_a_gap(tmp_path: Path) -> None:
    document = [("too many words", "a"), ("b", "b"), ("c", "c"), ("too many words", "d")]
    store = make_store(tmp_path, [document], clean={"max_words": 2})
    assert Windows.of(store.split("train"), 4).sentences.tolist() == [1, 2]
