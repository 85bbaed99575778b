"""The `tsv` format: document, source and target in tab-separated columns."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from concatmt.corpus.formats.by_line import OneFile, Rows
from concatmt.corpus.formats.registry import register
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import End, Row
from concatmt.errors import UserError


@register
class TsvFormat(OneFile):
    """One file of `document TAB source [TAB target]` lines; a run of equal ids is a document."""

    format: Literal["tsv"]
    suffixes: ClassVar[tuple[str, ...]] = (".tsv",)

    @classmethod
    def rows(cls, lines: Iterator[str | None], name: str, report: ReadReport) -> Rows:
        """Sentences and ends of documents."""
        current, number = None, 0
        for line in lines:
            if line is None:
                yield None
                continue
            number += 1
            columns = line.split("\t")
            if len(columns) not in (2, 3):
                raise UserError(
                    f"{name}, line {number}: {len(columns)} columns; expected document, source and"
                    " perhaps target"
                )
            if columns[0] != current:
                yield End()
                current = columns[0]
            yield Row(number, columns[1], columns[2] if len(columns) == 3 else None, current)
