"""`evaluate --on`: runs are scored, compared and shown; nothing is done twice."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.unit.evaluation.runs import make_runs, make_testbed

BASE, OTHER = "base", "s3to3+cd+lrn+pers"
QUICK = ("--samples", "20", "--set", "translate.search.beam=1", "--set", "contexts=[shuffled]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a testbed."""
    folder = tmp_path_factory.mktemp("evaluate")
    make_runs(folder / "runs")
    make_testbed(folder / "testbed")
    return folder


def test_runs_are_compared_on_everything_a_testbed_has_and_only_once(
    concatmt: Command, folder: Path, tmp_path: Path
) -> None:
    runs = [folder / "runs" / name for name in (BASE, OTHER)]
    arguments = ("evaluate", *runs, "--on", folder / "testbed", "--output", "out", *QUICK)
    first = concatmt(*arguments)
    assert first.returncode == 0, first.stderr
    out = tmp_path / "out"
    assert (out / "evaluation.md").read_text("utf-8") == first.stdout
    found = json.loads((out / "evaluation.json").read_text("utf-8"))
    assert [one["system"] for one in found["runs"]] == [BASE, OTHER]
    everything = found["contrastive"]["figures"][0]
    # A model without context is right on one twin of each pair.
    assert everything["systems"][BASE]["accuracy"] == 0.5
    assert "p_holm" in everything["systems"][OTHER]
    assert set(found["quality"]) == {"test.en, sentence", "test.en, document"}
    assert found["generative"]["figures"][0]["items"] == 12
    assert set(found["perturbation"]) == {OTHER}
    assert set(found["perturbation"][OTHER]["figures"][0]["systems"]) == {"gold", "shuffled"}
    assert [one["context"] for one in found["context_use"][0]["use"]] == [1, 2]
    assert len(found["attention"][0]["layers"]) == 6
    assert f"perturbation of {BASE}: it sees no context" in found["left_out"]
    assert found["contrastive"]["systems"][1]["runs"][0]["signature"]["system"] == OTHER

    page = (out / "evaluation.html").read_text("utf-8")
    for title in ("Learning curves", "Position encodings", "Attention", "token by token"):
        assert title in page
    assert page.count("<svg") == 9  # BLEU by place, context use, attention (6), learning curves
    assert page.count('class="dots"') == 7  # levels, others, differences (twice), contexts
    assert page.count("<img") == 3  # what encodings add: base, the other, and to its later blocks
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)  # nothing from the network

    [limits] = [line for line in first.stdout.splitlines() if "ended by its limit" in line]
    assert f"{BASE} (20 updates done), {OTHER} (20 updates done)" in limits
    assert limits[2:] in page
    assert "without label smoothing" in " ".join(page.split())

    times = {path: path.stat().st_mtime_ns for path in (out / "items").rglob("*.json*")}
    again = concatmt(*arguments)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert ".jsonl" not in again.stderr
    assert {path: path.stat().st_mtime_ns for path in (out / "items").rglob("*.json*")} == times
    assert (out / "evaluation.html").read_text("utf-8") == page

    # Item files are those of `contrast`: other settings are other files.
    [items] = (out / "items").glob(f"{OTHER}-*/contrast.tv.gold.*.jsonl")
    assert concatmt("evaluate", items).returncode == 0
    measured = ("--measure", "contrastive", "--set", "contrast.score=sum")
    done = concatmt(*arguments[:-6], *measured)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("contrast.tv.gold") == 2
    # Every link of the page leads somewhere, also without documents.
    page = (out / "evaluation.html").read_text("utf-8")
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(re.findall(r'id="([^"]*)"', page))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("UNFINISHED", "--on", "TESTBED"), "the training is not finished (update 20)"),
        (("BASE", "--on", "none"), "none: no such file or folder"),
        (("none", "--on", "TESTBED"), "none: no such folder; give training runs"),
        (("BASE", "BASE", "--on", "TESTBED"), "two systems are called 'base'"),
        (("BASE,OTHER", "--on", "TESTBED"), "given as another seed of it"),
        (("BASE",), "say with --on what to evaluate it on"),
        (("BASE", "--on", "TESTBED", "--references", "x"), "are for files; runs are given with"),
        (("BASE", "--on", "TESTBED", "--set", "contrast.tie=first"), "did you mean 'ties'?"),
        (
            ("BASE", "--on", "TESTBED", "--measure", "accuracy"),
            "--measures accuracy: no such measure; known are contrastive",
        ),
        (("BASE", "--on", "SET", "--measure", "attention"), "needs a text with references"),
        (("OTHER", "--on", "LENGTHS"), "document 1 has 1 sentences, in"),
        (("BASE", "--on", "WINDOWS", "--measure", "perturbation"), "differ in the context"),
        (("BASE", "--on", "SET", "--measure", "generative"), "needs items with expected forms"),
    ],
)
def test_bad_input_is_one_line(
    concatmt: Command, folder: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    runs, testbed = folder / "runs", folder / "testbed"
    if "UNFINISHED" in arguments:
        shutil.copytree(runs / BASE, tmp_path / "unfinished")
        shutil.rmtree(tmp_path / "unfinished" / "model")
    windows = {"source": ["a1", "a2"], "candidates": [["b1", "b2"], ["b3", "b2"]], "correct": 0}
    (tmp_path / "windows.jsonl").write_text(json.dumps(windows) + "\n", "utf-8")
    (tmp_path / "short.de").write_text("b1\n", "utf-8")
    names = {
        "UNFINISHED": tmp_path / "unfinished",
        "BASE,OTHER": f"{runs / BASE},{runs / OTHER}",
        "BASE": runs / BASE,
        "OTHER": runs / OTHER,
        "TESTBED": testbed,
        "SET": testbed / "contrastive" / "tv.jsonl",
        "LENGTHS": f"{testbed / 'test.en'},{tmp_path / 'short.de'}",
        "WINDOWS": tmp_path / "windows.jsonl",
    }
    given = [names.get(argument, argument) for argument in arguments]
    done = concatmt("evaluate", *given, "--output", "out")
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("concatmt: error: ")]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "evaluation.json").exists()


