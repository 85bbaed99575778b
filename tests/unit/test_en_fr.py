"""What the runs on OPUS-MT count as a right pronoun, and the tables that follow from them."""

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("en_fr")


@pytest.fixture
def report(script: ModuleType) -> ModuleType:
    return importlib.import_module("en_fr_report")


@pytest.mark.parametrize(
    ("translation", "expected", "verdict"),
    [
        ("Espérons qu'elles viennent.", "elles", "right"),
        ("Espérons qu’ils viennent.", "elles", "wrong"),
        ("Ont-elles disparu ?", "elles", "right"),
        ("Elles et ils.", "elles", "open"),
        ("On l'a vu.", "il", "open"),
        ("Il est là.", "elle", "wrong"),
        ("Ils sont là.", "il", "open"),
    ],
)
def test_a_pronoun_counts_as_a_word_whatever_is_joined_to_it(
    script: ModuleType, translation: str, expected: str, verdict: str
) -> None:
    assert script.verdict(translation, expected) == verdict


def test_items_are_those_whose_antecedent_an_annotator_found_in_the_context(
    script: ModuleType, tmp_path: Path
) -> None:
    def item(distance: int | None, expected: str | None) -> dict[str, Any]:
        return {"id": f"{distance}-{expected}", "distance": distance, "expected": expected}

    items = [
        item(0, "il"),
        item(1, "il"),
        item(3, "elles"),
        item(4, "il"),
        item(None, "il"),
        item(2, "le"),
    ]
    path = tmp_path / "lcpt.jsonl"
    path.write_text("\n".join(map(json.dumps, items)), "utf-8")
    assert [one["id"] for one in script.chosen_items(path)] == ["1-il", "3-elles"]


def test_tables_have_accuracies_counted_by_hand_and_the_plan_what_is_left(
    script: ModuleType, report: ModuleType, tmp_path: Path
) -> None:
    quality = {"bleu": 40.0, "bleu_interval": 1.0, "chrf": 60.0, "short": 0.01}
    tests = {f"{name}.{context}": quality for name in script.TESTS for context in ("own", "none")}
    verdicts = {"base": ["right", "wrong", "open", "wrong"], "s4to4+cd": ["right"] * 3 + ["wrong"]}
    lines = [
        {
            "system": name,
            "seed": 1,
            "items": {str(i): value for i, value in enumerate(values)},
            "foreign": {str(i): "open" for i in range(4)},
            "distances": {"0": 1, "1": 1, "2": 2, "3": 3},
            "documents": {"0": "a", "1": "b", "2": "c", "3": "d"},
            **{f"prefer.{kind}": {"0": 1.0, "1": 0.5} for kind in script.CONTRASTIVE},
            **tests,
        }
        for name, values in verdicts.items()
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    shown = report.report(tmp_path).markdown
    assert "| base     | 1     | 25.0% [" in shown
    assert "| 75.0%      | 0.0%" in shown  # of those that s4to4+cd decided: 3 of 4
    assert "+50.0 [" in shown
    # By distance: right, wrong; open; wrong.
    assert "| base     | 50.0%   | 0.0%    | 0.0%    |" in shown
    assert "| base     | 75.0% [" in shown  # preferred
    left = set(script.plan()) - {(run["system"], run["seed"]) for run in script.read_runs(tmp_path)}
    assert ("base", 1) not in left
    assert ("opus-mt", 0) in left
