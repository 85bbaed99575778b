"""Reads outcomes: which items a run got right, from the files of its answers.

Also checks which runs can be compared. Does not know how outcomes are averaged.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.evaluation import fields
from concatmt.json_text import parse_json
from concatmt.signature import Signature

# What must be equal for two runs to be comparable; everything else may differ.
SETTINGS = ("measure", "score", "scope", "ties", "target_context", "wrong_forms")


# Tasks of the testbed that need no other sentence, or one beyond every window.
CONTROLS = ("d0", "far")


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item of a test set and how right a run is on it: 1, 0, or 1/m for a tie of m."""

    id: str
    set: str
    phenomenon: str
    right: float
    options: int | None = None  # candidates; None if the answer was not chosen from a list
    distance: int | None = None
    orbit: str | None = None
    document: str | None = None
    conflict: bool | None = None
    log_prob: float | None = None  # of the current sentence of the right candidate, in nats

    @property
    def needs_context(self) -> bool:
        """Whether another sentence of the window decides the item, as far as the set says."""
        return self.distance != 0 and self.phenomenon not in CONTROLS

    @property
    def cluster(self) -> str:
        """The unit of resampling: the document, else the orbit, else the item itself."""
        return f"{self.set} {self.document or self.orbit or self.id}"


@dataclass(frozen=True, slots=True)
class OutcomeFile:
    """The outcomes of one run (one seed), with their signature."""

    path: str
    signature: Signature
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class System:
    """Runs of one system with different seeds, on the same items."""

    name: str
    files: tuple[OutcomeFile, ...]


def read_items(path: Path) -> OutcomeFile:
    """Read what `concatmt score --output` wrote."""
    outcomes = []
    signature = None
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        try:
            record = parse_json(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON ({error}); score the set again") from error
        if signature is None:
            if not isinstance(record, dict) or not isinstance(record.get("signature"), dict):
                raise UserError(
                    f"{where}: no signature; give a file that 'concatmt score --output' wrote"
                )
            signature = Signature(record["signature"])
        else:
            outcomes.append(_outcome(where, record))
    if signature is None or not outcomes:
        raise UserError(f"{path}: no items; score the set again")
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        if (outcome.set, outcome.id) in seen:
            raise UserError(
                f"{path}: item {outcome.id!r} of {outcome.set} comes twice; score it once"
            )
        seen.add((outcome.set, outcome.id))
    return OutcomeFile(str(path), signature, tuple(outcomes))


def _outcome(where: str, record: Any) -> Outcome:
    if not isinstance(record, dict):
        raise UserError(f"{where}: expected an object, found {type(record).__name__}")
    missing = [key for key in ("id", "verdict", "scores") if key not in record]
    if missing:
        raise UserError(f"{where}: no {missing[0]!r}; score the set again with 'concatmt score'")
    scores, right = record["scores"], record["verdict"]
    if not isinstance(scores, list) or not all(_finite(score) for score in scores):
        raise UserError(f"{where}: the scores are not all numbers: {scores}; check the model")
    if not _finite(right) or not 0 <= right <= 1:
        raise UserError(f"{where}: the verdict must be between 0 and 1, found {right!r}")
    name = str(record.get("set", ""))
    return Outcome(
        str(record["id"]),
        name,
        str(record.get("phenomenon", name)),
        float(right),
        len(scores),
        fields.distance(where, record),
        fields.label(where, record, "orbit"),
        fields.label(where, record, "document"),
        fields.flag(where, record, "conflict"),
        _log_prob(where, record),
    )


def _log_prob(where: str, record: dict[str, Any]) -> float | None:
    if "current" not in record or "correct" not in record:
        return None
    try:
        return float(record["current"][record["correct"]][0])
    except (TypeError, ValueError, LookupError) as error:
        raise UserError(
            f"{where}: 'current' has no sum for candidate {record['correct']!r}; score it again"
        ) from error


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def check_comparable(systems: Sequence[System]) -> None:
    """Refuse runs whose settings or items differ from the first's, saying where."""
    first = systems[0].files[0]
    for system in systems:
        for scored in system.files:
            _check_settings(first, scored)
            _check_items(first, scored)
            ours, theirs = (
                scored.signature.values.get("system") for scored in (system.files[0], scored)
            )
            if ours != theirs:
                raise UserError(
                    f"{scored.path}: is of system {theirs}, but {system.files[0].path}, given as"
                    f" another seed of it, of {ours}; separate systems by a space, not a comma"
                )


def _check_settings(first: OutcomeFile, other: OutcomeFile) -> None:
    settings = [key for key in SETTINGS if not _is_without_context(key, first, other)]
    ours, theirs = (
        Signature({key: file.signature.values.get(key) for key in settings} | {"version": "-"})
        for file in (first, other)
    )
    if differences := ours.differences(theirs):
        raise UserError(
            f"{first.path} and {other.path} were made with different settings, so they cannot be"
            f" compared: {'; '.join(differences)}; make one of them again"
        )


def _is_without_context(key: str, *files: OutcomeFile) -> bool:
    """A system of one sentence has no target context that could differ."""
    return key == "target_context" and any(file.signature.values.get("K") == 1 for file in files)


def _check_items(first: OutcomeFile, other: OutcomeFile) -> None:
    ours = [(outcome.set, outcome.id, outcome.options) for outcome in first.outcomes]
    theirs = [(outcome.set, outcome.id, outcome.options) for outcome in other.outcomes]
    if ours == theirs:
        return
    pairs = zip(ours, theirs, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    raise UserError(
        f"{first.path} has {len(ours):,} items and {other.path} {len(theirs):,}, and they differ"
        f" from item {at + 1} on; give runs on the same sets, in the same order"
    )
