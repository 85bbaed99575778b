"""What is not of its type in a set of items is refused by name, whatever it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.expectations import read_expectations
from concatmt.evaluation.outcomes import read_items
from concatmt.evaluation.sets import read_set

ITEM: dict[str, Any] = {
    "id": "i0",
    "source": ["a", "b"],
    "context": ["c"],
    "candidates": ["d", "e"],
    "correct": 0,
    "expected": "d",
}
OUTCOME: dict[str, Any] = {"id": "i0", "verdict": 1, "scores": [0.0, -1.0]}


def set_file(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "set.jsonl"
    path.write_text(json.dumps(ITEM | changes) + "\n")
    read_set(path)


def expected_file(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "expected.jsonl"
    path.write_text(json.dumps(ITEM | {"wrong": ["e"]} | changes) + "\n")
    read_expectations(path)


def outcome_file(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "items.jsonl"
    path.write_text(json.dumps({"signature": {}}) + "\n" + json.dumps(OUTCOME | changes) + "\n")
    read_items(path)


READERS = [set_file, expected_file, outcome_file]
every_reader = pytest.mark.parametrize("read", READERS)


@every_reader
@pytest.mark.parametrize("key", ["distance", "orbit", "document", "conflict"])
@pytest.mark.parametrize("value", [["x"], {"x": 1}, [[]], {}])
def test_a_fact_of_another_type_is_refused(
    tmp_path: Path, read: Callable[[Path, dict[str, Any]], None], key: str, value: object
) -> None:
    with pytest.raises(UserError, match=f"line [12]: '{key}' must be "):
        read(tmp_path, {key: value})


@every_reader
def test_facts_of_their_types_are_taken(
    tmp_path: Path, read: Callable[[Path, dict[str, Any]], None]
) -> None:
    # A refusal would raise.
    read(tmp_path, {"distance": 2, "orbit": "o", "document": 7, "conflict": True})
    read(tmp_path, {"distance": None, "orbit": None, "document": None, "conflict": None})
