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
from concatmt.files import atomic_file, read_json, write_json, write_text
from concatmt.signature import Signature

SETTINGS = "journal.json"
WAIT_SECONDS = 0.2


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

    @classmethod
    def from_environment(cls) -> "Shard":
        """As torchrun tells it."""
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


class Journal:
    """The chunks of one output file."""

    def __init__(self, output: Path, signature: Signature, shard: Shard, resume: bool) -> None:
        self.output, self.shard = output, shard
        self.folder = output.with_name(f".{output.name}.journal")
        settings = {"signature": signature.to_json()}
        if shard.rank == 0:
            self._open(signature, settings, resume)
        while not (self.folder / SETTINGS).is_file():
            time.sleep(WAIT_SECONDS)

    def _open(self, signature: Signature, settings: dict[str, Any], resume: bool) -> None:
        if not (self.folder / SETTINGS).is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / SETTINGS, settings)
            return
        if not resume:
            raise UserError(
                f"{self.output}: an interrupted run left {self.folder}; continue it with --resume,"
                " or remove that folder"
            )
        before = Signature(read_json(self.folder / SETTINGS, "journal")["signature"])
        if differences := before.differences(signature):
            raise UserError(
                f"{self.folder}: begun with other settings ({'; '.join(differences)}); use the"
                " same, or remove the folder"
            )

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

    def join(self, count: int, head: str) -> Report:
        """Wait for all chunks, write the output and remove the journal; the sum of the reports."""
        total = Report()
        with atomic_file(self.output) as temporary, temporary.open("wb") as file:
            file.write(head.encode())
            for index in range(count):
                while not self.path(index).is_file():
                    time.sleep(WAIT_SECONDS)
                first, _, text = self.path(index).read_bytes().partition(b"\n")
                total.add(Report(**json.loads(first)["report"]))
                file.write(text)
        shutil.rmtree(self.folder)
        return total
