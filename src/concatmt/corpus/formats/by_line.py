"""Base class of formats that are read line by line, even while lines are still arriving."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from concatmt.corpus.document import Document, DocumentBuilder
from concatmt.corpus.formats.registry import DocumentFormat
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import End, Part, Row, in_parts
from concatmt.errors import UserError

Rows = Iterator[Row | End | None]
STANDARD_INPUT = "standard input"


def documents_of(rows: Rows, origin: str) -> Iterator[Document]:
    """Whole documents from rows that all have translations."""
    builder, name = DocumentBuilder.of(origin), ""
    for row in rows:
        if isinstance(row, Row):
            if row.target is None:
                raise UserError(f"{origin}, line {row.line}: no translation beside the sentence")
            name = row.document or ""
            builder.add(row.line, row.source, row.target)
        elif row is not None:
            yield from builder.close(name)
    yield from builder.close(name)


class OneFile(DocumentFormat):
    """A format with both languages, or only the source, in one file."""

    file: Path

    @classmethod
    @abstractmethod
    def rows(cls, lines: Iterator[str | None], name: str, report: ReadReport) -> Rows:
        """Sentences and ends of documents; `name` is the input's name, for messages."""

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.file
        return documents_of(self.rows(read_lines(path, report), str(path), report), str(path))

    @classmethod
    def parts(
        cls,
        files: Sequence[Path],
        limit: int,
        report: ReadReport,
        lines: Iterator[str | None] | None = None,
    ) -> Iterator[Part | None]:
        """Stream a file, or lines as they come in."""
        path, *others = files
        name = str(path) if lines is None else STANDARD_INPUT
        if others:
            raise UserError(f"{name}: {cls.name()} has its translations inside; give it alone")
        return in_parts(cls.rows(lines or read_lines(path, report), name, report), limit)
