"""A run directory: what the run is, its metrics, its lock. Self-contained and resumable.

run.json        resolved configuration, system, seed, data, versions, command
metrics.jsonl   a line every so many updates and every validation
checkpoints/    see checkpoints.py
model/          the averaged model, when the run is finished
"""

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.files import read_json, write_json, write_text
from concatmt.json_text import parse_json
from concatmt.parallel import count_from_environment

DESCRIPTION = "run.json"
METRICS = "metrics.jsonl"
# A run may go on with these changed: they do not change what an update does.
MAY_CHANGE = {
    "training.max_epochs",
    "training.max_updates",
    "training.patience",
    "training.checkpoint_every",
    "training.log_every",
    "training.tensorboard",
    "training.batch.too_long",
}


class Run:
    """The folder of one training run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def model(self) -> Path:
        """Where the averaged model is."""
        return self.folder / "model"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run; a second process that wants it is refused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UserError(
                    f"{self.folder}: another process is training here; wait for it, or choose"
                    " another output"
                ) from error
            yield

    def describe(
        self,
        settings: dict[str, Any],
        facts: dict[str, Any],
        defaults: dict[str, Any] | None = None,
    ) -> None:
        """Write what the run is; if it exists already, check that it is the same one.

        `settings` must be equal but for those that may change; `facts` are recorded only. What an
        earlier version did not record is taken from `defaults`.
        """
        path = self.folder / DESCRIPTION
        if path.exists():
            check_same(read_json(path, "run")["settings"], settings, self.folder, defaults)
        elif any(p.name != "lock" for p in self.folder.iterdir()):
            raise UserError(f"{self.folder}: exists and is not a run; choose another output")
        write_json(path, {"settings": settings, **facts})

    def description(self) -> dict[str, Any]:
        """What the run is: its settings, versions and command."""
        description: dict[str, Any] = read_json(self.folder / DESCRIPTION, "run")
        return description

    def append(self, record: dict[str, Any]) -> None:
        """Add a line to the metrics."""
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics; one that a crash cut short is left out."""
        path = self.folder / METRICS
        if not path.exists():
            return []
        records = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(parse_json(line))
            except json.JSONDecodeError:
                break
        return records

    def rewind(self, update: int) -> None:
        """Forget the metrics after `update`: these updates will be done again."""
        kept = [record for record in self.metrics() if record["update"] <= update]
        write_text(self.folder / METRICS, "".join(json.dumps(record) + "\n" for record in kept))


def check_same(
    old: dict[str, Any], new: dict[str, Any], folder: Path, defaults: dict[str, Any] | None = None
) -> None:
    """Refuse to go on with a run under other settings, naming those that differ.

    `defaults` stand for settings that an earlier version did not have.
    """
    before, after = _flat(defaults or {}) | _flat(old), _flat(new)
    keys = sorted(before.keys() | after.keys())
    differing = [
        f"{key} was {before.get(key)!r}, now {after.get(key)!r}"
        for key in keys
        if before.get(key) != after.get(key) and key not in MAY_CHANGE
    ]
    if differing:
        more = f" (and {len(differing) - 4} more)" if len(differing) > 4 else ""
        raise UserError(
            f"{folder}: was started with other settings: {'; '.join(differing[:4])}{more};"
            " restore them or choose another output"
        )


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves.update(_flat(value, f"{prefix}{key}."))
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
