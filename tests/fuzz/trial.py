"""A trial: a folder with odd input, the commands to run in it, and what they must give.

Also carries one out. Does not know which trials there are.
"""

import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.oracle import Command, Done, run
from tests.fuzz.workbench import Workbench

INTERNAL = ".streams"  # where the streams of a command are
UNFINISHED = (".tmp", ".old")

Check = Callable[[Sequence[Done]], str | None]


@dataclass(frozen=True)
class Trial:
    """What to run, and what must be true if it ends with exit code 0."""

    commands: tuple[Command, ...]
    check: Check = lambda done: None  # called if all ended with 0; what is wrong, or None
    may_leave: tuple[str, ...] = ()  # beginnings of names that a refused command may leave
    what: str = ""
    must_end: bool = False  # well: nothing is wrong with the input, so it may not be refused


Maker = Callable[[random.Random, Workbench, Path], Trial]


def carry_out(maker: Maker, bench: Workbench, seed: str, folder: Path) -> tuple[Trial, str | None]:
    """Make a trial in an empty folder and run it; also what did not hold, or None."""
    folder.mkdir(parents=True)
    trial = maker(random.Random(seed), bench, folder)
    done: list[Done] = []
    for command in trial.commands:
        before = _names(folder)
        done.append(run(command, folder))
        problem = done[-1].problem() or _leftovers(folder, before, done[-1].code, trial)
        if problem:
            return trial, problem
        if done[-1].code:
            return trial, f"refused: {done[-1].stderr[-300:]}" if trial.must_end else None
    return trial, trial.check(done)


def save(folder: Path, trial: Trial, problem: str, target: Path) -> None:
    """Keep the input of a trial, with the commands and what was wrong."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, symlinks=True, copy_function=_copy)
    lines = [*map(str, trial.commands), "", trial.what, problem, ""]
    (target / "failure.txt").write_text("\n".join(lines), errors="backslashreplace")


def _copy(source: str, target: str) -> None:
    if Path(source).is_file():  # a FIFO would be waited for
        shutil.copy2(source, target, follow_symlinks=False)


def _names(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of everything on the top level."""
    return {
        path.name: (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.iterdir()
        if path.name != INTERNAL
    }


def _leftovers(
    folder: Path, before: dict[str, tuple[int, int]], code: int, trial: Trial
) -> str | None:
    """Temporary files, or anything that a command that failed has made or changed."""
    for path in folder.rglob("*"):
        if path.name.endswith(UNFINISHED) and path.name not in before:
            return f"left unfinished: {path.relative_to(folder)}"
    if code == 0:
        return None
    after = _names(folder)
    for name in sorted(after.keys() | before.keys()):
        if after.get(name) != before.get(name) and not name.startswith(trial.may_leave):
            return f"failed, but left or changed {name}"
    return None
