"""Trials with odd options: each command that can run here, with values that nobody should give.

Options are those that the commands declare, so a new one is tried as soon as it is there. Settings
(`--set`) are found in the same way. Values that ask for endless work in good faith are left out.
"""

import os
import random
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typer.models import ArgumentInfo, OptionInfo

from concatmt.cli.app import app, load_verb
from concatmt.config import Config
from concatmt.settings import Settings
from tests.fuzz.damage import copy
from tests.fuzz.oracle import Command
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import SYSTEM, Workbench

NUMBERS = (
    *("0", "-1", "1", "2", "3", "1000", "2147483648", "9223372036854775808", "1" + "0" * 30),
    *("nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0.5", "-0.0", "1e3", "0x10", "1_0"),
    *("", " ", "x", "1,2", "true", "null", "9" * 5000, "\udcff", "١"),
)
PATHS = (
    *("", ".", "nowhere", "nowhere/x", "c.yaml/x", "model", "store", "run", "in.txt", "ours.jsonl"),
    *(
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "fifo",
        "x" * 300,
        "\udcff",
        "-",
        "a\nb",
        "empty",
    ),
)
VALUES = (
    "[]",
    "{}",
    "[2,3]",
    "[nan]",
    "{a: 1}",
    "*x",
    "&a [*a]",
    "[" * 200,
    "!!python/name:os",
    "@",
)
SYSTEMS = (
    *("", "s", "s0to0", "s1to1", "s-1to4", "s4to3", "s99999999999to99999999999", "base+cd"),
    *("s3to3+shift99999999999999999999", "s3to3+shift", "s3to3+cd+cd", "s3to3+sin+pse", "s3to3+x"),
    *("s3to3+lrn+pers+pse", "s3to3+shift0", "s3to3+shift-1", "s1000000to1000000", "S3TO3", "s٣to٣"),
)
OUTPUTS = ("", "model", "in.txt", "/dev/null", "/dev/full", "c.yaml/x", "x" * 300)
# Asked for in good faith these take as long as they take, or all the memory there is.
ENDLESS = {"--samples", "--documents", "--workers", "--length-constant", "--length-factor"}
ENDLESS |= {"--rates", "--seeds", "--jobs"}
LARGE = ("2147483648", "9223372036854775808", "1" + "0" * 30, "1e308", "inf", "1000", "1e3")
BASES: dict[str, tuple[str, ...]] = {
    "prepare": ("c.yaml", "--output", "out", "--workers", "1"),
    "train": ("c.yaml", "--data", "store", "--system", SYSTEM, "--output", "out"),
    "translate": ("model", "in.txt", "--output", "out", "--length-factor", "0"),
    "score": ("model", "in.txt", "--target", "in.txt", "--output", "out"),
    "evaluate": ("items.jsonl", "--output", "out"),
    "inspect show": ("store",),
    "inspect stats": ("store",),
}


