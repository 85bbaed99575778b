"""Writes files and folders atomically, and hashes them.

A file or folder is made under a temporary name beside its place and renamed when complete, so a
crash, a full disk or a kill leaves either the old content or the new. Temporary names are never
used twice, and a writer locks what it makes: without a lock, its writer is dead.
"""

import ctypes
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from concatmt.errors import UserError
from concatmt.json_text import parse_json
from concatmt.locks import is_at, lock

BLOCK = 1 << 20
ATTEMPTS = 3
AT_WORKING_FOLDER, EXCHANGE = -100, 2  # of the system call renameat2


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block ends well."""
    # Before links are followed: what /dev/stdout leads to may be a pipe, which has no path.
    if path.exists() and not path.is_file():
        with _through(path) as temporary:
            yield temporary
        return
    path = followed(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, path.name)
    temporary, held = _make(path, folder=False)
    try:
        with _named(path):
            yield temporary
            _sync(temporary)
            if path.exists():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(held)


def is_stream(path: Path) -> bool:
    """Whether `path` is a device, a pipe or the like, which is written to rather than replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def open_stream(path: Path) -> Iterator[TextIO]:
    """Open a device or pipe for text written bit by bit."""
    with _named(path), path.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def followed(path: Path) -> Path:
    """The target of a link; any other path itself."""
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:  # a link to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


@contextmanager
def _through(path: Path) -> Iterator[Path]:
    """Write to a device or FIFO once the content is complete, as it cannot be replaced."""
    if path.is_dir():
        raise UserError(f"{path}: is a folder; choose a file")
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "content"
        yield temporary
        with _named(path), temporary.open("rb") as content, path.open("wb") as file:
            shutil.copyfileobj(content, file)


@contextmanager
def atomic_folder(path: Path, marker: str | None) -> Iterator[Path]:
    """Yield a temporary folder; when the block ends well it takes the place of `path`.

    An existing folder is replaced only if it contains `marker`, that is, if it is ours; None
    means that it may be replaced whatever it contains.
    """
    path = followed(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    recover(path)
    if path.exists() and marker is not None and not _replaceable(path, marker):
        raise UserError(f"{path}: exists and has no {marker}; choose another output or remove it")
    remove_leftovers(path.parent, path.name)
    temporary, held = _make(path, folder=True)
    try:
        with _named(path):
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _put_in_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(held)


def _replaceable(path: Path, marker: str) -> bool:
    return (path / marker).is_file() or (path.is_dir() and not any(path.iterdir()))


def remove_folder(path: Path) -> None:
    """Remove a folder; a kill leaves it whole or under an unused name."""
    temporary = _temporary_name(path)
    with _locked(path):
        path.rename(temporary)
        shutil.rmtree(temporary)


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what dead processes left in `folder`: all of it, or only that for `name`."""
    pattern = re.compile(rf"\.{'.+' if name is None else re.escape(name)}\.[0-9a-f]+\.tmp")
    for path in folder.iterdir():
        if not pattern.fullmatch(path.name) or path.is_symlink():
            continue
        with _locked(path) as free:
            if free and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif free:
                path.unlink(missing_ok=True)


def recover(path: Path) -> None:
    """Restore a folder whose writer was killed just before moving the new one into place."""
    if not path.parent.is_dir():
        return
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]+\.old")
    for old in path.parent.iterdir():
        if not pattern.fullmatch(old.name):
            continue
        with _locked(old) as free:
            if free and path.exists():
                shutil.rmtree(old, ignore_errors=True)
            elif free:
                with suppress(OSError):  # a read-only folder: leave it as it is
                    old.rename(path)


def _temporary_name(path: Path, ending: str = "tmp") -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{ending}")


def _make(path: Path, folder: bool) -> tuple[Path, int]:
    """Make a temporary file or folder for `path` and lock it: its path and open descriptor."""
    for attempt in count():
        temporary = _temporary_name(path)
        if folder:
            temporary.mkdir()
        else:
            os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            held = os.open(temporary, os.O_RDONLY if folder else os.O_RDWR)
        except FileNotFoundError:
            continue  # removed as a leftover just before it was locked
        # Another writer may be checking whether it is a leftover. Some disks have no locks.
        if (lock(held) or attempt >= ATTEMPTS) and is_at(held, temporary):
            return temporary, held
        os.close(held)
    raise AssertionError


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Try to lock a file or folder that exists; yields whether this succeeded."""
    try:
        held = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        yield lock(held) and is_at(held, path)
    finally:
        os.close(held)


def _put_in_place(temporary: Path, path: Path) -> None:
    """Move the new folder into place and remove the old one, if any."""
    if not path.is_dir() or not any(path.iterdir()):
        temporary.rename(path)
    elif not _exchange(temporary, path):
        old = _temporary_name(path, "old")
        with _locked(path):
            path.rename(old)
            temporary.rename(path)  # a kill before this: see `recover`
            shutil.rmtree(old)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names atomically; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    done = rename(AT_WORKING_FOLDER, names[0], AT_WORKING_FOLDER, names[1], EXCHANGE)
    return bool(done == 0)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the output's path to errors that lack it, such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    r"""Write `text` to `path` atomically, as UTF-8 with plain newlines.

    File names may contain bytes that are not characters: these are written as \udcff.
    """
    with atomic_file(path) as temporary:
        temporary.write_text(text, "utf-8", errors="backslashreplace", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path` atomically as readable JSON, keys in their order."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    # A lone surrogate is spelt out as text, so that the file can be read again.
    write_text(path, re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):x}", text))


def read_json(path: Path, what: str) -> Any:
    """Read JSON from `path`; `what` says what it should be, for error messages."""
    if not path.parent.exists():
        recover(path.parent)
    try:
        check_regular(path)
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path.parent}: not a {what}: it has no {path.name}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UserError(
            f"{path}: damaged: not valid JSON ({error}); make the {what} again"
        ) from error


def check_regular(path: Path) -> None:
    """Refuse a FIFO or a device, which could be read for ever; a missing file passes."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: not a regular file")


def hash_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    check_regular(path)
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
