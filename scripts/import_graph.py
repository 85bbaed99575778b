"""Draws which folder of the package imports which into docs/design.md; counts what there is.

    python scripts/import_graph.py            writes the drawing
    python scripts/import_graph.py --check    exit code 1 if the drawing is old or has a cycle
    python scripts/import_graph.py --counts [ROOT]    modules, lines, verbs, lengths of functions

Reads the source as text and imports nothing of it.
"""

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "concatmt"
DRAWING = re.compile(r"(<!-- import graph: .*? -->\n).*?(<!-- end of import graph -->)", re.DOTALL)
# What all folders may import: the modules that stand beside them and know none of them.
BESIDE = "beside"
Graph = dict[str, set[str]]  # folder -> folders that it imports from


def imports(package: Path) -> Graph:
    """Which folder imports from which, wherever in a module the import stands."""
    graph: Graph = {}
    for path in sorted(package.rglob("*.py")):
        origin = _node(package, path.relative_to(package).with_suffix("").parts)
        if origin is None:
            continue
        graph.setdefault(origin, set())
        for name in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            target = _node(package, tuple(name.split(".")[1:]))
            if target not in (None, origin):
                graph[origin].add(target)
    return graph


def in_order(graph: Graph) -> list[str]:
    """Folders after all those that they import from; a cycle is a CycleError."""
    sorter = TopologicalSorter({node: sorted(graph[node]) for node in sorted(graph)})
    return list(sorter.static_order())


def drawing(graph: Graph) -> str:
    """A Mermaid chart of the direct ways, and a table of everything.

    An arrow that a longer way implies is left out of the chart: with all of them nobody sees any.
    """
    order = [node for node in in_order(graph) if node != BESIDE]
    lines = ["```mermaid", "flowchart LR"]
    for node in order:
        targets = graph[node] - {BESIDE}
        implied = {far for near in targets for far in _reached(graph, near)}
        lines += [f"    {target} --> {node}" for target in order if target in targets - implied]
    lines += ["```", "", "| folder | imports from |", "| --- | --- |"]
    for node in order:
        named = [target for target in order if target in graph[node]]
        lines.append(f"| `{node}` | {', '.join(named) or '(none)'} |")
    return "\n".join(lines) + "\n"


def redrawn(text: str, graph: Graph) -> str:
    """A document with the drawing put between its two markers."""
    if not DRAWING.search(text):
        raise SystemExit("docs/design.md: the markers of the import graph are missing")
    return DRAWING.sub(lambda match: match[1] + drawing(graph) + match[2], text)


def counts(root: Path) -> str:
    """Modules, lines, verbs and the lengths of functions, as a table."""
    package = root / "src" / PACKAGE
    paths = sorted(package.rglob("*.py"))
    functions: list[tuple[int, str]] = []
    lines = 0
    for path in paths:
        source = path.read_text(encoding="utf-8")
        lines += source.count("\n")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                functions.append((length, f"{path.relative_to(package)}:{node.name}"))
    length, longest = max(functions)
    rows = {
        "modules": f"{len(paths):,}",
        "lines": f"{lines:,}",
        "verbs": ", ".join(_verbs(package / "cli")),
        "functions": f"{len(functions):,}",
        "median function": f"{statistics.median(n for n, _ in functions):g} lines",
        "longest function": f"{length} lines ({longest})",
        "functions over 70 lines": str(sum(n > 70 for n, _ in functions)),
    }
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def _verbs(folder: Path) -> list[str]:
    """The keys of the table VERBS; before there was one, the functions that were commands."""
    found: list[str] = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(t, ast.Name) and t.id == "VERBS" for t in targets):
                    return [str(ast.literal_eval(key)) for key in node.value.keys if key]
            if isinstance(node, ast.FunctionDef) and any(
                re.match(r"\w+\.command\(", ast.unparse(decorator))
                for decorator in node.decorator_list
            ):
                found.append(node.name)
    return found


def _node(package: Path, parts: tuple[str, ...]) -> str | None:
    """The folder that a module is in; the modules beside the folders are one, or on their own.

    The package itself gives access to everything and is no step: None.
    """
    if not parts or parts[0] in ("__init__", "__main__", "presets"):
        return None
    if (package / parts[0]).is_dir():
        return parts[0]
    path = package / f"{parts[0]}.py"
    if not path.exists():
        return None  # an attribute of the package, as its version
    names = _imported(ast.parse(path.read_text(encoding="utf-8")))
    knows = any((package / name.split(".")[1]).is_dir() for name in names if "." in name)
    return parts[0] if knows else BESIDE


def _imported(tree: ast.Module) -> Iterator[str]:
    """Full names of the modules of the package that are imported, and of what is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)


def _reached(graph: Graph, start: str) -> set[str]:
    """Everything that `start` imports from, by any way."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph[waiting.pop()] - reached:
            reached.add(target)
            waiting.append(target)
    return reached


def main(arguments: list[str]) -> int:
    """Draw, check or count."""
    if arguments[:1] == ["--counts"]:
        print(counts(Path(arguments[1]) if len(arguments) > 1 else ROOT))
        return 0
    page = ROOT / "docs" / "design.md"
    text = page.read_text(encoding="utf-8")
    try:
        current = redrawn(text, imports(ROOT / "src" / PACKAGE))
    except CycleError as error:
        print(f"the folders import each other in a circle: {' -> '.join(error.args[1])}")
        return 1
    if arguments == ["--check"]:
        if current != text:
            print("docs/design.md: the import graph is old; run python scripts/import_graph.py")
        return int(current != text)
    page.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
