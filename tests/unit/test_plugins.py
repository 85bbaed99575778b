"""Loading of plug-ins."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from concatmt import plugins
from concatmt.parallel import map_in_order
from concatmt.training import trackers
from concatmt.training.run import Run
from concatmt.training.train import train
from tests.conftest import Command
from tests.unit.training.tiny import make_data, make_task

STATS = ("inspect", "stats", "x")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded, and nothing that a test loads stays."""
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setenv(plugins.VARIABLE, "")


def write(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.write_text(source)
    return path


def test_a_file_is_imported_once_and_knows_that_it_is_a_plug_in(tmp_path: Path) -> None:
    source = (
        "import os\nfrom concatmt.plugins import origin\n"
        "os.environ['SEEN'] = os.environ.get('SEEN', '') + origin() + ';'\n"
    )
    path = write(tmp_path, "mine.py", source)
    try:
        plugins.load_plugin(path)
        plugins.load_plugins([str(path)])
        assert os.environ["SEEN"] == f"{path};"
    finally:
        os.environ.pop("SEEN", None)
    assert plugins.origin() is None


def test_a_module_is_imported_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a_plug_in_of_mine.py", "LOADED = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.load_plugin("a_plug_in_of_mine")
    assert sys.modules["a_plug_in_of_mine"].LOADED


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "mine.py: no such file"),
        ("1 / 0\n", "mine.py: ZeroDivisionError: division by zero; --debug shows where"),
        ("x = (\n", "mine.py: SyntaxError: '(' was never closed"),
        (
            "from concatmt.errors import UserError\nraise UserError('two are called x')\n",
            "mine.py: two are called x",
        ),
    ],
)
def test_what_is_wrong_with_a_plug_in_is_one_line(
    source: str | None, message: str, tmp_path: Path, concatmt: Command
) -> None:
    if source is not None:
        write(tmp_path, "mine.py", source)
    for arguments in (["--plugin", "mine.py", *STATS], [*STATS, "--plugin=mine.py"]):
        failed = concatmt(*arguments)
        assert failed.returncode == 2
        assert failed.stderr.count("\n") == 1
        assert message in failed.stderr


def test_the_option_wants_a_value_and_is_left_alone_by_help(concatmt: Command) -> None:
    assert concatmt(*STATS, "--plugin").stderr == "concatmt: error: --plugin: needs a value\n"
    assert concatmt("--plugin", "nowhere.py", "inspect", "stats", "--help").returncode == 0


def seen(_: int) -> str:
    return os.environ.get("SEEN", "")


def test_worker_processes_load_the_same_plug_ins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "mine.py", "import os\nos.environ['SEEN'] = str(os.getpid())\n")
    try:
        plugins.load_plugin(path)
        ours = os.environ["SEEN"]
        found = set(map_in_order(seen, iter(range(4)), 2))
    finally:
        os.environ.pop("SEEN", None)
    assert "" not in found
    assert ours not in found


def test_commands_that_are_started_load_them_too(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", "print('loaded')\n")
    plugins.load_plugin(path)
    code = "from concatmt.plugins import load_plugins; load_plugins()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "loaded\n"


def test_installed_packages_name_theirs_as_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package's metadata is what pip writes: a folder with two files."""
    write(tmp_path, "some_package.py", "LOADED = True\n")
    metadata = tmp_path / "some_package-1.0.dist-info"
    metadata.mkdir()
    write(metadata, "METADATA", "Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
    write(metadata, "entry_points.txt", f"[{plugins.GROUP}]\nsome = some_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.load_plugins()
    assert sys.modules["some_package"].LOADED


def example(name: str) -> str:
    """A plug-in of the documentation, by the name of its file."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "plugins.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(f'"""{name}:')]
    return str(found)


def test_the_documents_of_the_format_in_the_documentation_are_read_by_several_verbs(
    tmp_path: Path, concatmt: Command
) -> None:
    write(tmp_path, "marked.py", example("marked.py"))
    corpus = "# a\nOne . ||| Eins .\nTwo . ||| Zwei .\n# b\nThree . ||| Drei .\n"
    write(tmp_path, "c.marked", corpus)
    files = "[{format: marked, file: c.marked}]"
    write(
        tmp_path,
        "c.yaml",
        "languages: {source: en, target: de}\ntext: {kind: whitespace, vocabulary: joint}\n"
        f"corpus: {{splits: {{train: {files}}}}}\n",
    )
    done = concatmt("--plugin", "marked.py", "prepare", "c.yaml", "--output", "data")
    assert done.returncode == 0, done.stderr
    code = (
        "from pathlib import Path\nfrom concatmt.plugins import load_plugin\n"
        "load_plugin('marked.py')\n"
        "from concatmt.corpus.formats import format_of, format_named\n"
        "from concatmt.corpus.lines import ReadReport\n"
        "path = Path('c.marked')\n"
        "for part in format_named(format_of(path)).parts([path], 9, ReadReport()):\n"
        "    print(part.document, part.source, part.gold, part.blank)\n"
    )
    read = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert read.stdout.splitlines() == [
        "a ['One .', 'Two .'] ['Eins .', 'Zwei .'] 1",
        "b ['Three .'] ['Drei .'] 1",
    ], read.stderr


def test_the_measure_and_the_encoding_of_the_documentation_work(
    tmp_path: Path, concatmt: Command
) -> None:
    write(tmp_path, "ratio.py", example("ratio.py"))
    write(tmp_path, "out.de", "a b\n\nc\n")
    write(tmp_path, "test.de", "a b\n\nc d\n")
    measured = ("evaluate", "out.de", "--references", "test.de", "--measure", "length-ratio")
    done = concatmt("--plugin", "ratio.py", *measured)
    assert "| out    | 0.750 |" in done.stdout, done.stderr
    write(tmp_path, "current.py", example("current.py"))
    code = (
        "from concatmt.plugins import load_plugin\nload_plugin('current.py')\n"
        "import torch\nfrom concatmt.model.encodings import EncodingSizes, build_encoding\n"
        "from concatmt.model.systems import parse_system, system_name\n"
        "system = parse_system('s4to4+cd+current')\nprint(system_name(system))\n"
        "encoding = build_encoding(system.encoding, EncodingSizes(8, 4))\n"
        "encoding.context.data.fill_(1)\n"
        "t, k, n = torch.tensor([2, 3]), torch.tensor([2, 1]), torch.tensor([2, 2])\n"
        "encoding.train(False)\nwith_context = encoding(t, k, n).input\n"
        "alone = encoding(t, torch.tensor([1, 1]), n).input\n"
        "print((with_context - alone)[:, 0].tolist())\n"
    )
    seen = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert seen.stdout.splitlines() == ["s4to4+cd+current", "[1.0, 0.0]"], seen.stderr


def test_the_tracker_of_the_documentation_writes_the_figures_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "_REGISTERED", dict(trackers._REGISTERED))
    plugins.load_plugin(write(tmp_path, "to_csv.py", example("to_csv.py")))
    assert train(make_task(make_data(tmp_path), max_updates=5, track=["csv"]), tmp_path / "run")
    lines = (tmp_path / "run" / "figures.csv").read_text("utf-8").splitlines()
    records = Run(tmp_path / "run").metrics()
    assert [line.split(",")[:2] for line in lines] == [
        [str(record["update"]), f"{record['kind']}/{name}"]
        for record in records
        for name in record
        if name not in ("kind", "update")
    ]
