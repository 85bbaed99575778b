"""What other tools read: windows, document numbers, lines of items."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.errors import UserError
from concatmt.evaluation.expectations import Expectation
from concatmt.evaluation.export import (
    comet_lines,
    ctxpro_lines,
    muda_columns,
    read_sides,
    window_starts,
)
from concatmt.evaluation.outcomes import Outcome
from concatmt.evaluation.translations import Translated, TranslationFile


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_windows_are_full_and_leave_no_sentence_out(
    length: int, window: int, data: st.DataObject
) -> None:
    starts = window_starts(length, window, data.draw(st.integers(1, window)))
    assert all(start + min(window, length) <= length for start in starts)
    covered = {place for start in starts for place in range(start, min(start + window, length))}
    assert covered == set(range(length))
    assert len(set(starts)) == len(starts)


def test_a_stride_that_leaves_sentences_out_is_refused() -> None:
    with pytest.raises(UserError, match="--stride 3: sentences would be left out; at most 2"):
        window_starts(5, 2, 3)


def write(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def test_windows_never_cross_documents(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\nb\nc\n\nd\n", mt="A\n\nC\n\nD\n", ref="1\n2\n3\n\n4\n")
    documents = read_sides(paths[0], [paths[1]], paths[2])
    assert list(comet_lines(documents, 2, 2)) == [
        "src\tmt\tref",
        "a b\tA \t1 2",
        "b c\t C\t2 3",
        "d\tD\t4",
    ]
    sides, numbers = muda_columns(documents)
    assert sides == [["a", "b", "c", "d"], ["A", "", "C", "D"], ["1", "2", "3", "4"]]
    assert numbers == ["1", "1", "1", "2"]
    assert next(comet_lines(read_sides(paths[0], [paths[1]], None), 1, 1)) == "src\tmt"


def test_sides_of_different_length_are_refused_with_the_document(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\n\nb\nc\n", mt="A\n\nB\nC\n", ref="1\n\n2\n")
    with pytest.raises(UserError, match="document 2 has 1 sentences, in .*src 2"):
        read_sides(paths[0], [paths[1]], paths[2])


def test_items_are_lines_in_the_order_of_their_set() -> None:
    items = [
        Expectation(Outcome(name, "set", "set", 0.0), ("x", "y"), ("sie",), ()) for name in "ba"
    ]
    file = TranslationFile("out", ("a", "b"), Translated((("1", "2"), ("3", "4"))))
    assert list(ctxpro_lines(file, items)) == ["4", "2"]
    with pytest.raises(UserError, match="no document 'b'"):
        list(ctxpro_lines(TranslationFile("out", ("a",), Translated((("1",),))), items))
