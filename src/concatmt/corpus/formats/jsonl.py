"""The `jsonl` format: one document per line, as a JSON object."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from concatmt.corpus.formats.by_line import OneFile, Rows
from concatmt.corpus.formats.registry import register
from concatmt.corpus.lines import ReadReport, mend
from concatmt.corpus.parts import End, Row
from concatmt.errors import UserError
from concatmt.json_text import parse_json


@register
class JsonlFormat(OneFile):
    """One document per line: `{"id": "...", "source": [...], "target": [...]}`."""

    format: Literal["jsonl"]
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    @classmethod
    def rows(cls, lines: Iterator[str | None], name: str, report: ReadReport) -> Rows:
        """Sentences and ends of documents; text output separates them by one blank line."""
        number, begun = 0, False
        for line in lines:
            number += line is not None
            if line is None:
                yield None
            elif line.strip():
                sentences = _document(line, f"{name}, line {number}", name, number, report)
                if sentences and begun:
                    yield End(blank=1)
                begun = begun or bool(sentences)
                yield from sentences


def _document(line: str, where: str, name: str, number: int, report: ReadReport) -> list[Row]:
    try:
        item = parse_json(line)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not valid JSON: {error}") from error
    source = _strings(item, "source", where)
    target = _strings(item, "target", where) if item.get("target") is not None else None
    if target is not None and len(target) != len(source):
        raise UserError(
            f"{where}: {len(source)} source sentences but {len(target)} target sentences; the"
            " sides must be aligned"
        )
    document = str(item.get("id", number))
    return [
        Row(
            number,
            mend(sentence, name, report),
            None if target is None else mend(target[place], name, report),
            document,
        )
        for place, sentence in enumerate(source)
    ]


def _strings(item: Any, key: str, where: str) -> list[str]:
    values = item.get(key) if isinstance(item, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return values
