"""The journal of a long translation: chunks that are done, each a file, until all can be joined.

It lies in a hidden folder beside the output. Whoever is killed loses the chunk at hand; processes
that share the work share the journal. Does not know what a chunk's text means.
"""

import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from concatmt.decoding.translation import History, Report
from concatmt.errors import UserError
from concatmt.files import atomic_file, hash_text, read_json, write_json, write_text
from concatmt.signature import Signature

SETTINGS = "journal.json"
WAIT_SECONDS = 0.2
HASH_DIGITS = 12


@dataclass(frozen=True)
class Entry:
    """What is kept of a chunk that is done."""

    hash: str  # of the input
    report: Report
    history: History  # at the end of the chunk, for a document that goes on
    text: str


@dataclass(frozen=True)
class Shard:
    """Which of several processes this one is."""

    rank: int = 0
    count: int = 1
    start: str = ""  # what processes that were started together have in common, and others not

    @classmethod
    def from_environment(cls) -> "Shard":
        """As torchrun tells it. Processes of one machine have a parent in common."""
        told = os.environ.get
        count = told("WORLD_SIZE", "1")
        parent = os.getppid() if told("LOCAL_WORLD_SIZE", count) == count else 0
        names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
        start = ":".join([str(parent), *(told(name, "") for name in names)])
        return cls(int(told("RANK", "0")), int(count), start)


class Journal:
    """The chunks of one output file."""

    def __init__(self, output: Path, signature: Signature, shard: Shard, resume: bool) -> None:
        self.output, self.shard = output, shard
        self.folder = output.with_name(f".{output.name}.journal")
        if shard.rank == 0:
            self._open(signature, resume)
        while self._settings().get("start") != shard.start:
            time.sleep(WAIT_SECONDS)

    def _settings(self) -> dict[str, Any]:
        """What the process that opened the journal says; nothing before that."""
        path = self.folder / SETTINGS
        return read_json(path, "journal") if path.is_file() else {}

    def _open(self, signature: Signature, resume: bool) -> None:
        """Make the journal, or take over one that was left; the others wait for that."""
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
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {"signature": signature.to_json(), "start": self.shard.start}
        write_json(self.folder / SETTINGS, settings)

    def path(self, index: int) -> Path:
        """The file of a chunk."""
        return self.folder / f"{index:08}.chunk"

    def read(self, index: int, hash_of_input: str) -> Entry | None:
        """A chunk that is done; None if it is not."""
        path = self.path(index)
        if not path.is_file():
            return None
        head, _, text = path.read_bytes().decode().partition("\n")
        values = json.loads(head)
        if values["hash"] != hash_of_input:
            raise UserError(
                f"{path}: the input has changed since this was translated; remove {self.folder}"
                " and start anew"
            )
        return Entry(values["hash"], Report(**values["report"]), History(**values["history"]), text)

    def write(self, index: int, entry: Entry) -> None:
        """Keep a chunk."""
        head = {
            "hash": entry.hash,
            "report": asdict(entry.report),
            "history": asdict(entry.history),
        }
        write_text(self.path(index), f"{json.dumps(head)}\n{entry.text}")

    def leave(self) -> None:
        """Say that this process needs the journal no more."""
        write_text(self._left(self.shard.rank), "")

    def _left(self, rank: int) -> Path:
        return self.folder / f"{hash_text(self.shard.start)[:HASH_DIGITS]}.{rank}.left"

    def join(self, count: int, head: str) -> Report:
        """Wait for all chunks, write the output and remove the journal; the sum of the reports."""
        total = Report()
        with atomic_file(self.output) as temporary, temporary.open("wb") as file:
            file.write(head.encode())
            for index in range(count):
                _wait_for(self.path(index))
                first, _, text = self.path(index).read_bytes().partition(b"\n")
                total.add(Report(**json.loads(first)["report"]))
                file.write(text)
        for rank in range(1, self.shard.count):
            _wait_for(self._left(rank))  # one that has nothing to do may be late
        shutil.rmtree(self.folder)
        return total


def _wait_for(path: Path) -> None:
    while not path.is_file():
        time.sleep(WAIT_SECONDS)
