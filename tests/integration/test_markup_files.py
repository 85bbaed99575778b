"""`concatmt translate` of files with markup: the same files back, and nothing half done."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.cli import main
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.translation import Passage
from concatmt.decoding.translator import Translator
from concatmt.settings import parse_settings
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
        (["film.srt"], "give --output"),
        (["film.srt", "bad.srt", "--output", "out"], "bad.srt"),
        (["film.srt", "--output", "film.srt"], "is the input itself"),
        (["film.srt", "--output", "out.srt", "--resume"], "--resume"),
        (["film.srt", "notes.pdf", "--output", "out"], "known are .srt"),
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
    given = translator.translate_passages([Passage(source, given=[None, "a x y", None])])[0]
    edited = translator.retranslate(free, {1: "a x y"})
    assert [one.text for one in given] == [one.text for one in edited]
    assert given[1].text == "a x y"
    if mode == "prefix":
        assert given[2].tokens == edited[2].tokens
