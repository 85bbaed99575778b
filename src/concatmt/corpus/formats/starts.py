"""The `starts` format: text with a separate file of the lines where documents start."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from concatmt.corpus.document import Document, DocumentBuilder
from concatmt.corpus.formats.registry import TwoFiles, register
from concatmt.corpus.formats.sides import line_pairs
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError


@register
class StartsFormat(TwoFiles):
    """Text without blank lines and a file with the number of each document's first line.

    Numbers count from 0 or from 1; the first one decides.
    """

    format: Literal["starts"]
    starts: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.starts
        starts = _read_starts(path, report)
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        number = 0
        for number, source, target in line_pairs(self.paths(root), report):
            if number in starts:
                yield from builder.close()
            builder.add(number, source, target)
        if beyond := [start for start in starts if start > number]:
            raise UserError(
                f"{path}: a document starts at line {min(beyond):,}, but {builder.origin} has"
                f" only {number:,} lines"
            )
        yield from builder.close()


def _read_starts(path: Path, report: ReadReport) -> set[int]:
    """Line numbers, from 1, at which documents start."""
    starts: list[int] = []
    for number, line in enumerate(read_lines(path, report), start=1):
        if not line.strip().isdecimal():
            raise UserError(f"{path}, line {number}: expected a line number, found {line!r}")
        start = int(line)
        if starts and start <= starts[-1]:
            raise UserError(f"{path}, line {number}: {start} does not come after {starts[-1]}")
        starts.append(start)
    if not starts or starts[0] not in (0, 1):
        raise UserError(f"{path}: the first document must start at line 0 or 1")
    return {start + 1 - starts[0] for start in starts}
