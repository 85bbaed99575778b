"""Ways to damage bytes, JSON values and files, and to recompute the hashes that would show it.

Knows nothing of particular formats: a hash is found because it is the hash of a file or of the rest
of its own object, so a new manifest is covered as soon as a file is listed in it.
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEEP, DIGITS = "@@deep@@", "@@digits@@"
JUNK = (b"\x00", b"\xff", b"\r", b"\n", b"\t", b'"', b"\xed\xa0\x80", b"\xe2\x80\xa8")
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    2,
    100_000,
    2**31,
    2**63,
    10**30,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    "O",
    "../..",
    "/dev/zero",
    "\ud800",
    "\x00",
    "a\nb",
    "x" * 10_000,
    [],
    {},
    [[]],
    [None],
    [1, "a", None],
    {"": None},
    DEEP,
    DIGITS,
)


def damage_bytes(draw: random.Random, data: bytes) -> bytes:
    """Flip, cut, insert, repeat or blank some of `data`."""
    at, other = (draw.randrange(len(data) + 1) for _ in range(2))
    first, last = min(at, other), max(at, other)
    junk = draw.choice(JUNK)
    ways: list[Callable[[], bytes]] = [
        lambda: _flipped(draw, data),
        lambda: _flipped(draw, data),
        lambda: data[:at],
        lambda: data[:first] + data[last:],
        lambda: data[:at] + junk + data[at:],
        lambda: data[:at] + junk * draw.choice([2, 100, 10_000]) + data[at:],
        lambda: data[:last] + data[first:],
        lambda: data[:first] + bytes(last - first) + data[last:],
        lambda: draw.randbytes(draw.choice([0, 1, 8, 1000])),
    ]
    return draw.choice(ways)()


def _flipped(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 8])):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def damage_json(draw: random.Random, value: Any) -> Any:
    """A copy of `value` in which one part is something else, missing, or has another name."""
    value = json.loads(json.dumps(value))
    places = list(_places(value))
    if not places:
        return draw.choice(ODD_VALUES)
    holder, key = draw.choice(places)
    way = draw.randrange(10)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[draw.choice(["", "x", f"{key} ", str(key).upper()])] = holder.pop(key)
    elif way == 2 and isinstance(holder, list):
        holder.append(holder[key])
    elif way == 3:
        return draw.choice(ODD_VALUES)
    else:
        holder[key] = draw.choice(ODD_VALUES)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every part of a JSON value, at any depth."""
    for key in value if isinstance(value, dict) else _indices(value):
        yield value, key
        yield from _places(value[key])


def _indices(value: Any) -> range:
    return range(len(value)) if isinstance(value, list) else range(0)


def json_text(value: Any) -> str:
    """JSON in one line, with what Python's writer would refuse to write."""
    text = json.dumps(value)
    return text.replace(f'"{DEEP}"', "[" * 3000 + "]" * 3000).replace(f'"{DIGITS}"', "9" * 5000)


def damage_json_text(draw: random.Random, text: str) -> str:
    """Damage the values of JSON, or of one of the JSON lines, in `text`."""
    try:
        return json_text(damage_json(draw, json.loads(text))) + "\n"
    except ValueError:
        lines = text.splitlines()
        at = draw.randrange(len(lines))
        lines[at] = json_text(damage_json(draw, json.loads(lines[at])))
        return "\n".join(lines) + "\n"


def damage_file(draw: random.Random, path: Path) -> str:
    """Damage a file, and say how."""
    data = path.read_bytes()
    way = draw.randrange(12)
    if way == 0:
        path.unlink()
        return "removed"
    if way == 1:
        path.unlink()
        path.mkdir()
        return "a folder in its place"
    if way == 2:
        path.unlink()
        os.mkfifo(path)
        return "a FIFO in its place"
    if way == 3:
        path.unlink()
        path.symlink_to("/dev/zero")
        return "an endless device in its place"
    if path.suffix in (".json", ".jsonl") and way < 9:
        try:
            text = damage_json_text(draw, data.decode())
        except (ValueError, IndexError):
            text = ""
        path.write_bytes(text.encode())
        return "other values"
    path.write_bytes(damage_bytes(draw, data))
    return "other bytes"


@dataclass(frozen=True)
class Hashes:
    """Of a folder that is whole: what its files hash to, and which manifests hash themselves."""

    files: dict[str, str]
    own: dict[str, str]  # manifest -> the key that holds the hash of all its other keys

    @classmethod
    def of(cls, folder: Path) -> "Hashes":
        """Take them."""
        files = _file_hashes(folder)
        own = {}
        for name in files:
            tree = json.loads((folder / name).read_text("utf-8")) if name.endswith(".json") else {}
            for key, value in tree.items() if isinstance(tree, dict) else ():
                if value == _own_hash(tree, key):
                    own[name] = key
        return cls(files, own)

    def renew(self, folder: Path) -> None:
        """Make the manifests of a damaged copy fit its files again."""
        now = _file_hashes(folder)
        new = {old: now.get(name, old) for name, old in self.files.items()}
        for inner in {Path(name).parent.as_posix() for name in self.files}:
            new[_folder_hash(self.files, inner)] = _folder_hash(now, inner)
        sizes = {digest: (folder / name).stat().st_size for name, digest in now.items()}
        for name in sorted(now, key=len, reverse=True):  # inner manifests before outer ones
            if name.endswith(".json"):
                self._renew_manifest(folder, name, new, sizes)

    def _renew_manifest(
        self, folder: Path, name: str, new: dict[str, str], sizes: dict[str, int]
    ) -> None:
        path = folder / name
        try:
            tree = _replaced(json.loads(path.read_text("utf-8")), new, sizes)
            if isinstance(tree, dict) and self.own.get(name) in tree:
                tree[self.own[name]] = _own_hash(tree, self.own[name])
            path.write_text(json.dumps(tree, indent=2, ensure_ascii=False) + "\n", "utf-8")
        except (ValueError, RecursionError):
            return  # damage of a kind that no hash can hide
        if name in self.files:
            new[self.files[name]] = hashlib.sha256(path.read_bytes()).hexdigest()


def _file_hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def _own_hash(tree: dict[str, Any], key: str) -> str:
    rest = {name: value for name, value in tree.items() if name != key}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _folder_hash(files: dict[str, str], folder: str) -> str:
    """Of the names and hashes of the files in a folder, as for a text pipeline."""
    inside = [(Path(n), h) for n, h in files.items() if Path(n).parent.as_posix() == folder]
    text = "".join(f"{path.name} {digest}\n" for path, digest in sorted(inside))
    return hashlib.sha256(text.encode()).hexdigest()


def _replaced(value: Any, new: dict[str, str], sizes: dict[str, int]) -> Any:
    if isinstance(value, dict):
        inside = {key: _replaced(one, new, sizes) for key, one in value.items()}
        digest = inside.get("sha256")
        if isinstance(digest, str) and digest in sizes and "bytes" in inside:
            inside["bytes"] = sizes[digest]
        return inside
    if isinstance(value, list):
        return [_replaced(one, new, sizes) for one in value]
    return new.get(value, value) if isinstance(value, str) else value


def copy(source: Path, target: Path) -> Path:
    """A copy of a file or folder."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)
    return target
