"""The `evaluate` command from end to end, on files as `contrast` and `translate` write them."""

import json
import os
import random
from pathlib import Path

import pytest

from concatmt.evaluation.sets import read_set
from tests.conftest import Command

SETTINGS = {"K": 4, "score": "mean", "scope": "window", "ties": "split", "version": "0.1.0"}


def write_items(path: Path, system: str, skill: float, seed: int = 0, **settings: object) -> Path:
    """Items in twins, right with probability `skill`."""
    draw = random.Random(seed)
    lines = [json.dumps({"signature": {"system": system, **SETTINGS, **settings}, "remarks": {}})]
    for number in range(200):
        right = draw.random() < skill
        record = {
            "id": f"tv-{number}",
            "set": "tv",
            "phenomenon": "tv" if number < 120 else "pron",
            "distance": 1 + number % 3,
            "orbit": f"tv-{number // 2}",
            "document": f"tv-{number // 2}",
            "correct": 0,
            "verdict": float(right),
            "scores": [-1.0, -2.0] if right else [-2.0, -1.0],
        }
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_two_systems_are_compared_and_only_what_survives_is_bold(
    concatmt: Command, tmp_path: Path
) -> None:
    write_items(tmp_path / "base.jsonl", "base", 0.5, K=1)
    write_items(tmp_path / "weak.jsonl", "s4to4", 0.5, seed=2)
    write_items(tmp_path / "good.jsonl", "s4to4+cd", 0.9, seed=1)
    systems = ("base.jsonl", "weak.jsonl", "cd=good.jsonl")
    done = concatmt("evaluate", *systems, "--output", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "evaluation.md").read_text("utf-8") == done.stdout
    [head] = [line for line in done.stdout.splitlines() if line.startswith("cd: accuracy 9")]
    assert "chance 50.00" in head
    assert "n = 200 items in 100 clusters" in head
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))["contrastive"]
    assert [one["runs"][0]["signature"]["system"] for one in found["systems"]] == [
        "base",
        "s4to4",
        "s4to4+cd",
    ]
    for figure in found["figures"]:
        for name, one in figure["systems"].items():
            row = next(
                line
                for line in done.stdout.splitlines()
                if line.startswith(f"| {figure['name']} ") and f"| {name} " in line
            )
            assert ("**" in row) == (one.get("p_holm", 1.0) <= 0.05), row
    page = (tmp_path / "out" / "evaluation.html").read_text("utf-8")
    assert page.count('class="dots"') == 3  # phenomena, the rest, differences
    assert "Difference to base" in page
    everything = found["figures"][0]["systems"]
    assert everything["cd"]["p_holm"] < 0.05 < everything["weak"]["p_holm"]


