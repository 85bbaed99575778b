"""Random kills: a command is started and killed again and again, and must end with the same bytes.

    python -m tests.fuzz.kills --seed 1 --count 50

Every start has the same process id if the machine has namespaces, as in a container. Only kills
of a command that had begun to write are counted.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.fuzz.workbench import SYSTEM, TRANSLATE_LONG, Workbench, make_workbench

PATIENCE = 60.0  # seconds, in which a command begins to write or ends
STEPS = 60  # updates of the training
TRAIN = (
    *("train", "c.yaml", "--data", "store", "--system", SYSTEM, "--output", "run"),
    *("--set", f"training.max_updates={STEPS}"),
)
WEIGHTS = Path("run") / "model" / "model.safetensors"
TRANSLATE = (*TRANSLATE_LONG, "--batch", "8", "--resume")


def start_and_kill(
    folder: Path, arguments: tuple[str, ...], pattern: str, delay: float, patience: float
) -> int | None:
    """Kill a command `delay` seconds after files that fit `pattern` have changed.

    None if it was killed, or else the exit code with which it ended before.
    """
    process = subprocess.Popen(
        [*same_process_id(), sys.executable, "-m", "concatmt", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    before, end = _times(folder, pattern), time.monotonic() + patience
    while process.poll() is None and time.monotonic() < end:
        if _times(folder, pattern) != before:
            break
        time.sleep(0.001)
    time.sleep(delay)
    code = process.poll()
    if code is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return code


def _times(folder: Path, pattern: str) -> dict[Path, int]:
    """When files were changed; what vanishes in between counts as a change."""
    times = {}
    for path in folder.glob(pattern):
        try:
            times[path] = path.lstat().st_mtime_ns
        except FileNotFoundError:
            times[path] = 0
    return times


@cache
def same_process_id() -> tuple[str, ...]:
    """A prefix under which a command has process id 1 or 2, if the machine allows that."""
    prefix = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    allowed = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    return prefix if allowed else ()


def run_to_its_end(folder: Path, arguments: tuple[str, ...]) -> None:
    """Let a command finish; that it fails is an AssertionError."""
    command = [*same_process_id(), sys.executable, "-m", "concatmt", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"


def kill_often(
    draw: random.Random,
    folder: Path,
    arguments: tuple[str, ...],
    pattern: str,
    longest_delay: float,
    kills: int,
    ended: Callable[[], None],
) -> Counter[str]:
    """Kill a command so many times, and let it finish; `ended` checks its result and removes it."""
    counts: Counter[str] = Counter()
    while counts["kills"] < kills:
        delay = longest_delay * draw.random()
        code = start_and_kill(folder, arguments, pattern, delay, PATIENCE)
        if code is None:
            counts["kills"] += 1
            continue
        assert code == 0, f"exit code {code} after {counts['kills']} kills"
        counts["ends"] += 1
        ended()
    run_to_its_end(folder, arguments)
    counts["ends"] += 1
    ended()
    return counts


def kill_training(draw: random.Random, bench: Workbench, folder: Path, kills: int) -> Counter[str]:
    """`train`, killed: the weights of a run that was not, and no temporary files."""
    for name in ("c.yaml", "store"):
        copy = shutil.copytree if (bench / name).is_dir() else shutil.copy
        copy(bench / name, folder / name)  # type: ignore[operator]
    run_to_its_end(folder, TRAIN)
    expected = (folder / WEIGHTS).read_bytes()
    shutil.rmtree(folder / "run")

    def ended() -> None:
        assert (folder / WEIGHTS).read_bytes() == expected, "other weights than without kills"
        left = [str(path) for path in (folder / "run").rglob(".*")]
        assert not left, f"left behind: {left}"
        shutil.rmtree(folder / "run")

    return kill_often(draw, folder, TRAIN, "run/**/*", 0.6, kills, ended)


def kill_translation(
    draw: random.Random, bench: Workbench, folder: Path, kills: int
) -> Counter[str]:
    """`translate --resume`, killed: the bytes of one that was not, and no journal."""
    shutil.copytree(bench / "run", folder / "run")
    shutil.copy(bench / "long.txt", folder / "long.txt")

    def ended() -> None:
        output = folder / "long.out"
        assert output.read_bytes() == bench.given["long"], "other bytes than without kills"
        left = [path.name for path in folder.glob(".long.out*")]
        assert not left, f"left behind: {left}"
        output.unlink()

    return kill_often(draw, folder, TRANSLATE, ".long.out*/**/*", 0.2, kills, ended)


def main() -> int:
    """Kill as often as the command line says; exit code 1 if something did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=50, help="kills of each command")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="kills-"))
    wrong = 0
    try:
        bench = make_workbench(work / "bench")
        for name, kind in (("train", kill_training), ("translate", kill_translation)):
            folder = work / name
            folder.mkdir()
            start = time.monotonic()
            try:
                counts = kind(random.Random(f"{given.seed}:{name}"), bench, folder, given.count)
                result = f"{counts['kills']} kills, {counts['ends']} ends, all with the same bytes"
            except AssertionError as error:
                wrong, result = wrong + 1, f"did not hold: {error}"
            print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", flush=True)
        print(f"same process id: {'yes' if same_process_id() else 'no'}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
