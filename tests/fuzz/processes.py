"""Trials in processes of their own: streams that are closed or of another encoding, and kills.

Few, since each starts Python and torch.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.damage import copy
from tests.fuzz.kills import start_and_kill
from tests.fuzz.oracle import Command, Done
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import QUICK, SYSTEM, TRANSLATE_LONG, Workbench

SHELL = ("<&-", ">&-", "2>&-", "| head -1", "< /dev/null", "2> /dev/null", ">&- 2>&-", "| true")
ENVIRONMENT = (
    (),
    (),
    (("PYTHONIOENCODING", "latin-1"),),
    (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")),
    (("WORLD_SIZE", "x"),),
    (("WORLD_SIZE", "2"), ("RANK", "7")),
    (("RANK", "-1"), ("WORLD_SIZE", "0")),
    (("OMP_NUM_THREADS", "0"),),
    (("COLUMNS", "x"),),
    (("TMPDIR", "/nowhere"),),
)


def odd_streams(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """A command whose streams or environment are not what they usually are."""
    copy(bench / "pieces", folder / "model")
    copy(bench / "store", folder / "store")
    (folder / "in.txt").write_text("Haus\nñ ж 家\n\nx\n" * 20, "utf-8")
    verbs: list[tuple[str, ...]] = [
        ("translate", "model", "in.txt", *QUICK),
        ("translate", "model", *QUICK),
        ("inspect", "show", "store", "--count", "1000"),
        ("score", "model", "in.txt", "--target", "in.txt", "--threads", "1"),
        ("inspect", "stats", "store"),
        (),
        ("--version",),
    ]
    arguments, shell, environment = draw.choice(verbs), "", draw.choice(ENVIRONMENT)
    if not environment or draw.random() < 0.2:
        shell = draw.choice(SHELL)
    # Without stderr there is nowhere to say what is wrong; the exit code must still be right.
    silent = "2>" in shell

    def check(done: Sequence[Done]) -> str | None:
        whole = arguments[:1] == ("translate",) and len(arguments) > 8 and not shell
        if whole and done[-1].stdout.count(b"\n") != 80:
            return f"{done[-1].stdout.count(10)} lines of 80"
        return None

    command = Command(arguments, b"", environment, real=True, shell=shell, silent=silent)
    return Trial((command,), check, what="streams")


def killed_prepare(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`prepare`, killed and started again: the same store, and nothing else."""
    for name in ("c.yaml", "train.en", "train.de", "valid.en", "valid.de"):
        copy(bench / name, folder / name)
    arguments = ("prepare", "c.yaml", "--output", "store", "--workers", "1")
    _kill_twice(draw, folder, arguments, ".store*")

    def check(done: Sequence[Done]) -> str | None:
        for path in sorted((bench / "store").rglob("*")):
            other = folder / "store" / path.relative_to(bench / "store")
            if path.is_file() and (not other.is_file() or path.read_bytes() != other.read_bytes()):
                return f"{other.relative_to(folder)}: other bytes than without the kills"
        return _left(folder, ".store*")

    return Trial((Command(arguments),), check, what="killed twice")


def killed_train(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`train`, killed and started again: the same weights."""
    for name in ("c.yaml", "store"):
        copy(bench / name, folder / name)
    arguments = (
        *("train", "c.yaml", "--data", "store", "--system", SYSTEM, "--output", "run"),
        *("--set", "training.max_updates=12"),
    )
    _kill_twice(draw, folder, arguments, "run/*")

    def check(done: Sequence[Done]) -> str | None:
        weights = (folder / "run" / "model" / "model.safetensors").read_bytes()
        return None if weights == bench.given["weights"] else "other weights than without the kills"

    return Trial((Command(arguments),), check, ("run",), what="killed twice")


def killed_translate(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`translate --resume`, killed and started again: the same bytes."""
    for name in ("run", "long.txt"):
        copy(bench / name, folder / name)
    arguments = (*TRANSLATE_LONG, "--batch", "8", "--resume")
    _kill_twice(draw, folder, arguments, ".long.out*")

    def check(done: Sequence[Done]) -> str | None:
        if (folder / "long.out").read_bytes() != bench.given["long"]:
            return "other bytes than without the kills"
        return _left(folder, ".long.out*")

    return Trial((Command(arguments),), check, (".long.out.journal",), what="killed twice")


def _left(folder: Path, pattern: str) -> str | None:
    left = sorted(path.name for path in folder.glob(pattern))
    return f"left behind: {left[0]}" if left else None


def _kill_twice(
    draw: random.Random, folder: Path, arguments: tuple[str, ...], pattern: str
) -> None:
    """Start a command and kill it, mostly soon after files that fit `pattern` have appeared."""
    for _ in range(2):
        patience = 20.0 if draw.random() < 0.8 else 0.0
        start_and_kill(folder, arguments, pattern, draw.random() * 0.3, patience)
