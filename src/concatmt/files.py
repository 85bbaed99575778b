"""Writing so that nothing is ever half written, and hashing what was written.

A file or folder is made under a temporary name beside its place and renamed when complete, so a
crash, a full disk or a kill leaves either the old content or none.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from concatmt.errors import UserError

BLOCK = 1 << 20


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _named(path):
            yield temporary
            _sync(temporary)
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path, marker: str) -> Iterator[Path]:
    """Yield a temporary folder; when the block ends well it takes the place of `path`.

    An existing folder is replaced only if it is one of ours, that is, if it holds `marker`.
    """
    if path.exists() and not (path / marker).is_file() and (path.is_file() or any(path.iterdir())):
        raise UserError(f"{path}: exists and has no {marker}; choose another output or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.mkdir()
    try:
        with _named(path):
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _put_in_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _put_in_place(temporary: Path, path: Path) -> None:
    if not path.exists():
        temporary.rename(path)
        return
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    path.rename(old)
    temporary.rename(path)
    shutil.rmtree(old)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say which output an error concerns: a failed write, as on a full disk, does not know."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def _remove_leftovers(path: Path) -> None:
    """Remove temporary folders of `path` whose process was killed."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        process = folder.name.split(".")[-2]
        if process.isdecimal() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically, as UTF-8 with plain newlines."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path` atomically as readable JSON, keys in the order they have."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, what: str) -> Any:
    """Read JSON from `path`; `what` names the thing it should be, for the error message."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path.parent}: not a {what}: it has no {path.name}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UserError(
            f"{path}: damaged: not valid JSON ({error}); make the {what} anew"
        ) from error


def hash_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def hash_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _sync(path: Path) -> None:
    if path.exists():
        with path.open("rb") as file:
            os.fsync(file.fileno())
