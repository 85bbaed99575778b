"""The `wmt-xml` format: WMT's test sets since 2021."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from concatmt.corpus.document import Document
from concatmt.corpus.formats.registry import DocumentFormat, register
from concatmt.corpus.lines import ReadReport, mend
from concatmt.errors import UserError


@register
class WmtXmlFormat(DocumentFormat):
    """WMT's XML since 2021: one file, `<doc>` with `<src>` and one or more `<ref>`."""

    format: Literal["wmt-xml"]
    file: Path
    translator: str = ""  # which reference; the first of each document if not given

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.file
        if not path.is_file():
            raise UserError(f"{path}: no such file; check the path in the config")
        try:
            for _, element in ElementTree.iterparse(path):
                if element.tag == "doc":
                    yield self._document(path, element, report)
                    element.clear()
        except ElementTree.ParseError as error:
            raise UserError(f"{path}: not valid XML: {error}") from error

    def _document(self, path: Path, element: ElementTree.Element, report: ReadReport) -> Document:
        name = element.get("id", "")
        references = [
            ref
            for ref in element.iter("ref")
            if not self.translator or ref.get("translator") == self.translator
        ]
        source = element.find(".//src")
        if source is None or not references:
            wanted = f"translator {self.translator!r}" if self.translator else "reference"
            raise UserError(f"{path}: document {name!r} has no source or no {wanted}")
        sources, targets = (
            [
                mend("".join(segment.itertext()).strip(), str(path), report)
                for segment in side.iter("seg")
            ]
            for side in (source, references[0])
        )
        if len(sources) != len(targets):
            raise UserError(
                f"{path}: document {name!r} has {len(sources)} source segments but"
                f" {len(targets)} in the reference"
            )
        return Document(name, str(path), list(range(1, len(sources) + 1)), sources, targets)
