"""Reads contrastive test sets: our JSONL, Voita's, ContraPro's and ctxpro's files.

An item is a window of source sentences and several translations of it, one of which is correct.
Formats are recognised by content. Does not know models.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, mend, read_lines
from concatmt.errors import UserError
from concatmt.evaluation import fields
from concatmt.json_text import parse_json

VOITA_SEPARATOR = " _eos "
CTXPRO_SEPARATOR = "<eos>"
SPLITS = ("_test", "_dev")
Context = tuple[list[str], list[str]]  # sentences before the current one, on both sides


@dataclass(frozen=True, slots=True)
class ContrastiveItem:
    """One item: which of the targets translates the source?"""

    id: str
    source: list[str]  # the window, current sentence last
    targets: list[list[str]]  # whole windows, as many sentences as the source
    correct: int
    set: str  # the file's name, without its suffix
    phenomenon: str
    distance: int | None = None
    orbit: str | None = None  # shared by twins: same sentence and candidates, other context
    document: str | None = None
    conflict: bool | None = None
    expected: str | None = None  # the word form that a generated translation should have


@dataclass(frozen=True, slots=True)
class ContrastiveSet:
    """A test set, with the remark that belongs beside its figures."""

    name: str
    items: list[ContrastiveItem]
    remark: str | None = None
    cut: bool = False  # one side had less context than the other: both were cut to it

    @property
    def chance(self) -> float:
        """The accuracy of guessing."""
        return sum(1 / len(item.targets) for item in self.items) / len(self.items)


def read_set(path: Path, documents: Path | None = None) -> ContrastiveSet:
    """Read a file of any of the formats.

    `documents`: ContraPro's folder of extracted subtitles, `*/NAME.en` beside `*/NAME.de`; or
    ctxpro's file of inputs, one window a line with `<eos>` between its sentences.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    name = path.name.split(".")[0]
    records = list(_records(path))
    if not records:
        raise UserError(f"{path}: no items")
    where, first = records[0]
    remark = None
    if {"source", "candidates"} <= first.keys():
        items = [_ours(name, where, record) for where, record in records]
    elif {"src", "dst", "true_ind"} <= first.keys():
        items = _voita(name, records)
    elif {"src", "ref", "contrastive"} <= first.keys():
        items = [_contrapro_lines(name, where, record) for where, record in records]
        remark = _cut_remark(records)
    elif {"src segment", "ref segment", "document id"} <= first.keys():
        contexts = _contexts(records, documents)
        items = [
            _contrapro(name, where, record, context)
            for (where, record), context in zip(records, contexts, strict=True)
        ]
        if documents is None:
            remark = "no context: documents not given"
    else:
        raise UserError(
            f"{where}: not a contrastive set: has the keys {', '.join(sorted(first)[:6])}; known"
            " are concatmt's JSONL, Voita's JSON, ContraPro's and ctxpro's"
        )
    for (where, _), item in zip(records, items, strict=True):
        _check(where, item)
    remarks = [remark, _repetitions(items)]
    cut = "contrastive" in first and remark is not None
    return ContrastiveSet(name, items, "; ".join(filter(None, remarks)) or None, cut)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of a JSON list, or of JSON lines."""
    lines = read_lines(path, ReadReport())
    first = next((line for line in lines if line.strip()), "")
    try:
        if first.lstrip().startswith("["):
            values = enumerate(parse_json(path.read_text(encoding="utf-8")))
            for number, value in values:
                yield f"{path}, item {number}", _object(f"{path}, item {number}", value)
            return
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not valid JSON: {error}") from error
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            yield where, _object(where, parse_json(line))
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON: {error}") from error


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, found {type(value).__name__}")
    return value


def _ours(name: str, where: str, record: dict[str, Any]) -> ContrastiveItem:
    source = fields.strings(where, record, "source")
    context = fields.strings(where, record, "context") if "context" in record else []
    targets = []
    candidates = record.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else [None]:
        if isinstance(candidate, str):
            targets.append([*context, candidate])
        elif isinstance(candidate, list) and all(isinstance(s, str) for s in candidate):
            targets.append(candidate)
        else:
            raise UserError(f"{where}: 'candidates' must be strings, or windows of strings")
    return ContrastiveItem(
        str(record.get("id", where)),
        source,
        targets,
        fields.integer(where, record, "correct"),
        name,
        str(record.get("phenomenon", name)),
        fields.distance(where, record),
        fields.label(where, record, "orbit"),
        fields.label(where, record, "document"),
        fields.flag(where, record, "conflict"),
        fields.label(where, record, "expected"),
    )


def _voita(name: str, records: Sequence[tuple[str, dict[str, Any]]]) -> list[ContrastiveItem]:
    """Twins are items of one source: they share an orbit, which is also their document."""
    items: list[ContrastiveItem] = []
    orbits: dict[str, str] = {}
    phenomenon = name
    for suffix in SPLITS:
        phenomenon = phenomenon.removesuffix(suffix)
    for number, (where, record) in enumerate(records):
        item_id = f"{name}-{number}"
        source = fields.text(where, record, "src")
        targets = fields.strings(where, record, "dst")
        orbit = orbits.setdefault(source, item_id)
        items.append(
            ContrastiveItem(
                item_id,
                source.split(VOITA_SEPARATOR),
                [target.split(VOITA_SEPARATOR) for target in targets],
                fields.integer(where, record, "true_ind"),
                name,
                phenomenon,
                fields.distance(where, record, "ctx_dist"),
                orbit,
                orbit,
            )
        )
    return items


def _contrapro_lines(name: str, where: str, record: dict[str, Any]) -> ContrastiveItem:
    """ContraPro as lines with contexts of their own; both sides are cut to the shorter one."""
    source, target = (
        fields.strings(where, record, "src_context"),
        fields.strings(where, record, "ref_context"),
    )
    size = min(len(source), len(target))
    context = target[len(target) - size :]
    candidates = [fields.text(where, record, "ref"), *fields.strings(where, record, "contrastive")]
    return ContrastiveItem(
        str(record.get("id", where)),
        [*source[len(source) - size :], fields.text(where, record, "src")],
        [[*context, candidate] for candidate in candidates],
        0,
        name,
        str(record.get("ref_pronoun", name)),
        fields.distance(where, record, "ante_distance"),
        None,
        fields.label(where, record, "document"),
        None,
        fields.label(where, record, "ref_pronoun"),
    )


def _cut_remark(records: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    source = max(len(record.get("src_context", [])) for _, record in records)
    target = max(len(record.get("ref_context", [])) for _, record in records)
    if source == target:
        return None
    return f"context cut to {min(source, target)}: {source} source, {target} target sentences given"


def _repetitions(items: Sequence[ContrastiveItem]) -> str | None:
    """Remark on repeated candidates, which published sets have too; the rule for ties decides."""
    repeated = [item.id for item in items if item.targets.count(item.targets[item.correct]) > 1]
    if not repeated:
        return None
    return (
        f"the correct candidate occurs twice in {len(repeated)} item(s), the first is {repeated[0]}"
    )


def _contrapro(name: str, where: str, record: dict[str, Any], context: Context) -> ContrastiveItem:
    """ContraPro's JSON, and ctxpro's, which has the expected form instead of wrong sentences."""
    errors = record.get("errors", [])
    candidates = [fields.text(where, record, "ref segment")]
    for error in errors if isinstance(errors, list) else [None]:
        if not isinstance(error, dict) or not isinstance(error.get("contrastive"), str):
            raise UserError(f"{where}: every entry of 'errors' must have a 'contrastive' sentence")
        candidates.append(fields.text(where, error, "contrastive"))
    source, target = context
    expected = fields.label(where, record, "expected" if "expected" in record else "ref pronoun")
    return ContrastiveItem(
        where.rpartition("item ")[2],
        [*source, fields.text(where, record, "src segment")],
        [[*target, candidate] for candidate in candidates],
        0,
        name,
        str(record.get("rule", expected or name)),
        fields.distance(where, record, "ante distance"),
        None,
        fields.text(where, record, "document id"),
        None,
        expected,
    )


def _contexts(
    records: Sequence[tuple[str, dict[str, Any]]], documents: Path | None
) -> Iterable[Context]:
    """The context of each item: none, from films, or from ctxpro's file of inputs."""
    if documents is None:
        return [([], [])] * len(records)
    if not documents.is_file():
        return (_subtitles(where, record, documents) for where, record in records)
    return _inputs(records, documents)


