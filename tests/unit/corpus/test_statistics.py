"""Statistics against numpy."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.corpus.statistics import (
    AT_A_TIME,
    Moments,
    Statistics,
    file_statistics,
    statistics_table,
)
from concatmt.errors import UserError


@given(st.lists(st.integers(0, 10_000), min_size=1), st.integers(0, 50))
def test_moments_equal_numpys_however_the_values_are_split(values: list[int], cut: int) -> None:
    first, second = Moments(), Moments()
    first.add(values[:cut])
    second.add(values[cut:])
    first.merge(second)
    assert first.mean == pytest.approx(np.mean(values))
    assert first.deviation == pytest.approx(np.std(values))
    assert first.largest == max(values)


def test_statistics_of_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two\nthree\n\nfour five six\n")
    statistics = file_statistics(tmp_path / "a", None)
    assert (statistics.documents.count, statistics.documents.largest) == (2, 2)
    assert (statistics.source_words.count, statistics.source_words.total) == (3, 6)


def test_statistics_of_a_text_file_with_ids(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two\nthree\nfour five six\n")
    (tmp_path / "ids").write_text("x\ny\ny\n")
    assert file_statistics(tmp_path / "a", tmp_path / "ids").documents.largest == 2


def test_the_table_shows_mean_deviation_and_maximum() -> None:
    statistics = Statistics()
    statistics.documents.add([2, 4])
    statistics.source_words.add([1, 1, 4, 4, 5, 3])
    table = statistics_table({"train": statistics})
    assert "| train  | source | 2    | 6     | 3.0 / 1.0 / 4 | 3.0 / 1.5 / 5 | -" in table


def test_a_document_longer_than_what_is_read_at_a_time_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("word\n" * (AT_A_TIME + 1) + "\nword\n")
    statistics = file_statistics(tmp_path / "a", None)
    assert (statistics.documents.count, statistics.documents.largest) == (2, AT_A_TIME + 1)


@pytest.mark.parametrize(
    ("ids", "message"), [("x\n", "ends after line 1"), ("x\n" * 3, "has more")]
)
def test_ids_that_do_not_fit_the_text_are_refused(tmp_path: Path, ids: str, message: str) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "ids").write_text(ids)
    with pytest.raises(UserError, match=message):
        file_statistics(tmp_path / "a", tmp_path / "ids")
