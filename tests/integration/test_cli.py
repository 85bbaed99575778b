"""The command itself: help, version, errors, speed of starting."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from concatmt import __version__
from concatmt.cli.app import VERBS, main
from tests.conftest import Command


def test_version(concatmt: Command) -> None:
    assert concatmt("--version").stdout == f"concatmt {__version__}\n"


def test_help_lists_every_verb(concatmt: Command) -> None:
    text = concatmt("--help").stdout
    listed = text.partition("Verbs:")[2].partition("Options:")[0].splitlines()
    assert [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "] == [
        *VERBS
    ]


def test_every_verb_shows_examples_in_its_help(concatmt: Command) -> None:
    for verb in VERBS:
        text = concatmt(verb, "--help").stdout
        assert (
            f"concatmt {verb}" in text.partition("Examples" if "Examples" in text else "COMMAND")[2]
        ), verb


def test_help_starts_in_half_a_second_of_cpu_time() -> None:
    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(5):
        before = cpu()
        subprocess.run(
            [sys.executable, "-m", "concatmt", "--help"], capture_output=True, check=True
        )
        times.append(cpu() - before)
    assert min(times) < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["prepare"], "Missing argument 'config'. (see 'concatmt prepare --help')"),
        (["inspect", "stats", "nowhere"], "nowhere: not a store: it has no manifest.json"),
        (["inspect", "show", "nowhere", "-K", "0"], "Invalid value for"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(
    concatmt: Command, arguments: list[str], message: str
) -> None:
    failed = concatmt(*arguments)
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert message in failed.stderr


def test_debug_shows_the_traceback(concatmt: Command) -> None:
    assert "Traceback" in concatmt("inspect", "stats", "nowhere", "--debug").stderr


def test_output_to_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m concatmt prepare --help | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 2),
        # As torch says it, on the CPU and on a GPU.
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9"), 2),
        (RuntimeError("CUDA out of memory. Tried to allocate 20 GiB"), 2),
        (RuntimeError("shapes differ"), None),
    ],
)
def test_running_out_of_memory_is_one_line_and_other_defects_are_not_hidden(
    error: Exception,
    code: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr("concatmt.cli.app.app", fail)
    with pytest.raises(SystemExit if code else RuntimeError) as left:
        main()
    if code:
        assert left.value.code == code  # type: ignore[attr-defined]
        printed = capsys.readouterr().err
        assert printed.startswith("concatmt: error: out of memory; use")
        assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("concatmt tr", {"train", "translate"}), ("concatmt translate --bea", {"--beam"})],
)
def test_a_shell_can_complete_verbs_and_options(
    concatmt: Command, line: str, wanted: set[str]
) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    environment = {**os.environ, **words, "_CONCATMT_COMPLETE": "complete_bash"}
    done = concatmt(env=environment)
    assert set(done.stdout.split()) == wanted
