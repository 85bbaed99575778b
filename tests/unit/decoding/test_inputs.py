"""Which files are read as sentences."""

import sys
import time
from pathlib import Path

import pytest

from concatmt.corpus.formats import format_of
from concatmt.corpus.lines import ReadReport
from concatmt.decoding import inputs
from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.search import Search
from concatmt.decoding.translation import Passage
from concatmt.errors import UserError
from tests.unit.decoding.models import make_engine


@pytest.mark.parametrize("name", ["film.sbv", "Film.PPTX", "sheet.xlsx", "a.pdf"])
def test_files_with_markup_that_nobody_reads_are_refused_by_name(name: str) -> None:
    with pytest.raises(UserError, match=r"files cannot be read; known are text .*jsonl, .*\.tsv"):
        format_of(Path(name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.en", "text"),
        ("a", "text"),
        ("a.v2.txt.gz", "text"),
        ("a.TSV", "tsv"),
        ("Film.SRT", "srt"),
        ("job.xlf", "xliff"),
        ("a.jsonl", "jsonl"),
    ],
)
def test_known_names_have_their_format(name: str, expected: str) -> None:
    assert format_of(Path(name)) == expected


def test_a_string_is_not_a_document() -> None:
    with pytest.raises(UserError, match="a list of sentences"):
        Passage("Hello.")
    with pytest.raises(UserError, match="a list of sentences"):
        Passage(["Hello."], gold="Bonjour.")


def test_a_beam_wider_than_the_vocabulary_is_refused() -> None:
    with pytest.raises(UserError, match="beam 65: larger than the model's vocabulary of 50"):
        Search(make_engine("base"), SearchConfig(beam=65))


@pytest.mark.parametrize(
    "setting",
    [
        {"seed": -1},
        {"length_penalty": 1e308},
        {"length_factor": 1e300},
        {"length_constant": 10**9},
    ],
)
def test_options_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="less than or equal|greater than or equal"):
        SearchConfig(**setting)


def test_one_token_leaves_no_room_for_a_sentence() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        TranslateConfig(max_tokens=1)


def test_a_long_line_of_standard_input_takes_no_more_time_than_it_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In blocks so small that joining the line anew with each would copy a hundred gigabytes.
    monkeypatch.setattr(inputs, "BLOCK", 16)
    (tmp_path / "in").write_bytes(b"x" * 2_000_000 + b"\ny\n")
    with (tmp_path / "in").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        start = time.process_time()
        lines = [line for line in inputs._stdin_lines(ReadReport()) if line is not None]
    assert time.process_time() - start < 5
    assert [len(line) for line in lines] == [2_000_000, 1]
