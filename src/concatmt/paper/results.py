"""Results of runs as files: one line a run, and what it said of every item, compressed.

runs.jsonl              a line for each run: signature, figures, learning curve
items.jsonl.gz          the items of the contrastive sets, once, without their text
items/RUN.jsonl.gz      verdict and scores of each item, in that order
translations/RUN.jsonl.gz   the translation of the test set, a document a line
references.jsonl.gz     its references

All tables are computed from these files. Does not know how runs are carried out.
"""

import fcntl
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from concatmt.errors import UserError
from concatmt.evaluation.outcomes import Outcome, OutcomeFile
from concatmt.evaluation.translations import Translated
from concatmt.files import atomic_file
from concatmt.settings import Settings
from concatmt.signature import Signature

RUNS = "runs.jsonl"
DIGITS = 4  # of log-probs: verdicts are kept as they were


class Stage(Settings):
    """A point of a learning curve."""

    update: int
    valid_current: float
    valid_context: float | None
    accuracy: dict[str, float]  # phenomenon -> share of items that are right


class RunRecord(Settings):
    """A line of runs.jsonl."""

    system: str
    seed: int
    rate: float
    signature: dict[str, str | int | float | bool | None]
    parameters: int
    stages: tuple[Stage, ...]
    bleu: float
    bleu_signature: str
    seconds: float  # of the whole run, training and scoring
    command: str

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.system}-rate{self.rate:g}-seed{self.seed}"


class Results:
    """The folder of one setting."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, OutcomeFile] = {}

    def runs(self) -> list[RunRecord]:
        """All runs that there are, in the order in which they were done."""
        path = self.folder / RUNS
        if not path.is_file():
            return []
        records = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                records.append(RunRecord.model_validate_json(line))
            except ValueError as error:
                raise UserError(
                    f"{path}, line {number}: not a result of this version; delete the line, and the"
                    " run is done again"
                ) from error
        return records

    def check_changes(self, changes: Sequence[str]) -> None:
        """Refuse to mix runs with other changes by `--set` than those that are there."""
        ours = " ".join(changes) or None
        for run in self.runs():
            theirs = run.signature.get("set")
            if theirs != ours:
                raise UserError(
                    f"{self.folder}: has runs made with --set {theirs or '(nothing)'}, not"
                    f" {ours or '(nothing)'}; give another folder with --results"
                )

    def add(
        self,
        record: RunRecord,
        items: Sequence[dict[str, Any]],
        translations: Sequence[Sequence[str]],
    ) -> None:
        """Write the files of a run, then its line. Several processes may do so at a time."""
        verdicts = (_verdict(item) for item in items)
        _write_gz(self.folder / "items" / f"{record.name}.jsonl.gz", verdicts)
        _write_gz(self.folder / "translations" / f"{record.name}.jsonl.gz", _lines(translations))
        with self._locked():
            if not (self.folder / "items.jsonl.gz").exists():
                _write_gz(self.folder / "items.jsonl.gz", (_metadata(item) for item in items))
            kept = [run for run in self.runs() if run.name != record.name]
            with atomic_file(self.folder / RUNS) as temporary:
                lines = [run.model_dump_json() + "\n" for run in [*kept, record]]
                temporary.write_text("".join(lines), encoding="utf-8")

    def add_references(self, references: Sequence[Sequence[str]]) -> None:
        """Write the references of the test set, unless they are there."""
        if not (self.folder / "references.jsonl.gz").exists():
            _write_gz(self.folder / "references.jsonl.gz", _lines(references))

    def outcomes(self, record: RunRecord) -> OutcomeFile:
        """What a run said of every item; read once."""
        if record.name not in self._read:
            self._read[record.name] = self._outcomes(record)
        return self._read[record.name]

    def _outcomes(self, record: RunRecord) -> OutcomeFile:
        path = self.folder / "items" / f"{record.name}.jsonl.gz"
        verdicts = [json.loads(line) for line in _read_gz(path)]
        items = [json.loads(line) for line in _read_gz(self.folder / "items.jsonl.gz")]
        if len(items) != len(verdicts):
            raise UserError(
                f"{path}: {len(verdicts):,} items, but the set has {len(items):,}; delete the run's"
                f" line in {RUNS}, and it is done again"
            )
        outcomes = tuple(
            Outcome(**item, right=verdict["verdict"], options=len(verdict["scores"]))
            for item, verdict in zip(items, verdicts, strict=True)
        )
        return OutcomeFile(str(path), Signature(record.signature), outcomes)

    def translations(self, record: RunRecord) -> Translated:
        """What a run made of the test set."""
        return _documents(self.folder / "translations" / f"{record.name}.jsonl.gz")

    def references(self) -> Translated:
        """The references of the test set."""
        return _documents(self.folder / "references.jsonl.gz")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / ".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _verdict(item: dict[str, Any]) -> str:
    scores = [round(score, DIGITS) for score in item["scores"]]
    return json.dumps({"verdict": item["verdict"], "scores": scores})


def _metadata(item: dict[str, Any]) -> str:
    keys = ("id", "set", "phenomenon", "distance", "orbit", "document", "conflict")
    return json.dumps({key: item[key] for key in keys if key in item}, ensure_ascii=False)


def _lines(documents: Sequence[Sequence[str]]) -> Iterator[str]:
    return (json.dumps(list(document), ensure_ascii=False) for document in documents)


def _documents(path: Path) -> Translated:
    return Translated(tuple(tuple(json.loads(line)) for line in _read_gz(path)))


def _write_gz(path: Path, lines: Iterable[str]) -> None:
    """The same lines give the same bytes: no time and no name in the header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    with atomic_file(path) as temporary:
        temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def _read_gz(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; delete the run's line in {RUNS} to do it again")
    return gzip.decompress(path.read_bytes()).decode().splitlines()
