"""The drawing of imports between folders in docs/design.md, and that they go one way."""

import importlib.util
from graphlib import CycleError
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "import_graph", ROOT / "scripts" / "import_graph.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(folder: Path, **sources: str) -> Path:
    for name, source in sources.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    return folder


def test_imports_between_folders_go_one_way(script: ModuleType) -> None:
    order = script.in_order(script.imports(ROOT / "src" / "concatmt"))
    steps = ["text", "corpus", "model", "decoding", "evaluation", "cli"]
    assert [node for node in order if node in steps] == steps


def test_the_drawing_in_the_design_is_current(script: ModuleType) -> None:
    assert script.main(["--check"]) == 0, "run: python scripts/import_graph.py"


def test_a_late_import_inside_a_function_counts_and_closes_a_circle(
    script: ModuleType, tmp_path: Path
) -> None:
    folder = package(
        tmp_path,
        text__a="from concatmt.corpus.b import x\n",
        corpus__b="def f():\n    import concatmt.text.a\n",
    )
    with pytest.raises(CycleError):
        script.in_order(script.imports(folder))


def test_an_arrow_that_a_longer_way_implies_is_in_the_table_alone(
    script: ModuleType, tmp_path: Path
) -> None:
    folder = package(
        tmp_path,
        errors="",
        text__a="import concatmt.errors\n",
        corpus__b="from concatmt.text import a\n",
        model__c="from concatmt import __version__, corpus\nfrom concatmt.text.a import x\n",
    )
    drawn = script.drawing(script.imports(folder))
    assert "    text --> corpus\n    corpus --> model\n```" in drawn
    assert "| `model` | text, corpus |" in drawn
    assert "errors" not in drawn


def test_counts_are_those_of_the_source(script: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "src" / "concatmt"
    source.mkdir(parents=True)
    package(source, cli__app='VERBS = {"a": 1, "b": 2}\n', text__x="def f():\n    return 1\n")
    counted = script.counts(tmp_path)
    assert "| modules | 2 |\n| lines | 3 |\n| verbs | a, b |\n| functions | 1 |" in counted
    assert "| longest function | 2 lines (text/x.py:f) |" in counted