def test_the_page_needs_no_library(concatmt: Command, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not installed')\n", "utf-8")
    write_items(tmp_path / "base.jsonl", "base", 0.5)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = concatmt("evaluate", "base.jsonl", "--output", "out", env=environment)
    assert done.returncode == 0, done.stderr
    assert "base: accuracy" in done.stdout
    assert (tmp_path / "out" / "evaluation.md").read_text("utf-8") == done.stdout
    assert "base prefers the right translation in" in (
        tmp_path / "out" / "evaluation.html"
    ).read_text("utf-8")
    assert done.stderr == ""


def test_files_with_commas_between_are_seeds_of_one_system(
    concatmt: Command, tmp_path: Path
) -> None:
    for seed in range(3):
        write_items(tmp_path / f"b{seed}.jsonl", "base", 0.5, seed)
        write_items(tmp_path / f"c{seed}.jsonl", "s4to4", 0.9, seed + 10)
    done = concatmt(
        "evaluate", "base=b0.jsonl,b1.jsonl,b2.jsonl", "s4to4=c0.jsonl,c1.jsonl,c2.jsonl"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 seeds") == 2
    assert "**+" in done.stdout


def test_translations_are_compared_with_references(concatmt: Command, tmp_path: Path) -> None:
    sentences = [f"the {n} birds sang in the {n} old trees" for n in range(24)]
    blocks = [sentences[first : first + 4] for first in range(0, 24, 4)]
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    (tmp_path / "test.de").write_text(text, "utf-8")
    (tmp_path / "base.de").write_text(text.replace("birds sang", "fish swam"), "utf-8")
    records = [
        {"document": str(number), "sentence": place, "translation": sentence}
        for number, block in enumerate(blocks, start=1)
        for place, sentence in enumerate(block)
    ]
    lines = [{"signature": {"system": "s4to4", "beam": 4}}, *records]
    (tmp_path / "good.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    options = ("--references", "test.de", "--samples", "100", "--output", "out")
    for convention in ("sentence", "document", "paper-en-ru", "paper-en-de"):
        done = concatmt("evaluate", "base.de", "good.jsonl", "--convention", convention, *options)
        assert done.returncode == 0, done.stderr
        assert "100.00" in done.stdout
        assert f"unit:{convention}" in done.stdout
        assert "by place in the document" in done.stdout
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    [of_text] = found["quality"].values()
    assert of_text["systems"][1]["signature"]["beam"] == 4


def test_translations_are_searched_for_expected_forms(concatmt: Command, tmp_path: Path) -> None:
    items = [
        {"id": f"i{n}", "expected": ["sie"], "wrong": ["er"], "phenomenon": "pron"}
        for n in range(4)
    ]
    (tmp_path / "expected.jsonl").write_text("\n".join(map(json.dumps, items)) + "\n", "utf-8")
    records = [
        {"document": f"i{n}", "sentence": place, "translation": translation}
        for n in range(4)
        for place, translation in enumerate(("Er kam .", "Sie ging ." if n else "Er ging ."))
    ]
    (tmp_path / "out.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    done = concatmt("evaluate", "out.jsonl", "--expected", "expected.jsonl")
    assert done.returncode == 0, done.stderr
    assert "out: accuracy 75.00, 95% interval" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.jsonl", "wrong.jsonl"), "different settings, so they cannot be compared: ties: split"),
        (("a.jsonl", "short.jsonl"), "they differ from item 200 on"),
        (("a.jsonl", "plain.jsonl"), "plain.jsonl, line 1: no signature"),
        (("a.jsonl", "none.jsonl"), "none.jsonl: no such file"),
        (("a.jsonl", "a.jsonl"), "two systems are called 'a'"),
        (("short.de", "--references", "test.de"), "document 2 has 1 sentences, its reference 2"),
        (("a.jsonl", "--expected", "a.jsonl"), "no 'id' and 'expected'"),
        (("short.de",), "has translations; give --references"),
        (("a.jsonl", "--references", "test.de"), "no measure applies"),
        (("a.jsonl", "--measures", "attention"), "needs a text with references"),
    ],
)
def test_bad_input_is_reported_in_one_line_and_nothing_is_written(
    concatmt: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    whole = write_items(tmp_path / "a.jsonl", "base", 0.5).read_text("utf-8").splitlines()
    write_items(tmp_path / "wrong.jsonl", "s4to4", 0.5, ties="wrong")
    (tmp_path / "short.jsonl").write_text("\n".join(whole[:-1]) + "\n", "utf-8")
    (tmp_path / "plain.jsonl").write_text("\n".join(whole[1:]) + "\n", "utf-8")
    (tmp_path / "test.de").write_text("a\n\nb\nc\n", "utf-8")
    (tmp_path / "short.de").write_text("a\n\nb\n", "utf-8")
    done = concatmt("evaluate", *arguments, "--output", "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_perturbed_set_can_be_read_and_compared_with_its_original(
    concatmt: Command, tmp_path: Path
) -> None:
    records = [
        {
            "id": f"tv-{number}",
            "source": [f"a{number}", f"b{number}", "now"],
            "context": [f"c{number}", f"d{number}"],
            "candidates": ["yes", "no"],
            "correct": 0,
            "document": str(number),
        }
        for number in range(6)
    ]
    (tmp_path / "tv.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    done = concatmt(
        *("evaluate", "tv.jsonl", "--export", "perturbed", "--contexts", "shuffled"),
        *("--output", "tv.shuffled.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    assert "6 items, 0 of them unchanged" in done.stderr
    one, other = (read_set(tmp_path / name) for name in ("tv.jsonl", "tv.shuffled.jsonl"))
    assert [(item.set, item.id) for item in one.items] == [(i.set, i.id) for i in other.items]
    assert other.items[0].source == ["b0", "a0", "now"]
    assert other.items[0].targets == [["d0", "c0", "yes"], ["d0", "c0", "no"]]