def _inputs(records: Sequence[tuple[str, dict[str, Any]]], path: Path) -> Iterator[Context]:
    """Source contexts of ctxpro's items, line by line; it has no target contexts."""
    lines = list(read_lines(path, ReadReport()))
    if len(lines) != len(records):
        raise UserError(
            f"{path}: {len(lines):,} lines, but {len(records):,} items; give the inputs of the set"
        )
    for (where, record), line in zip(records, lines, strict=True):
        *context, current = (sentence.strip() for sentence in line.split(CTXPRO_SEPARATOR))
        # By then the file of inputs has been repaired in the same way.
        segment = mend(fields.text(where, record, "src segment"), where, ReadReport())
        if current.split() != segment.split():
            raise UserError(f"{where}: its sentence is not the last one of its line in {path}")
        yield context, [""] * len(context)


def _subtitles(where: str, record: dict[str, Any], documents: Path, context: int = 3) -> Context:
    """The lines before an item in its film, on both sides; fewer at its start."""
    name = fields.text(where, record, "document id").rpartition("/")[2]
    stem, _, language = name.rpartition(".")
    matches = sorted(documents.glob(f"*/{name}")) if stem else []
    if not matches:
        raise UserError(f"{where}: {documents} has no */{name}, which the item comes from")
    others = [
        path
        for path in sorted(matches[0].parent.glob(f"{stem}.*"))
        if path.name != name and not path.name.endswith(f".{language}")
    ]
    if len(others) != 1:
        raise UserError(f"{where}: {matches[0]} should have one source file beside it")
    line = fields.integer(where, record, "segment id")
    sides = [list(read_lines(path, ReadReport())) for path in (others[0], matches[0])]
    if not 0 < line <= min(map(len, sides)):
        raise UserError(f"{where}: {matches[0]} has no line {line}")
    first = max(0, line - 1 - context)
    return sides[0][first : line - 1], sides[1][first : line - 1]


def _check(where: str, item: ContrastiveItem) -> None:
    if not item.targets:
        raise UserError(f"{where}: no candidates")
    if not 0 <= item.correct < len(item.targets):
        raise UserError(
            f"{where}: the correct candidate is {item.correct}, but there are"
            f" {len(item.targets)}, counted from 0"
        )
    for target in item.targets:
        if len(target) != len(item.source):
            raise UserError(
                f"{where}: {len(item.source)} source sentences, but a candidate with its context"
                f" has {len(target)}"
            )