def test_runs_with_commas_between_are_seeds_of_one_system(
    concatmt: Command, folder: Path, tmp_path: Path
) -> None:
    base, other = (folder / "runs" / name for name in (BASE, OTHER))
    measures = ("--measure", "contrastive", "--measure", "perturbation", "--measure", "quality")
    done = concatmt(
        *("evaluate", f"base={base}", f"cd={other},{other / 'model'}", "--on", folder / "testbed"),
        *("--output", "out", *QUICK, *measures),
    )
    assert done.returncode == 0, done.stderr
    assert "cd: accuracy" in done.stdout
    assert "2 seeds" in done.stdout
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    assert len(found["perturbation"]["cd"]["log_probs"]) == 2
    names = [one["name"] for one in found["quality"]["test.en, sentence"]["systems"]]
    assert names == ["base", "cd #1", "cd #2"]
    assert "context_use" not in found


def test_a_folder_with_something_else_is_not_touched(
    concatmt: Command, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear", "utf-8")
    done = concatmt(
        "evaluate", folder / "runs" / BASE, "--on", folder / "testbed", "--output", "out"
    )
    assert done.returncode == 2
    assert "exists and is not an evaluation" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letter.txt"]


def test_attention_and_exports_run_from_the_command_line(
    concatmt: Command, folder: Path, tmp_path: Path
) -> None:
    model, testbed = folder / "runs" / OTHER, folder / "testbed"
    source, target = testbed / "test.en", testbed / "test.de"
    contrapro = {"document id": "f.de", "src segment": "a1 a2", "ref segment": "b1 b2"}
    contrapro |= {"ref pronoun": "b1", "errors": [{"contrastive": "b3 b2"}]}
    (tmp_path / "contrapro.json").write_text(json.dumps([contrapro] * 3), "utf-8")
    sides = ("--source", source, "--references", target)
    cut = ("--window", "3", "--stride", "2")
    commands = [
        ("inspect", "attention", model, source, "--target", target, "--output", "attention.json"),
        ("translate", model, source, "--beam", "1", "--output", "out.de"),
        ("evaluate", "out.de", "--export", "comet", *sides, *cut, "--output", "t"),
        ("evaluate", "out.de", "--export", "muda", *sides, "--output", "muda"),
        ("evaluate", "contrapro.json", "--export", "items", "--output", "items.jsonl"),
        ("translate", model, "items.jsonl", "--format", "jsonl", "--output", "items.out.jsonl"),
        (
            *("evaluate", "items.out.jsonl", "--export", "ctxpro"),
            *("--expected", "items.jsonl", "--output", "l.de"),
        ),
        ("evaluate", "items.out.jsonl", "--expected", "contrapro.json", "--wrong-forms", "ignored"),
    ]
    for command in commands:
        done = concatmt(*command)
        assert done.returncode == 0, (command, done.stderr)
    assert "wrong_forms:ignored" in done.stdout
    layers = json.loads((tmp_path / "attention.json").read_text("utf-8"))["layers"]
    assert all(0 <= one["share"]["value"] <= 1 for one in layers)
    assert len((tmp_path / "t").read_text("utf-8").splitlines()) == 1 + 3 * 2
    files = {
        path.name: path.read_text("utf-8").count("\n") for path in (tmp_path / "muda").iterdir()
    }
    assert files == {"src": 12, "tgt": 12, "docids": 12, "hyp.out": 12}
    assert (tmp_path / "l.de").read_text("utf-8").count("\n") == 3
