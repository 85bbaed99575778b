"""File locks that end with their process, to tell a live writer from a dead one.

A process id would not do: in a container every start has the same one.
"""

import fcntl
import os
import time
from pathlib import Path

RETRY_SECONDS = 0.05


def lock(descriptor: int) -> bool:
    """Lock an open file or folder; False if somebody else holds it or the disk has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def lock_file(path: Path, patience: float = 0.0) -> int | None:
    """Lock the file `path`, created if necessary; returns its descriptor, or None if it is taken.

    Closing the descriptor releases the lock. `patience` is how many seconds to keep trying.
    """
    end = time.monotonic() + patience
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            if time.monotonic() >= end:
                return None
            time.sleep(RETRY_SECONDS)
            continue
        except OSError:
            return descriptor  # a disk without locks: carry on without one
        if is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its holder removed it on exit: lock the file that is there now


def is_locked(path: Path) -> bool:
    """Whether a process holds the file `path`."""
    if not path.is_file():
        return False
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def is_at(descriptor: int, path: Path) -> bool:
    """Whether `path` is still the file that was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
