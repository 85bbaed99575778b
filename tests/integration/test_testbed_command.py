"""The `testbed` command from end to end."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command

SMALL = ("--documents", "60", "--valid-documents", "10", "--test-documents", "10", "--items", "20")
FIELDS = {
    "id",
    "source",
    "context",
    "candidates",
    "correct",
    "phenomenon",
    "distance",
    "conflict",
    "orbit",
    "document",
}


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def documents(path: Path) -> list[list[str]]:
    return [block.split("\n") for block in path.read_text("utf-8").rstrip("\n").split("\n\n")]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("pair", ["en-ru", "en-de"])
def test_a_testbed_is_complete_and_the_same_seed_gives_the_same_bytes(
    concatmt: Command, tmp_path: Path, pair: str
) -> None:
    other_hashing = {**os.environ, "PYTHONHASHSEED": "99"}
    first = concatmt(
        "testbed", "--pair", pair, "--output", str(tmp_path / "a"), "--seed", "7", *SMALL
    )
    assert first.returncode == 0, first.stderr
    again = concatmt(
        "testbed",
        "--pair",
        pair,
        "--output",
        str(tmp_path / "b"),
        "--seed",
        "7",
        *SMALL,
        env=other_hashing,
    )
    other = concatmt(
        "testbed", "--pair", pair, "--output", str(tmp_path / "c"), "--seed", "8", *SMALL
    )
    assert again.returncode == other.returncode == 0
    found = contents(tmp_path / "a")
    assert found == contents(tmp_path / "b")
    target = pair.split("-")[1]
    for name in (
        f"{split}.{side}" for split in ("train", "valid", "test") for side in ("en", target)
    ):
        assert found[name] != contents(tmp_path / "c")[name]
    card = json.loads((tmp_path / "a" / "card.json").read_text("utf-8"))
    hashes = {name: value for name, value in found.items() if not name.startswith("card.")}
    assert card["files"] == hashes
    sets = {f"contrastive/{task}.jsonl" for task in card["tasks"]}
    assert sets | {"expected.jsonl", "train.en", f"train.{target}"} <= set(hashes)


def test_the_files_agree_with_each_other_and_with_the_schema(
    concatmt: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "testbed"
    assert concatmt("testbed", "--pair", "en-ru", "--output", str(folder), *SMALL).returncode == 0
    card = json.loads((folder / "card.json").read_text("utf-8"))
    for split, count in (("train", 60), ("valid", 10), ("test", 10)):
        source, target = documents(folder / f"{split}.en"), documents(folder / f"{split}.ru")
        assert len(source) == len(target) == count == card["splits"][split]["documents"]
        assert [len(d) for d in source] == [len(d) for d in target]
        assert sum(map(len, source)) == card["splits"][split]["sentences"]
        assert all(line.strip() for document in source + target for line in document)
    ids = []
    for task, figures in card["tasks"].items():
        found = records(folder / "contrastive" / f"{task}.jsonl")
        assert len(found) == figures["items"][task] >= 20
        assert len(found) % figures["latents"] == 0
        for record in found:
            assert set(record) == FIELDS
            assert len(record["context"]) == len(record["source"]) - 1
            assert len(record["candidates"]) == figures["options"]
            assert record["phenomenon"] == task
            ids.append(record["id"])
    assert len(set(ids)) == len(ids)
    expected = records(folder / "expected.jsonl")
    assert sorted(record["id"] for record in expected) == sorted(ids)
    assert all(record["expected"] and record["wrong"] for record in expected)
    test_documents = set(map(tuple, documents(folder / "test.en")))
    assert not test_documents & set(map(tuple, documents(folder / "train.en")))


def test_every_word_of_the_evaluation_is_in_training_and_sizes_are_as_promised(
    concatmt: Command, tmp_path: Path
) -> None:
    """Word types, and sentence length, of the specification: 300-450; about 6.6 (sd 3.6)."""
    for pair in ("en-ru", "en-de"):
        folder = tmp_path / pair
        options = ("--documents", "3000", "--items", "100")
        assert (
            concatmt("testbed", "--pair", pair, "--output", str(folder), *options).returncode == 0
        )
        splits = json.loads((folder / "card.json").read_text("utf-8"))["splits"]
        for side in ("source", "target"):
            assert 300 <= splits["train"][side]["types"] <= 450
            assert all(split[side]["types not in training"] == 0 for split in splits.values())
        assert splits["train"]["source"]["length mean"] == pytest.approx(6.6, abs=0.5)
        assert splits["train"]["source"]["length sd"] == pytest.approx(3.6, abs=0.4)
        text = (folder / "card.md").read_text("utf-8")
        cells = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
        bounds = ["33.3 / 33.3", "77.8 / 77.8", "100.0 / 100.0", "100.0 / 100.0"]
        assert ["", "recent", *bounds] in [line[:6] for line in cells]


def test_an_older_testbed_is_replaced_and_a_folder_of_other_things_is_not(
    concatmt: Command, tmp_path: Path
) -> None:
    output = ("--pair", "en-de", "--output", str(tmp_path / "testbed"), *SMALL)
    assert concatmt("testbed", *output).returncode == 0
    assert concatmt("testbed", *output, "--hold-out-words", "0.3").returncode == 0
    assert (tmp_path / "testbed" / "contrastive" / "pron.unseen.jsonl").is_file()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    refused = concatmt("testbed", "--pair", "en-de", "--output", str(tmp_path / "mine"), *SMALL)
    assert refused.returncode == 2
    assert "exists and has no card.json" in refused.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pair", "en-fr"), "--pair en-fr: unknown pair"),
        (("--pair", "en-ru", "--tasks", "pron,tense"), "--tasks tense: unknown task"),
        (("--pair", "en-ru", "--distance", "6"), "--distance 6 reaches beyond a window"),
        (("--pair", "en-ru", "--tasks", "tv", "--density", "0"), "--density 0 leaves no room"),
        (("--pair", "en-ru", "--documents", "99999999"), "more than the 1,000,000 distinct"),
        (
            ("--pair", "en-ru", "--hold-out-distances", "two"),
            "--hold-out-distances: input should be",
        ),
        (("--pair", "en-ru", "--weights", "vp"), "--weights vp: needs a value, as in vp=3"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    concatmt: Command, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = concatmt("testbed", *options, "--output", str(tmp_path / "out"))
    assert result.returncode == 2
    assert result.stderr.startswith("concatmt: error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_testbed_goes_through_prepare_word_for_word(concatmt: Command, tmp_path: Path) -> None:
    """The whitespace pipeline keeps its vocabulary: the card's types and four marks."""
    made = concatmt("testbed", "--pair", "en-de", "--output", tmp_path / "testbed", *SMALL)
    assert made.returncode == 0, made.stderr
    files = {
        split: [{"format": "text", "source": f"{split}.en", "target": f"{split}.de"}]
        for split in ("train", "valid")
    }
    config = {
        "languages": {"source": "en", "target": "de"},
        "text": {"kind": "whitespace"},
        "corpus": {"root": str(tmp_path / "testbed"), "splits": files},
    }
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    prepared = concatmt("prepare", "config.yaml", "--output", "data")
    assert prepared.returncode == 0, prepared.stderr
    train = json.loads((tmp_path / "testbed" / "card.json").read_text("utf-8"))["splits"]["train"]
    sizes = [train[side]["types"] + 4 for side in ("source", "target")]
    assert f"vocabulary: {sizes[0]} and {sizes[1]} ids" in prepared.stdout
    assert f"| {train['documents']} " in prepared.stdout
