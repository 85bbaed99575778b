"""The `ids` format: text with a separate file that names the document of each line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from concatmt.corpus.document import Document, DocumentBuilder
from concatmt.corpus.formats.registry import TwoFiles, register
from concatmt.corpus.formats.sides import line_pairs
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError


@register
class IdsFormat(TwoFiles):
    """Text and a file of document ids, one per line; a run of equal ids is one document."""

    format: Literal["ids"]
    ids: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.ids
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        current, number = "", 0
        ids = read_lines(path, report)
        for number, source, target in line_pairs(self.paths(root), report):
            document_id = next(ids, None)
            if document_id is None:
                raise UserError(
                    f"{path}: ends after line {number - 1:,}, but {builder.origin} goes on;"
                    " every sentence needs a document id"
                )
            if document_id != current:
                yield from builder.close(current)
                current = document_id
            builder.add(number, source, target)
        if next(ids, None) is not None:
            raise UserError(f"{path}: has more lines than {builder.origin} ({number:,})")
        yield from builder.close(current)
