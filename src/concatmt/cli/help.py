"""Formats the help of a command as plain text that fits one screen.

Works from the docstring and the annotated parameters of the command's function. Does not
know any particular command.
"""

import enum
import inspect
import shutil
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from typer.models import ArgumentInfo, OptionInfo

HELP_ALL = "--help-all"
PLACEHOLDERS = {int: "N", float: "X", str: "TEXT", Path: "PATH", bool: ""}
WIDEST, NAMES = 100, 24  # columns of the page, and of the names on its left


@dataclass(frozen=True)
class Entry:
    """An argument or an option, as it is shown."""

    name: str
    text: str
    group: str | None
    is_argument: bool


def verb_help(path: str, function: Callable[..., Any], everything: bool) -> str:
    """The help of one command; without `everything`, grouped options are only counted."""
    parameters = inspect.signature(function).parameters.values()
    entries = [entry for parameter in parameters if (entry := _entry(parameter)) is not None]
    arguments = [entry for entry in entries if entry.is_argument]
    options = [entry for entry in entries if not entry.is_argument]
    usage = " ".join([path, *(entry.name for entry in arguments), "[OPTIONS]"])
    parts = [f"Usage: {usage}", documentation(inspect.getdoc(function) or "")]
    if arguments:
        parts.append(_table("Arguments", ((entry.name, entry.text) for entry in arguments)))
    groups = list(dict.fromkeys(entry.group for entry in options if entry.group))
    common = [(entry.name, entry.text) for entry in options if entry.group is None]
    parts.append(_table("Options", [*common, ("-h, --help", "Show this message.")]))
    if everything:
        for group in groups:
            parts.append(_table(group, ((e.name, e.text) for e in options if e.group == group)))
    elif groups:
        count = len(options) - len(common)
        listed = ", ".join(groups)
        parts.append(_wrapped(f"{path} {HELP_ALL} shows {count} more options: {listed}."))
    return "\n\n".join(parts)


def group_help(
    path: str, text: str, title: str, commands: Iterable[tuple[str, str]], more: Sequence[str]
) -> str:
    """The help of a command that has subcommands."""
    parts = [f"Usage: {path} {title.upper()[:-1]} ...", documentation(text)]
    return "\n\n".join([*parts, _table(title, commands), *more])


def options_table(options: Iterable[tuple[str, str]]) -> str:
    """A table of options and what they do."""
    return _table("Options", options)


def documentation(text: str) -> str:
    """Wrap a docstring for the screen; examples are left as they are."""
    blocks: list[str] = []
    for block in text.split("\n\n"):
        if block.startswith("    "):
            lines = [f"  {line.strip()}" for line in block.splitlines()]
            # Examples follow their heading and one another without blank lines.
            blocks[-1] += "\n" + "\n".join(lines)
        elif block.startswith("**"):
            blocks.append(block.strip("*") + ":")
        else:
            blocks.append(_wrapped(block))
    return "\n\n".join(blocks)


def _entry(parameter: inspect.Parameter) -> Entry | None:
    kind, info = parameter.annotation, None
    for part in getattr(kind, "__metadata__", ()):
        if isinstance(part, OptionInfo | ArgumentInfo):
            info = part
    kind = getattr(kind, "__origin__", kind)
    assert info is not None, f"{parameter.name}: not annotated"
    if info.hidden:
        return None
    text = info.help or ""
    required = parameter.default is inspect.Parameter.empty
    if isinstance(info, ArgumentInfo):
        name = info.metavar or parameter.name.strip("_").upper()
        name += "..." if "list" in str(kind) and not info.metavar else ""
        return Entry(name if required else f"[{name}]", text, info.rich_help_panel, True)
    # Typer keeps the first name of an option where its default would be.
    declared = [info.default] if isinstance(info.default, str) else []
    names = [*declared, *(info.param_decls or ())] or [f"--{parameter.name.replace('_', '-')}"]
    placeholder = info.metavar or _placeholder(kind)
    name = f"{', '.join(names)} {placeholder}".rstrip()
    if required:
        text += " (required)"
    elif isinstance(info.show_default, str):
        text += f" (default: {info.show_default})"
    elif not (parameter.default is None or parameter.default is False or parameter.default == ""):
        text += f" (default: {_shown(parameter.default)})"
    return Entry(name, text, info.rich_help_panel, False)


def _placeholder(kind: Any) -> str:
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union, list):
        inner = [member for member in typing.get_args(kind) if member is not types.NoneType]
        return "|".join(_placeholder(member) for member in inner)
    if origin is Literal:
        return "|".join(map(str, typing.get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "|".join(str(member.value) for member in kind)
    return PLACEHOLDERS.get(kind, "TEXT")


def _shown(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size((80, 24)).columns)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _width(), break_on_hyphens=False)


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Names on the left, text to the right; a long name gets a line to itself."""
    listed = list(rows)
    left = min(NAMES, max(len(name) for name, _ in listed)) + 4
    lines = [f"{title}:"]
    for name, text in listed:
        filled = textwrap.wrap(text, _width() - left, break_on_hyphens=False) or [""]
        if len(name) + 4 > left:
            lines.append(f"  {name}")
            name = ""
        lines.append(f"{'  ' + name:<{left}}{filled[0]}".rstrip())
        lines += [" " * left + line for line in filled[1:]]
    return "\n".join(lines)
