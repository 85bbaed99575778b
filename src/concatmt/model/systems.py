"""Parses names of systems in the paper's notation, and prints them.

`base`, `s4to4`, `s3to3+cd`, `s4to4+cd+shift+pers`, `s4to4+cd+1hot+pers+pse`. A number after a part
replaces its default: `cd0.1`, `shift21`, `pse128`. Does not know sizes or vocabularies.
"""

import re
from typing import Any

from pydantic import ValidationError

from concatmt.errors import UserError
from concatmt.model.config import SystemConfig
from concatmt.model.encodings import DEFAULT_SEGMENT_DIM, ENCODINGS
from concatmt.settings import nearest

DEFAULT_DISCOUNT = 0.01  # of the authors' runs; the paper does not state it
WINDOW = re.compile(r"s([1-9]\d*)to([1-9]\d*)")
PART = re.compile(r"(\d?[a-z]+)(\d+(?:\.\d+)?)?")


def parse_system(name: str) -> SystemConfig:
    """The configuration of a system's name. The parts may be in any order."""
    window, *parts = name.strip().lower().split("+")
    tree: dict[str, Any] = {"sentences": _sentences(name, window), "encoding": {}}
    seen: dict[str, str] = {}
    for part in parts:
        role = _read_part(name, part, tree)
        if role in seen:
            raise UserError(f"system {name!r}: {part!r} beside {seen[role]!r}; keep one of them")
        seen[role] = part
    try:
        return SystemConfig.model_validate(tree)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise UserError(f"system {name!r}: {message}") from error


def system_name(system: SystemConfig) -> str:
    """The canonical name of `system`; parsing it gives `system` again."""
    encoding = system.encoding
    parts = ["base" if system.sentences == 1 else f"s{system.sentences}to{system.sentences}"]
    if system.context_discount != 1:
        parts.append("cd" + _unless(_decimal(system.context_discount), _decimal(DEFAULT_DISCOUNT)))
    if notation := ENCODINGS[encoding.kind].notation:
        parts.append(notation + _unless(str(encoding.shift), "average"))
    if encoding.persistent:
        parts.append("pers")
    if encoding.fusion == "pse":
        parts.append("pse" + _unless(str(encoding.segment_dim), str(DEFAULT_SEGMENT_DIM)))
    return "+".join(parts)


def _sentences(name: str, window: str) -> int:
    if window == "base":
        return 1
    match = WINDOW.fullmatch(window)
    if match is None:
        raise UserError(f"system {name!r}: starts with {window!r}; write base or sKtoK, as s4to4")
    if match[1] != match[2]:
        raise UserError(
            f"system {name!r}: returns as many sentences as it takes; write s{match[1]}to{match[1]}"
        )
    return int(match[1])


def _read_part(name: str, part: str, tree: dict[str, Any]) -> str:
    """Put the setting of `part` into `tree`; return its role."""
    notations = {
        encoding.notation: kind for kind, encoding in ENCODINGS.items() if encoding.notation
    }
    words = ["cd", *notations, "pers", "pse"]
    match = PART.fullmatch(part)
    word, number = (match[1], match[2]) if match else (part, None)
    encoding = tree["encoding"]
    if word == "cd":
        tree["context_discount"] = float(number) if number else DEFAULT_DISCOUNT
        return "discount"
    if number and word in words and (word not in ("shift", "pse") or "." in number):
        raise UserError(f"system {name!r}: {word!r} takes no number {number!r}")
    if word in notations:
        encoding["kind"] = notations[word]
        if number:
            encoding["shift"] = int(number)
        return "encoding"
    if word == "pers":
        encoding["persistent"] = True
        return "persistence"
    if word == "pse":
        encoding["fusion"] = "pse"
        if number:
            encoding["segment_dim"] = int(number)
        return "fusion"
    hint = nearest(word, words) or f"; parts are {', '.join(words)}"
    raise UserError(f"system {name!r}: unknown part {part!r}{hint}")


def _unless(value: str, default: str) -> str:
    return "" if value == default else value


def _decimal(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")
