"""The `lines` format: text without document boundaries, cut into pseudo-documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.corpus.document import Document, DocumentBuilder
from concatmt.corpus.formats.registry import TwoFiles, register
from concatmt.corpus.formats.sides import line_pairs
from concatmt.corpus.lines import ReadReport


@register
class LinesFormat(TwoFiles):
    """Text without any document marks, cut into pseudo-documents of equal size.

    The paper's high-resource corpus is made like this, with 200 lines. Lines blank on both sides
    are left out but counted.
    """

    format: Literal["lines"]
    size: int = Field(default=200, ge=1)

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the pseudo-documents."""
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        for number, source, target in line_pairs(self.paths(root), report):
            if source.strip() or target.strip():
                builder.add(number, source, target)
            if number % self.size == 0:
                yield from builder.close()
        yield from builder.close()
