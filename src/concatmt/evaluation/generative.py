"""Generative accuracy: does a translation have the expected form, and none of the wrong ones?

As ctxpro does it: in the current sentence, in lower case, without punctuation, whole words. Does
not know how the translations were made.
"""

import json
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.evaluation.outcomes import Outcome, OutcomeFile
from concatmt.evaluation.translations import TranslationFile
from concatmt.signature import Signature

PUNCTUATION = string.punctuation + "«»„“”‚‘’‹›…–—―¿¡·"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A document whose last sentence must have all the expected forms and no wrong one."""

    item: Outcome
    expected: tuple[str, ...]
    wrong: tuple[str, ...]


def normalise(text: str) -> str:
    """Lower-cased words without punctuation around them, with a space around each."""
    words = (word.strip(PUNCTUATION) for word in text.lower().split())
    return f" {' '.join(word for word in words if word)} "


def is_right(translation: str, expected: Sequence[str], wrong: Sequence[str]) -> bool:
    """Whether all expected forms occur, and none of the wrong ones; a form may be several words."""
    text = normalise(translation)
    return all(normalise(form) in text for form in expected) and not any(
        normalise(form) in text for form in wrong
    )


def read_expectations(path: Path) -> list[Expectation]:
    """Read lines with `id`, `expected` and perhaps `wrong`, as in a testbed's `expected.jsonl`."""
    found = []
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON ({error})") from error
        if not isinstance(record, dict) or not {"id", "expected"} <= record.keys():
            raise UserError(f"{where}: no 'id' and 'expected'; give a testbed's expected.jsonl")
        item = Outcome(
            str(record["id"]),
            path.name.split(".")[0],
            str(record.get("phenomenon", path.stem)),
            0.0,
            None,
            record.get("distance"),
            record.get("orbit"),
            record.get("document"),
            record.get("conflict"),
        )
        expected, wrong = _forms(where, record, "expected"), _forms(where, record, "wrong")
        if not expected:
            raise UserError(f"{where}: 'expected' has no form to look for")
        found.append(Expectation(item, expected, wrong))
    if not found:
        raise UserError(f"{path}: no items")
    return found


def _forms(where: str, record: dict[str, Any], key: str) -> tuple[str, ...]:
    forms = record.get(key, [])
    forms = [forms] if isinstance(forms, str) else forms
    if not isinstance(forms, list) or not all(isinstance(form, str) for form in forms):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return tuple(form for form in forms if normalise(form).strip())


def judge(file: TranslationFile, expectations: Sequence[Expectation]) -> OutcomeFile:
    """Outcomes of a file of translations in which every item is a document of its own."""
    translated = dict(zip(file.names, file.text.documents, strict=True))
    outcomes = []
    for one in expectations:
        sentences = translated.get(one.item.id)
        if sentences is None:
            raise UserError(
                f"{file.path}: no document {one.item.id!r}; translate the file of expectations"
                " itself, with --format jsonl"
            )
        right = is_right(sentences[-1], one.expected, one.wrong)
        outcomes.append(replace(one.item, right=float(right)))
    values = file.signature.values if file.signature else {}
    return OutcomeFile(file.path, Signature({**values, "measure": "generative"}), tuple(outcomes))
