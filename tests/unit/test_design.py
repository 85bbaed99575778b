"""What docs/design.md says of the code is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")
STEPS = re.findall(r"`([a-z_/]+\.py):([A-Za-z_]+)`", DESIGN)


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_every_function_on_the_way_of_a_sentence_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / "src/concatmt" / path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_both_ways_are_listed_and_every_folder_has_its_row() -> None:
    assert len(STEPS) > 20
    folders = {path.parent.name for path in (ROOT / "src/concatmt").glob("*/__init__.py")}
    rows = set(re.findall(r"^\| `([a-z]+)/` \|", DESIGN, re.MULTILINE))
    assert folders == rows
