"""Reads items with the forms that their translation should have, and those it should not.

Reads a testbed's `expected.jsonl`, ContraPro's and ctxpro's files. Does not know translations.
"""

import json
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.evaluation import fields
from concatmt.evaluation.outcomes import Outcome
from concatmt.evaluation.sets import ContrastiveItem, read_set
from concatmt.json_text import parse_json

PUBLISHED = ('"contrastive"', '"src segment"')  # keys of ContraPro's and ctxpro's lines
PUNCTUATION = string.punctuation + "«»„“”‚‘’‹›…–—―¿¡·"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A document whose last sentence must have all the expected forms and no wrong one."""

    item: Outcome
    source: tuple[str, ...]
    expected: tuple[str, ...]
    wrong: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """A line of `expected.jsonl`: a document to translate and the forms to look for."""
        shown = self.item
        optional = {
            "distance": shown.distance,
            "orbit": shown.orbit,
            "document": shown.document,
            "conflict": shown.conflict,
        }
        return {
            "id": shown.id,
            "source": list(self.source),
            "phenomenon": shown.phenomenon,
            **{key: value for key, value in optional.items() if value is not None},
            "expected": list(self.expected),
            "wrong": list(self.wrong),
        }


def normalise(text: str) -> str:
    """Lower-cased words without surrounding punctuation, with spaces around each."""
    words = (word.strip(PUNCTUATION) for word in text.lower().split())
    return f" {' '.join(word for word in words if word)} "


def read_expectations(path: Path, documents: Path | None = None) -> list[Expectation]:
    """Read a testbed's `expected.jsonl`, ContraPro's JSON or JSONL, or ctxpro's JSON.

    `documents` is where the contexts of the last two are; see `read_set`.
    """
    first = next((line for line in read_lines(path, ReadReport()) if line.strip()), "")
    if first.lstrip().startswith("[") or any(key in first for key in PUBLISHED):
        return expectations_of(read_set(path, documents).items)
    expectations = []
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        expectations.append(_expectation(path, f"{path}, line {number}", line))
    if not expectations:
        raise UserError(f"{path}: no items")
    return expectations


def expectations_of(items: Sequence[ContrastiveItem]) -> list[Expectation]:
    """Turn contrastive items with an expected form into expectations.

    Wrong forms are words of the other candidates that the right one lacks.
    """
    expectations = []
    for item in items:
        if not item.expected:
            raise UserError(
                f"{item.set}, item {item.id}: no expected form, which generative accuracy needs;"
                " give a testbed's expected.jsonl, ContraPro's or ctxpro's file"
            )
        right = normalise(item.targets[item.correct][-1])
        others = (word for target in item.targets for word in normalise(target[-1]).split())
        wrong = dict.fromkeys(word for word in others if f" {word} " not in right)
        outcome = Outcome(
            item.id, item.set, item.phenomenon, 0.0, None, item.distance, item.orbit, item.document
        )
        expectations.append(
            Expectation(outcome, tuple(item.source), (item.expected,), tuple(wrong))
        )
    return expectations


def _expectation(path: Path, where: str, line: str) -> Expectation:
    try:
        record = parse_json(line)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(record, dict) or not {"id", "expected"} <= record.keys():
        raise UserError(
            f"{where}: no 'id' and 'expected'; give a testbed's expected.jsonl, ContraPro's or"
            " ctxpro's file"
        )
    item = Outcome(
        str(record["id"]),
        path.name.split(".")[0],
        str(record.get("phenomenon", path.stem)),
        0.0,
        None,
        fields.distance(where, record),
        fields.label(where, record, "orbit"),
        fields.label(where, record, "document"),
        fields.flag(where, record, "conflict"),
    )
    expected, wrong = _forms(where, record, "expected"), _forms(where, record, "wrong")
    if not expected:
        raise UserError(f"{where}: 'expected' has no form to look for")
    return Expectation(item, tuple(_strings(where, record, "source")), expected, wrong)


def _forms(where: str, record: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(form for form in _strings(where, record, key) if normalise(form).strip())


def _strings(where: str, record: dict[str, Any], key: str) -> list[str]:
    forms = record.get(key, [])
    forms = [forms] if isinstance(forms, str) else forms
    if not isinstance(forms, list) or not all(isinstance(form, str) for form in forms):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return forms
