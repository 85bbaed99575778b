"""Trials with damaged models, stores, runs and journals.

Damage that the hashes show must be refused, or make no difference. Where the hashes are recomputed,
so that they fit what was damaged, commands must still end well: exit code 0, or one line of error.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.damage import copy, damage_file
from tests.fuzz.oracle import Command, Done
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import QUICK, SYSTEM, TRANSLATE_LONG, Workbench

HIDDEN = 0.5  # how often the hashes are made to fit


def _damage(draw: random.Random, bench: Workbench, name: str, folder: Path) -> tuple[str, bool]:
    """Damage a file of a copy in `folder`; what was done, and whether hashes hide it."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "lock")
    victim = draw.choice(files)
    way = damage_file(draw, victim)
    hidden = draw.random() < HIDDEN
    if hidden and name in bench.hashes:
        bench.hashes[name].renew(folder)
    where = victim.relative_to(folder.parent)
    return f"{where}: {way}{', hashes made to fit' if hidden else ''}", hidden


def model_file(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`translate`, `score` or `contrast` with a damaged model."""
    name = draw.choice(["run/model", "pieces", "bpe"])
    copy(bench / name, folder / "model")
    what, hidden = _damage(draw, bench, name, folder / "model")
    copy(bench / "in.txt", folder / "in.txt")
    command: tuple[str, ...] = ("translate", "model", "in.txt", *QUICK)
    verb = draw.choice(["translate", "translate", "score", "contrast"])
    if verb == "score":
        command = ("score", "model", "in.txt", "--target", "in.txt", "--threads", "1")
    if verb == "contrast":
        copy(bench / "ours.jsonl", folder / "ours.jsonl")
        command = ("score", "model", "ours.jsonl", "--threads", "1")

    def check(done: Sequence[Done]) -> str | None:
        if verb != "translate":
            return None if done[-1].stdout else "nothing was printed"
        wanted = bench.given[name]
        if not hidden and done[-1].stdout != wanted:
            return "another translation, and no complaint"
        same = done[-1].stdout.count(b"\n") == wanted.count(b"\n")
        return None if same else f"{done[-1].stdout.count(10)} lines of {wanted.count(10)}"

    return Trial((Command(command),), check, what=what)


def foreign_model(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`convert` of a model of another toolkit, whole or damaged, and a translation with it."""
    foreign = copy(bench / draw.choice(bench.foreign), folder / "foreign")
    what = "whole"
    if hurt := draw.random() < 0.9:
        victim = draw.choice(sorted(path for path in foreign.rglob("*") if path.is_file()))
        what = f"{victim.relative_to(folder)}: {damage_file(draw, victim)}"
    system = draw.choice([(), (), ("--system", "s3to3+cd")])
    copy(bench / "in.txt", folder / "in.txt")
    convert = Command(("convert", "foreign", "--output", "model", *system))
    translate = Command(("translate", "model", "in.txt", *QUICK))

    def check(done: Sequence[Done]) -> str | None:
        found, wanted = done[-1].stdout.count(b"\n"), (bench / "in.txt").read_bytes().count(b"\n")
        return None if found == wanted else f"{found} lines of {wanted}"

    return Trial((convert, translate), check, what=what, must_end=not hurt)


def store_file(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`show`, `stats` or `train` with a damaged store."""
    store = copy(bench / "store", folder / "store")
    what, hidden = _damage(draw, bench, "store", store)
    verb = draw.choice(["show", "show", "stats", "train"])
    command: tuple[str, ...] = ("inspect", "show", "store", "--count", "200")
    if verb == "stats":
        command = ("inspect", "stats", "store", "--verify")
    if verb == "train":
        copy(bench / "c.yaml", folder / "c.yaml")
        command = (
            *("train", "c.yaml", "--data", "store", "--system", SYSTEM, "--output", "run"),
            *("--set", "training.max_updates=2"),
        )

    def check(done: Sequence[Done]) -> str | None:
        if verb == "show" and not hidden and done[-1].stdout != bench.given["show"]:
            return "other windows, and no complaint"
        return None

    return Trial((Command(command),), check, what=what)


def run_file(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """Training that goes on from a damaged run: the same weights, or a refusal."""
    for name in ("store", "c.yaml"):
        copy(bench / name, folder / name)
    run = copy(bench / "run", folder / "run")
    what, hidden = _damage(draw, bench, "run", run)
    command = (
        *("train", "c.yaml", "--data", "store", "--system", SYSTEM, "--output", "run"),
        *("--set", "training.max_updates=12"),
    )

    def check(done: Sequence[Done]) -> str | None:
        weights = (folder / "run" / "model" / "model.safetensors").read_bytes()
        return None if hidden or weights == bench.given["weights"] else "other weights"

    return Trial((Command(command),), check, ("run",), what)


def journal_file(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`translate --resume` with a damaged journal: the same bytes, or a refusal."""
    copy(bench / "run", folder / "run")
    copy(bench / "long.txt", folder / "long.txt")
    journal = copy(bench / ".long.out.journal", folder / ".long.out.journal")
    what, _ = _damage(draw, bench, "journal", journal)

    def check(done: Sequence[Done]) -> str | None:
        written = (folder / "long.out").read_bytes()
        return None if written == bench.given["long"] else "other bytes than without the damage"

    command = Command((*TRANSLATE_LONG, "--batch", "8", "--resume"))
    return Trial((command,), check, (".long.out.journal",), what)
