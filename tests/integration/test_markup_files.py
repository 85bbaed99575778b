"""`concatmt translate` of files with markup: the same files back, and nothing half done."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.cli import main
from concatmt.decoding import markup_job
from concatmt.decoding.alignment import WordAligner
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.markup_job import MarkupJob
from concatmt.decoding.translation import Passage
from concatmt.decoding.translator import Translator
from concatmt.segments.config import FileConfig
from concatmt.segments.segment import Segment
from concatmt.settings import parse_settings
from tests.conftest import Command
from tests.unit.decoding.models import write_model

QUICK = ["--beam", "2", "--threads", "1", "--length-factor", "0", "--length-constant", "4"]
SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello there.</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n\n"
)

Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["concatmt", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return int(str(left.value.code)), capsys.readouterr().err

    return run


def test_subtitles_keep_their_cues(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(SRT)
    code, told = run("translate", model, "film.srt", "--output", "out.srt", *QUICK)
    assert code == 0, told
    out = (tmp_path / "out.srt").read_text()
    assert re.sub(r"(?<=<i>)[^<]+(?=</i>)", "Hello there.", out) == SRT
    assert out != SRT
    assert re.search(r"^cues +2$", told, re.MULTILINE)


def test_folders_and_several_files_go_to_a_folder(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "in/film.srt").write_text(SRT)
    (tmp_path / "in/deep/page.html").write_text("<p>Hello there.</p>")
    (tmp_path / "notes.md").write_text("# Hello there\n")
    code, told = run("translate", model, "in", "notes.md", "--output", "out", *QUICK)
    assert code == 0, told
    written = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*"))
    assert written == ["deep/page.html", "film.srt", "notes.md"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["film.srt", "notes.md"], "give --output"),
        (["film.srt", "bad.srt", "--output", "out"], "bad.srt"),
        (["film.srt", "--output", "film.srt"], "is the input itself"),
        (["film.srt", "--output", "out.srt", "--windows"], "--windows"),
        (["film.srt", "--output", "out.srt", "--context-file", "none.txt"], "none.txt"),
        (["film.srt", "--output", "out.srt", "--context-translation", "a"], "--context-file"),
        (["film.srt", "--output", "out.srt", "--abbreviations", "none.txt"], "none.txt"),
        (["film.srt", "notes.pdf", "--output", "out"], "known are .ass, .docx"),
        (["empty", "--output", "out"], "no files in it"),
        (["none.srt", "--output", "out"], "no such file"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    run: Run, model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "film.srt").write_text(SRT)
    (tmp_path / "bad.srt").write_text("1\n00:00 --> 00:01\nHello\n")
    (tmp_path / "notes.pdf").write_text("x")
    (tmp_path / "notes.md").write_text("x")
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    code, told = run("translate", model, *arguments, *QUICK)
    assert (code, told.count("\n")) == (2, 1), told
    assert message in told
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "film.srt").read_text() == SRT


@pytest.mark.parametrize("mode", ["prefix", "redecode"])
def test_given_translations_stay_and_are_the_context_of_others(model: Path, mode: str) -> None:
    config = parse_settings(
        TranslateConfig,
        {"mode": mode, "search": {"beam": 2, "length_factor": 0, "length_constant": 4}},
        "test",
    )
    translator = Translator.load(model, config)
    source = ["a b c", "d e f", "g h i"]
    free = translator.translate_document(source)
    (given,), _ = translator.translate_passages([Passage(source, given=[None, "a x y", None])])
    edited = translator.retranslate(free, {1: "a x y"})
    assert [one.text for one in given] == [one.text for one in edited]
    assert given[1].text == "a x y"
    if mode == "prefix":
        assert given[2].tokens == edited[2].tokens


def test_a_killed_job_resumes_where_it_was_and_ends_with_the_same_bytes(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.srt").write_text(SRT)
    cues = "".join(
        f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nLine {n}.\n\n" for n in range(1, 8)
    )
    (tmp_path / "two.srt").write_text(cues)
    monkeypatch.setattr(markup_job, "AT_A_TIME", 3)
    job = ["translate", model, "one.srt", "two.srt", *QUICK]
    assert run(*job, "--output", "whole")[0] == 0
    translated: list[int] = []
    real = MarkupJob._entry

    def counting(self: MarkupJob, *arguments: Any) -> Any:
        translated.append(len(arguments[0]))
        if len(translated) == 3:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(MarkupJob, "_entry", counting)
    assert run(*job, "--output", "out")[0] != 0
    assert not (tmp_path / "out/two.srt").exists()
    assert run(*job, "--output", "out")[0] == 2  # what is left asks for --resume
    translated[:] = [0] * 10
    code, told = run(*job, "--output", "out", "--resume")
    assert code == 0, told
    assert translated[10:] == [3, 1]  # not the file that was done, nor the first three of the other
    for name in ("one.srt", "two.srt"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not list((tmp_path / "out").glob(".*"))


def test_a_film_goes_through_standard_input_and_output(model: Path, concatmt: Command) -> None:
    done = concatmt("translate", model, "-", "--input-format", "srt", *QUICK, input=SRT)
    assert done.returncode == 0, done.stderr
    assert re.sub(r"(?<=<i>)[^<]+(?=</i>)", "Hello there.", done.stdout) == SRT
    bad = concatmt("translate", model, "--input-format", "srt", *QUICK, input="Hello\n")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "standard input: no line of times" in bad.stderr


def test_text_before_a_file_is_its_context(model: Path) -> None:
    config = parse_settings(
        TranslateConfig,
        {"search": {"beam": 2, "length_factor": 0, "length_constant": 4}},
        "test",
    )
    translator = Translator.load(model, config)
    before = ["a b c", "d e f"], ["x y", "z x"]
    passage = Passage([*before[0], "g h"], given=[*before[1], None])
    given, _ = translator.translate_passages([passage])
    job = MarkupJob(translator, FileConfig(), before)
    entry = job._entry(
        [Segment("g h")], "", job._history(), WordAligner(translator.engine, translator.text)
    )
    assert json.loads(entry.text)[0][0] == given[0][2].text
    assert entry.history.source == [translator.text.source.encode(s) for s in ("d e f", "g h")]


WRAPPED = (
    "A boat came in the night, and nobody\nhad seen it before. Its captain was\nold. He did not"
    " say where he came\nfrom, and we did not ask.\n\nLater it was gone.\n"
)
LINES = "A boat came.\nIts captain was old.\n\nLater it was gone.\n"


def test_running_text_is_translated_by_sentences_and_that_is_reported(
    run: Run, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(WRAPPED)
    code, told = run("translate", model, "talk.txt", "--output", "out.txt", *QUICK)
    assert code == 0, told
    assert "note: talk.txt: running text of wrapped lines, split into sentences;" in told
    assert re.search(r"^sentences +4$", told, re.MULTILINE)
    assert (tmp_path / "out.txt").read_text().count("\n\n") == 1
    code, told = run(
        "translate", model, "talk.txt", "--output", "lines.txt", "--split", "lines", *QUICK
    )
    assert code == 0
    assert "running text" not in told
    out = (tmp_path / "lines.txt").read_text()
    assert [bool(line) for line in out.split("\n")] == [bool(line) for line in WRAPPED.split("\n")]


def test_a_text_of_lines_stays_one_and_its_bytes_are_those_of_lines(
    run: Run, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(LINES)
    code, told = run("translate", model, "talk.txt", "--output", "out.txt", *QUICK)
    assert code == 0, told
    assert "note: talk.txt: a sentence a line; if it is running text, say --split" in told
    assert run(
        "translate", model, "talk.txt", "--output", "same.txt", "--split", "lines", *QUICK
    )[0] == 0  # fmt: skip
    out = (tmp_path / "out.txt").read_text()
    assert out == (tmp_path / "same.txt").read_text()
    assert [bool(line) for line in out.split("\n")] == [bool(line) for line in LINES.split("\n")]


def test_running_text_is_taken_by_lines_where_only_lines_will_do(
    run: Run, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(WRAPPED)
    code, told = run(
        "translate", model, "talk.txt", "--output", "out.jsonl", "--format", "jsonl", *QUICK
    )
    assert code == 0, told
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1 + 5


def test_a_text_in_another_encoding_comes_back_in_it(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_bytes(LINES.encode("utf-16"))
    code, told = run("translate", model, "talk.txt", "--output", "out.txt", *QUICK)
    assert code == 0, told
    assert (tmp_path / "out.txt").read_bytes()[:2] == LINES.encode("utf-16")[:2]
    assert (tmp_path / "out.txt").read_text("utf-16").count("\n") == LINES.count("\n")