def odd_option(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """A command with one or two options that have odd values, or none."""
    _lay_out(bench, folder)
    verb = draw.choice(list(BASES))
    known = parameters(verb)
    base = BASES[verb]
    if verb == "score" and draw.random() < 0.5:
        base = ("model", "ours.jsonl", "--output", "out")
    arguments = [*verb.split(), *base]
    for parameter in draw.sample(known, min(len(known), draw.choice([1, 1, 2]))):
        _vary(draw, arguments, parameter)
    if draw.random() < 0.05:
        arguments.append(draw.choice(["--nothing", "--", "", "-", "--output"]))
    if verb == "train":
        arguments += ["--set", "training.max_updates=2", "--set", "training.max_epochs=1"]
    return Trial((Command(tuple(arguments)),), may_leave=_may_leave(verb), what=verb)


def odd_setting(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`prepare` or `train` with an odd `--set`."""
    _lay_out(bench, folder)
    verb = draw.choice(["prepare", "train", "train"])
    keys = [key for key in _keys(Config) if key.startswith("training.") == (verb == "train")]
    arguments = [*verb.split(), *BASES[verb]]
    for _ in range(draw.choice([1, 1, 2])):
        key = draw.choice(keys)
        value = draw.choice((*NUMBERS, *VALUES, *PATHS))
        arguments += ["--set", draw.choice([f"{key}={value}"] * 9 + [key, f"{key}.x={value}", "="])]
    if verb == "train":  # the last ones count
        arguments += ["--set", "training.max_updates=2", "--set", "training.max_epochs=1"]
    return Trial((Command(tuple(arguments)),), may_leave=_may_leave(verb), what=verb)


def _lay_out(bench: Workbench, folder: Path) -> None:
    for name in ("c.yaml", "store", "run", "in.txt", "ours.jsonl"):
        copy(bench / name, folder / name)
    for split in ("train", "valid"):
        for language in ("en", "de"):
            copy(bench / f"{split}.{language}", folder / f"{split}.{language}")
    copy(bench / "pieces", folder / "model")
    copy(bench / "run-items.jsonl", folder / "items.jsonl")
    os.mkfifo(folder / "fifo")
    (folder / "empty").touch()


def _may_leave(verb: str) -> tuple[str, ...]:
    """A journal; a run that began, and whose numbers ran away."""
    return ("out",) if verb == "train" else (".out.journal",) if verb == "translate" else ()


@dataclass(frozen=True)
class Parameter:
    """An option of a command, or an argument, as its function declares it."""

    name: str  # as on the command line; an argument has no dashes
    kind: Any  # int, float, bool, str, Path or a Literal


def parameters(verb: str) -> list[Parameter]:
    """All that a command takes."""
    load_verb(verb.split()[0])
    groups = [one.typer_instance for one in app.registered_groups]
    commands = [one for group in (app, *groups) if group for one in group.registered_commands]
    functions = [one.callback for one in commands if one.callback is not None]
    names = {function.__name__: function for function in functions}
    found = []
    for name, hint in typing.get_type_hints(names[verb.split()[-1]], include_extras=True).items():
        if name == "return":
            continue
        info = next(
            part
            for part in getattr(hint, "__metadata__", ())
            if isinstance(part, OptionInfo | ArgumentInfo)
        )
        kind = hint.__origin__
        while isinstance(kind, types.UnionType) or typing.get_origin(kind) is list:
            kind = typing.get_args(kind)[0]
        option = isinstance(info, OptionInfo)
        declared = info.param_decls[0] if info.param_decls else f"--{name.replace('_', '-')}"
        found.append(Parameter(declared if option else name, kind))
    return found


def _vary(draw: random.Random, arguments: list[str], parameter: Parameter) -> None:
    """Give an odd value to an option, or to an argument of the command line."""
    value = _odd_value(draw, parameter)
    if not parameter.name.startswith("-"):
        place = draw.randrange(1, min(3, len(arguments)))
        if not any(word.startswith("--") for word in arguments[place - 1 : place + 1]):
            arguments[place] = value
        return
    if parameter.name == "--output":
        value = draw.choice(OUTPUTS)
    if parameter.name in arguments:
        at = arguments.index(parameter.name)
        del arguments[at : at + 2]
    arguments.append(parameter.name)
    if parameter.kind is not bool and draw.random() < 0.97:
        arguments.append(value)


def _odd_value(draw: random.Random, parameter: Parameter) -> str:
    if parameter.name == "--system":
        return draw.choice(SYSTEMS)
    if parameter.kind in (int, float):
        endless = parameter.name in ENDLESS
        return draw.choice([one for one in NUMBERS if not (endless and one in LARGE)])
    if typing.get_origin(parameter.kind) is typing.Literal:
        return draw.choice([*map(str, typing.get_args(parameter.kind)), "", "x", "TEXT"])
    return draw.choice((*PATHS, *VALUES) if parameter.kind is str else PATHS)


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Paths of all settings, of nested ones too."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        yield f"{prefix}{name}"
        if isinstance(kind, type) and issubclass(kind, Settings):
            yield from _keys(kind, f"{prefix}{name}.")
