"""The `sgm` format: test sets of WMT, and IWSLT's dev and test files (named .xml)."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from concatmt.corpus.document import Document, pair_documents
from concatmt.corpus.formats.registry import DocumentFormat, register
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import NumberedSentences, Side
from concatmt.errors import UserError

SGM_TAG = re.compile(r"<(/?)(doc|seg)\b([^<>]*)>", re.IGNORECASE)


@register
class SgmFormat(DocumentFormat):
    """SGM: `<doc docid=...>` around `<seg>` sentences. Several files per side are read in order."""

    format: Literal["sgm"]
    source: list[Path]
    target: list[Path]
    suffixes: ClassVar[tuple[str, ...]] = (".sgm",)

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        if len(self.source) != len(self.target):
            raise UserError(f"{len(self.source)} source files but {len(self.target)} target files")
        for source, target in zip(self.source, self.target, strict=True):
            paths = root / source, root / target
            sides = (_sgm_documents(path, report) for path in paths)
            yield from pair_documents(next(sides), next(sides), (str(paths[0]), str(paths[1])))

    @classmethod
    def source_alone(cls, path: Path, report: ReadReport) -> Side:
        """The documents of one file."""
        return _sgm_documents(path, report)


def _sgm_documents(path: Path, report: ReadReport) -> Side:
    document: NumberedSentences = []
    name, count, start = "", 0, 0
    pending: list[str] = []
    opened = 0  # sentences that continue on the next line
    for number, line in enumerate(read_lines(path, report), start=1):
        if not pending:
            start = number
        pending.append(line)
        opened += line.count("<seg") - line.count("</seg>")
        if opened > 0:
            continue
        for attributes, sentence in _sgm_parts(" ".join(pending)):
            if sentence is not None:
                document.append((start, sentence))
            elif attributes is not None:
                match = re.search(r'\b(?:docid|id)="([^"]*)"', attributes)
                count += 1
                name = match[1] if match else str(count)
            else:
                if document:
                    yield name, document
                document = []
        pending, opened = [], 0
    if document or pending:
        raise UserError(
            f"{path}, line {start}: the file ends inside a <doc> or <seg>; is it whole?"
        )


def _sgm_parts(text: str) -> Iterator[tuple[str | None, str | None]]:
    """(attributes, None) at a document's start, (None, None) at its end, (None, sentence)."""
    begin: int | None = None  # of the sentence that is open
    for tag in SGM_TAG.finditer(text):
        closes, kind = bool(tag[1]), tag[2].lower()
        if kind == "seg" and not closes:
            begin = tag.end() if begin is None else begin
        elif kind == "seg" and begin is not None:
            yield None, html.unescape(text[begin : tag.start()]).strip()
            begin = None
        elif kind == "doc" and begin is None:
            yield (None if closes else tag[3]), None
