"""The run directory: description, metrics and lock of a run. Self-contained and resumable.

run.json        resolved configuration, system, seed, data, versions, command
metrics.jsonl   a line every few updates and every validation
checkpoints/    see checkpoints.py
model/          the averaged model, when the run is finished
"""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.files import read_json, remove_leftovers, write_json, write_text
from concatmt.json_text import parse_json
from concatmt.locks import is_locked, lock_file
from concatmt.model.directory import RUN_DESCRIPTION, RUN_MODEL
from concatmt.parallel import count_from_environment

METRICS = "metrics.jsonl"
LOCK = "lock"
HASH_DIGITS = 12
# A run may be resumed with these changed, as they do not affect an update.
MAY_CHANGE = {
    "training.max_epochs",
    "training.max_updates",
    "training.patience",
    "training.checkpoint_every",
    "training.log_every",
    "training.log_seconds",
    "training.track",
    "training.tensorboard",  # its former name
    "training.batch.too_long",
}


class Run:
    """The folder of one training run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def model(self) -> Path:
        """The folder of the averaged model."""
        return self.folder / RUN_MODEL

    @property
    def begun(self) -> bool:
        """Whether the run has a description."""
        return (self.folder / RUN_DESCRIPTION).exists()

    @property
    def in_training(self) -> bool:
        """Whether a process is training here."""
        return is_locked(self.folder / LOCK)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run; a second process is refused.

        A start that fails before `describe` leaves nothing behind.
        """
        new = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        held = lock_file(self.folder / LOCK)
        if held is None:
            raise UserError(
                f"{self.folder}: another process is training here; wait for it, or choose"
                " another output"
            )
        try:
            yield
        finally:
            if not self.begun:
                (self.folder / LOCK).unlink(missing_ok=True)
                for folder in new:
                    with suppress(OSError):  # not empty
                        folder.rmdir()
            os.close(held)

    def check(self, settings: dict[str, Any], defaults: dict[str, Any] | None = None) -> None:
        """Refuse a folder that holds something else, or a run with other settings.

        `settings` must be equal, except those that may change. What an earlier version did not
        record comes from `defaults`.
        """
        remove_leftovers(self.folder, RUN_DESCRIPTION)
        if self.begun:
            check_same(self.description()["settings"], settings, self.folder, defaults)
        elif any(path.name != LOCK for path in self.folder.iterdir()):
            raise UserError(f"{self.folder}: exists and is not a run; choose another output")

    def describe(self, settings: dict[str, Any], facts: dict[str, Any]) -> None:
        """Write the description, which starts the run; `facts` are only recorded."""
        write_json(self.folder / RUN_DESCRIPTION, {"settings": settings, **facts})

    def description(self) -> dict[str, Any]:
        """The run's settings, versions and command."""
        description = read_json(self.folder / RUN_DESCRIPTION, "run")
        if not isinstance(description, dict) or not isinstance(description.get("settings"), dict):
            raise UserError(
                f"{self.folder / RUN_DESCRIPTION}: damaged: it has no settings; choose another"
                " output"
            )
        return description

    def append(self, record: dict[str, Any]) -> None:
        """Add a line to the metrics, completely, or not at all with an OSError on a full disk."""
        path, line = self.folder / METRICS, f"{json.dumps(record)}\n".encode()
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if os.write(descriptor, line) < len(line):
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        finally:
            os.close(descriptor)

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics; damaged ones, as after a crash, are left out."""
        path = self.folder / METRICS
        if not path.exists():
            return []
        if not path.is_file():
            raise UserError(f"{path}: not a regular file; remove it")
        records = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(json.JSONDecodeError):
                record = parse_json(line)
                if _is_record(record):
                    records.append(record)
        return records

    def rewind(self, update: int) -> None:
        """Forget the metrics after `update`: these updates will be repeated."""
        if not (self.folder / METRICS).exists():
            return
        # The measurements before the first update are repeated too.
        kept = [record for record in self.metrics() if update and record["update"] <= update]
        write_text(self.folder / METRICS, "".join(json.dumps(record) + "\n" for record in kept))


def _is_record(value: Any) -> bool:
    """Whether a line of metrics is valid: all but kind and update are numbers or None."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("update"), int)
        and all(
            isinstance(number, int | float | None) for k, number in value.items() if k != "kind"
        )
    )


def check_same(
    old: dict[str, Any], new: dict[str, Any], folder: Path, defaults: dict[str, Any] | None = None
) -> None:
    """Refuse to resume a run with other settings, naming those that differ.

    `defaults` replace settings that an earlier version did not have.
    """
    before, after = flat(defaults or {}) | flat(old), flat(new)
    keys = sorted(before.keys() | after.keys())
    differing = [
        f"{key} was {_shown(before.get(key))}, now {_shown(after.get(key))}"
        for key in keys
        if before.get(key) != after.get(key) and key not in MAY_CHANGE
    ]
    if differing:
        more = f" (and {len(differing) - 4} more)" if len(differing) > 4 else ""
        raise UserError(
            f"{folder}: was started with other settings: {'; '.join(differing[:4])}{more};"
            " restore them or choose another output"
        )


def _shown(value: Any) -> str:
    """A value in a message; shortens hashes."""
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value):
        return f"{value[:HASH_DIGITS]}..."
    return repr(value)


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The leaves of a tree of settings by their paths."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves.update(flat(value, f"{prefix}{key}."))
        else:
            leaves[f"{prefix}{key}"] = value
    return leaves


def provenance() -> dict[str, Any]:
    """Versions, git state and command line of this process."""
    import torch

    return {
        "concatmt": __version__,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "git": _git_state(),
        "command": sys.argv,
        "world": count_from_environment("WORLD_SIZE", "1"),
        "threads": torch.get_num_threads(),
    }


def _git_state() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    here = Path(__file__).parent
    try:
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
