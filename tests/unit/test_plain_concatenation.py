"""How translations of whole windows, made as if they were one sentence, are cut again."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")
SCRIPT = Path(__file__).parents[2] / "scripts" / "plain_concatenation.py"
LANGUAGES = "en", "fr"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plain_concatenation", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_last_line_keeps_as_many_sentences_as_it_has(script: ModuleType) -> None:
    window = ["Anna bought a lamp.", "It is old. Really."]
    whole = "Anna a acheté une lampe. Elle est vieille. Vraiment."
    assert script.last_part(window, whole, LANGUAGES) == ("Elle est vieille. Vraiment.", False)


def test_a_window_that_comes_out_shorter_has_lost_sentences(script: ModuleType) -> None:
    window = ["Anna bought a lamp.", "It is old."]
    assert script.last_part(window, "Anna a acheté une lampe.", LANGUAGES)[1]


def test_windows_stay_within_documents_and_lines_come_back(
    script: ModuleType, tmp_path: Path
) -> None:
    text, translated, output = (tmp_path / name for name in ("in.en", "whole.jsonl", "out.fr"))
    text.write_text("It fell.\nHe ran.\nWe sat.\n\nI left.\n", "utf-8")
    windows = list(script.windows(text, 2))
    assert [w for _, w in windows] == [
        ["It fell."],
        ["It fell.", "He ran."],
        ["He ran.", "We sat."],
        ["I left."],
    ]
    records = [{"document": n, "translation": " ".join(w).upper()} for n, w in windows]
    translated.write_text("\n".join(map(json.dumps, records)), "utf-8")
    script.cut(text, translated, output, LANGUAGES, 2)
    assert output.read_text("utf-8") == "IT FELL.\nHE RAN.\nWE SAT.\n\nI LEFT.\n"
