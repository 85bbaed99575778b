"""The Python interface: what is imported when, the example of the docs, the notebook."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import concatmt
from concatmt.settings import load_settings
from concatmt.testbed.dials import Dials

ROOT = Path(__file__).resolve().parents[2]


def run(code: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    given = [code] if isinstance(code, Path) else ["-c", code]
    return subprocess.run(
        [sys.executable, *given], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_importing_the_package_is_quick_and_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, time; start = time.process_time(); import concatmt\n"
        "print(time.process_time() - start)\n"
        "print([name for name in ('torch', 'numpy', 'pydantic', 'yaml') if name in sys.modules])"
    )
    times = []
    for _ in range(3):
        seconds, heavy = run(code, tmp_path).stdout.splitlines()
        times.append(float(seconds))
        assert heavy == "[]"
    assert min(times) < 0.1


def test_all_public_names_can_be_had_and_others_are_refused(tmp_path: Path) -> None:
    for name in concatmt.__all__:
        assert getattr(concatmt, name) is not None
    assert dir(concatmt) == sorted(concatmt.__all__)
    with pytest.raises(AttributeError, match="module 'concatmt' has no attribute 'nonsense'"):
        concatmt.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_where_the_public_names_come_from() -> None:
    """They read the imports that are never carried out; those must be the lazy ones."""
    tree = ast.parse((ROOT / "src" / "concatmt" / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    told = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == concatmt._HOMES
    assert {*told, "__version__"} == {*concatmt.__all__}
    assert (ROOT / "src" / "concatmt" / "py.typed").exists()


def test_the_example_of_the_docs_runs_without_a_main_guard(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    script = tmp_path / "example.py"
    script.write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "utf-8")
    result = run(script, tmp_path)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "2 documents"
    assert sum("A cat barks . -> " in line or "It is loud . -> " in line for line in lines) == 2
    scored = [line.split()[:2] for line in lines if line.startswith("context ")]
    assert scored == [["context", "0"], ["context", "1"]]
    assert any(line.startswith("| s2to2+cd") for line in lines)  # a row of the evaluation


def test_the_notebook_runs(tmp_path: Path) -> None:
    result = run(ROOT / "examples" / "testbed.py", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "train: 400 documents" in result.stdout
    assert re.search(r"s4to4\+cd: .+ -> ", result.stdout)
    assert "context 3: -" in result.stdout


def test_prepare_uses_processes_in_a_script_without_a_main_guard(tmp_path: Path) -> None:
    """Before, the processes ran the script again and the pool broke with a traceback."""
    for side in ("en", "de"):
        (tmp_path / f"x.{side}").write_text("a b\n\n" * 20_000)
    files = [{"format": "text", "source": "x.en", "target": "x.de"}]
    config = {
        "languages": {"source": "en", "target": "de"},
        "text": {"kind": "whitespace"},
        "corpus": {"splits": {"train": files}},
    }
    script = tmp_path / "script.py"
    script.write_text(
        "print('the script runs')\nimport concatmt\n"
        f"store = concatmt.prepare({config!r}, 'data', workers=2)\n"
        "print(len(store.splits['train'].documents) - 1)\n"
    )
    result = run(script, tmp_path)
    assert (result.returncode, result.stdout) == (0, "the script runs\n20000\n"), result.stderr


def test_settings_may_be_a_dictionary_with_changes_by_path() -> None:
    given = {"pair": "en-ru", "density": 0.1}
    dials = load_settings(Dials, given, {"density": 0.2, "weights": {"tv": 3}})
    assert dials == Dials(pair="en-ru", density=0.2, weights={"tv": 3})
    assert given == {"pair": "en-ru", "density": 0.1}
    with pytest.raises(concatmt.UserError, match="'density.x': 'density' holds a value"):
        load_settings(Dials, given, {"density.x": 1})


def test_score_refuses_what_is_not_a_list_of_sentences(tmp_path: Path) -> None:
    from concatmt.api import _part

    with pytest.raises(concatmt.UserError, match="document 2: give lists of sentences"):
        _part(2, "A cat.", ["Eine Katze."])
    with pytest.raises(concatmt.UserError, match="2 sentences, but 1 translations"):
        _part(1, ["a", "b"], ["c"])
