"""Keeps the finished chunks of a long translation in files until all can be joined.

The journal is a hidden folder beside the output. A killed process loses its current chunk;
processes that share the work share the journal. Does not know what a chunk's text means.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from concatmt.decoding.translation import History, Report
from concatmt.errors import UserError
from concatmt.files import (
    atomic_file,
    followed,
    hash_text,
    read_json,
    remove_folder,
    remove_leftovers,
    write_json,
    write_text,
)
from concatmt.locks import lock_file
from concatmt.parallel import count_from_environment
from concatmt.signature import Signature

SETTINGS, LOCK = "journal.json", "lock"
WAIT_SECONDS = 0.2
HASH_DIGITS = 12


@dataclass(frozen=True)
class Entry:
    """What is kept of a finished chunk."""

    hash: str  # of the input
    report: Report
    history: History  # at the end of the chunk, for a document that continues
    text: str


@dataclass(frozen=True)
class Shard:
    """Which of several processes this one is."""

    rank: int = 0
    count: int = 1
    start: str = ""  # the same for processes that were started together, and only for them

    @classmethod
    def from_environment(cls) -> "Shard":
        """From torchrun's variables. Processes on one machine have a common parent."""
        told = os.environ.get
        count = str(count_from_environment("WORLD_SIZE", "1"))
        parent = _parent() if told("LOCAL_WORLD_SIZE", count) == count else ""
        names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
        start = ":".join([parent, *(told(name, "") for name in names)])
        rank = count_from_environment("RANK", "0")
        if rank >= int(count):  # it would wait for the others for ever
            raise UserError(f"RANK={rank}, but WORLD_SIZE={count}: ranks count from 0; unset both")
        return cls(rank, int(count), start)


class Journal:
    """The chunks of one output file. The first process holds its lock until `close`."""

    def __init__(self, output: Path, signature: Signature, shard: Shard, resume: bool) -> None:
        """`signature`: everything but the input that decides the bytes of the output."""
        followed(output)  # report a broken link before anything is translated
        self.output, self.shard = output, shard
        self.folder = output.with_name(f".{output.name}.journal")
        self._lock: int | None = None
        if shard.rank == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = lock_file(self.folder / LOCK)
            if self._lock is None:
                raise UserError(
                    f"{output}: another process is translating to it; wait for it, or choose"
                    " another output"
                )
            try:
                self._open(signature, resume)
            except BaseException:
                self.close()
                raise
        while self._settings().get("start") != shard.start:
            time.sleep(WAIT_SECONDS)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Leave the chunks for --resume; a run that failed before it had any leaves nothing."""
        alone = self._lock is not None and self.shard.count == 1
        if kind is not None and alone and not any(self.folder.glob("*.chunk")):
            remove_folder(self.folder)
        self.close()

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _settings(self) -> dict[str, Any]:
        """The settings that the first process wrote; empty before that."""
        path = self.folder / SETTINGS
        if not path.is_file():
            return {}
        settings = read_json(path, "journal")
        if not isinstance(settings, dict) or not isinstance(settings.get("signature"), dict):
            raise UserError(f"{path}: damaged; remove {self.folder} and start again")
        return settings

    def _open(self, signature: Signature, resume: bool) -> None:
        """Make the journal, or take over an old one; the other processes wait for that."""
        remove_leftovers(self.output.parent, self.folder.name)
        before = self._settings()
        if before and not resume:
            raise UserError(
                f"{self.output}: an interrupted run left {self.folder}; continue it with --resume,"
                " or remove that folder"
            )
        if before and (differences := Signature(before["signature"]).differences(signature)):
            raise UserError(
                f"{self.folder}: begun with other settings ({'; '.join(differences)}); use the"
                " same, or remove the folder"
            )
        if not before:
            for path in self.folder.iterdir():  # chunks without settings
                if path.name != LOCK:
                    path.unlink()
        settings = {"signature": signature.to_json(), "start": self.shard.start}
        write_json(self.folder / SETTINGS, settings)

    def path(self, index: int) -> Path:
        """The file of a chunk."""
        return self.folder / f"{index:08}.chunk"

    def read(self, index: int, hash_of_input: str) -> Entry | None:
        """Read a finished chunk; None if it is missing, or damaged (with a warning)."""
        entry = self._load(index, hash_of_input)
        if entry is None and self.path(index).exists():
            print(f"warning: {self.path(index)}: damaged; translating it again", file=sys.stderr)
        return entry

    def _load(self, index: int, hash_of_input: str) -> Entry | None:
        path = self.path(index)
        if not path.is_file():
            return None
        digest, _, content = path.read_bytes().partition(b"\n")
        if digest != _digest(content):
            return None
        head, _, text = content.decode().partition("\n")
        values = json.loads(head)
        if values["hash"] != hash_of_input:
            raise UserError(
                f"{path}: the input has changed since this was translated; remove {self.folder}"
                " and start again"
            )
        try:
            report, history = Report(**values["report"]), History(**values["history"])
        except (KeyError, TypeError):
            return None  # written by a version with other counts
        return Entry(values["hash"], report, history, text)

    def write(self, index: int, entry: Entry) -> None:
        """Keep a chunk; the first line has a hash of the rest."""
        head = {
            "hash": entry.hash,
            "report": asdict(entry.report),
            "history": asdict(entry.history),
        }
        content = f"{json.dumps(head)}\n{entry.text}"
        path = self.path(index)
        if path.exists() and not path.is_file():
            path.unlink()  # a link or device would be written through to instead of replaced
        write_text(path, f"{_digest(content.encode()).decode()}\n{content}")

    def leave(self) -> None:
        """Mark that this process no longer needs the journal."""
        write_text(self._left(self.shard.rank), "")

    def _left(self, rank: int) -> Path:
        return self.folder / f"{hash_text(self.shard.start)[:HASH_DIGITS]}.{rank}.left"

    def join(self, chunks: Sequence[tuple[str, int]], head: str) -> Report:
        """Wait for all chunks, write the output and remove the journal; the sum of the reports.

        `chunks`: the hash of each one's input and the rank of the process that translates it.
        """
        total = Report()
        with atomic_file(self.output) as temporary, temporary.open("wb") as file:
            file.write(head.encode())
            for index, (hash_of_input, rank) in enumerate(chunks):
                entry = self._await(index, hash_of_input, rank)
                total.add(entry.report)
                file.write(entry.text.encode())
        for rank in range(1, self.shard.count):
            _wait_for(self._left(rank))  # a process without work may be late
        remove_folder(self.folder)
        self.close()
        return total

    def _await(self, index: int, hash_of_input: str, rank: int) -> Entry:
        """Wait until the process of that rank has translated a chunk."""
        while True:
            last_look = rank == self.shard.rank or self._left(rank).is_file()
            entry = self._load(index, hash_of_input)
            if entry is not None:
                return entry
            if last_look:
                raise UserError(
                    f"{self.path(index)}: was lost or damaged after it was written; run the"
                    " command again with --resume"
                )
            time.sleep(WAIT_SECONDS)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _wait_for(path: Path) -> None:
    while not path.is_file():
        time.sleep(WAIT_SECONDS)


def _parent() -> str:
    """This process's parent: its id and start time, since ids are reused."""
    parent = os.getppid()
    try:
        fields = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return str(parent)
    return f"{parent}@{fields[19]}"
