"""Two small training runs, and a folder to evaluate them on, laid out like a testbed."""

import json
import random
from pathlib import Path
from typing import Any

from concatmt.training.train import train
from tests.unit.training.tiny import make_data, make_task

WORDS = 12


def make_runs(folder: Path) -> dict[str, Path]:
    """Finished runs of two systems, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    data = make_data(folder)
    runs = {}
    for system in ("base", "s3to3+cd+lrn+pers"):
        assert train(make_task(data, system), folder / system)
        runs[system] = folder / system
    return runs


def make_testbed(folder: Path, items: int = 6) -> Path:
    """Contrastive twins, items with expected forms, and a text, in the language of those runs."""
    (folder / "contrastive").mkdir(parents=True)
    draw = random.Random(1)
    sets = [item for number in range(items) for item in _twins(number, draw)]
    lines = [json.dumps(item) for item in sets]
    (folder / "contrastive" / "tv.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    expected = [
        {
            **{key: item[key] for key in ("id", "source", "phenomenon", "orbit", "document")},
            "expected": [item["candidates"][item["correct"]].split()[0]],
            "wrong": [item["candidates"][1 - item["correct"]].split()[0]],
        }
        for item in sets
    ]
    text = "\n".join(map(json.dumps, expected)) + "\n"
    (folder / "expected.jsonl").write_text(text, "utf-8")
    documents = [[_sentence(draw) for _ in range(4)] for _ in range(3)]
    for side, language in (("a", "en"), ("b", "de")):
        blocks = ["\n".join(_text(side, ids) for ids in document) for document in documents]
        (folder / f"test.{language}").write_text("\n\n".join(blocks) + "\n", "utf-8")
    return folder


def _sentence(draw: random.Random) -> list[int]:
    return [draw.randrange(WORDS) for _ in range(draw.randint(2, 4))]


def _text(side: str, ids: list[int]) -> str:
    return " ".join(f"{side}{i}" for i in ids)


def _twins(number: int, draw: random.Random) -> list[dict[str, Any]]:
    """The same sentence and candidates after two contexts."""
    current, other = _sentence(draw), _sentence(draw)
    other[0] = (current[0] + 1) % WORDS
    twins = []
    for correct in range(2):
        context = [_sentence(draw), _sentence(draw)]
        twins.append(
            {
                "id": f"tv-{number}-{correct}",
                "source": [*(_text("a", ids) for ids in context), _text("a", current)],
                "context": [_text("b", ids) for ids in context],
                "candidates": [_text("b", current), _text("b", other)],
                "correct": correct,
                "phenomenon": "tv",
                "distance": 1 + number % 2,
                "orbit": f"tv-{number}",
                "document": f"tv-{number}",
            }
        )
    return twins
