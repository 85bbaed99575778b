"""A slice of the fuzz suite, and that its oracle sees what it is there to see."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz import oracle

ROOT = Path(__file__).parents[2]
ROUNDS = 2


def test_odd_input_is_refused_in_one_line_or_comes_back_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "1", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--minutes", "5", "--rounds", str(ROUNDS), "--failures", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried = int(done.stdout.splitlines()[-1].split("|")[2])
    assert tried >= 11  # a round of all the kinds that start no process of their own


def _say(text: str) -> None:
    print(text, file=sys.stderr)
    sys.exit(2)


@pytest.mark.parametrize(
    ("work", "problem"),
    [
        (lambda: None, None),
        (lambda: _say("concatmt: error: no such file"), None),
        (lambda: _say("note: x\nconcatmt: error: no such file"), None),
        (lambda: _say("concatmt: error: no such\nfile"), "the last line is not an error"),
        (lambda: _say("concatmt: error: a\nconcatmt: error: b"), "more than one line"),
        (lambda: _say("concatmt: error: "), "an error of 0 characters"),
        (lambda: 1 // 0, "traceback: ZeroDivisionError"),
        (lambda: sys.exit(1), "exit code 1"),
        (lambda: os.kill(os.getpid(), 9), "crash: signal SIGKILL"),
        (lambda: time.sleep(60), "hang"),
        (lambda: any(iter(int, 1)), "hang"),
        (lambda: bytearray(180 << 20), "memory"),
    ],
)
def test_the_oracle_sees_what_does_not_hold(
    work: Callable[[], object],
    problem: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oracle, "SECONDS", 1)
    monkeypatch.setattr(oracle, "PATIENCE", 3)  # on a busy machine nothing is done in less
    monkeypatch.setattr(oracle, "MEMORY", 100 << 20)
    (tmp_path / "stdin").touch()
    found = oracle.run_forked(work, tmp_path, tmp_path).problem()
    assert (found is None) if problem is None else (found or "").startswith(problem), found
