"""Readers of plain formats: text with blank lines, with document marks, without any, TSV, JSONL.

A reader is its settings: `documents(root, report)` streams the documents that they describe.
Text is read as it is; normalising and cleaning come later. Adding a format is one class here (or
in `markup`) and its name in `formats`.
"""

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from pydantic import Field

from concatmt.corpus.document import Document, DocumentBuilder
from concatmt.corpus.lines import ReadReport, mend, read_lines
from concatmt.errors import UserError
from concatmt.json_text import parse_json
from concatmt.settings import Settings


class TwoFiles(Settings):
    """The common part of all formats with one file per language."""

    source: Path
    target: Path

    def paths(self, root: Path) -> tuple[Path, Path]:
        """Both files; relative paths count from `root`."""
        return root / self.source, root / self.target

    def pairs(self, root: Path, report: ReadReport) -> Iterator[tuple[int, str, str]]:
        """(line number, source line, target line); sides of different length are an error."""
        paths = self.paths(root)
        sides = (read_lines(path, report) for path in paths)
        for number, (source, target) in enumerate(zip_longest(*sides), start=1):
            if source is None or target is None:
                ended, other = paths if source is None else reversed(paths)
                total = sum(1 for _ in read_lines(other, ReadReport()))
                raise UserError(
                    f"{ended}: ends after line {number - 1:,}, but {other} has {total:,} lines;"
                    " the sides must be aligned line by line"
                )
            yield number, source, target


class TextReader(TwoFiles):
    """Plain text, one sentence a line, blank lines between documents on both sides."""

    format: Literal["text"]

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        paths = self.paths(root)
        builder = DocumentBuilder.of(str(paths[0]))
        for number, source, target in self.pairs(root, report):
            blank = not source.strip(), not target.strip()
            if all(blank):
                yield from builder.close()
            elif any(blank):
                with_boundary, without = paths if blank[0] else reversed(paths)
                raise UserError(
                    f"{with_boundary}, line {number}: a document boundary (blank line), but"
                    f" {without} has text there; the sides must have the same boundaries"
                )
            else:
                builder.add(number, source, target)
        yield from builder.close()


class StartsReader(TwoFiles):
    """Text without blank lines and a file with the number of each document's first line.

    Numbers count from 0 or from 1; the first one tells which.
    """

    format: Literal["starts"]
    starts: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.starts
        starts = _read_starts(path, report)
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        number = 0
        for number, source, target in self.pairs(root, report):
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


class IdsReader(TwoFiles):
    """Text without blank lines and a file of document ids, one a line; equal neighbours are one."""

    format: Literal["ids"]
    ids: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.ids
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        current, number = "", 0
        ids = read_lines(path, report)
        for number, source, target in self.pairs(root, report):
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


class LinesReader(TwoFiles):
    """Text without any document marks, cut into pseudo-documents of equal size.

    The paper's high-resource corpus is made so, with 200 lines. Lines blank on both sides are left
    out; they count as a line.
    """

    format: Literal["lines"]
    size: int = Field(default=200, ge=1)

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the pseudo-documents."""
        builder = DocumentBuilder.of(str(self.paths(root)[0]))
        for number, source, target in self.pairs(root, report):
            if source.strip() or target.strip():
                builder.add(number, source, target)
            if number % self.size == 0:
                yield from builder.close()
        yield from builder.close()


class TsvReader(Settings):
    """One file with `document TAB source TAB target` a line; a run of equal ids is a document."""

    format: Literal["tsv"]
    file: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.file
        builder, current = DocumentBuilder.of(str(path)), ""
        for number, line in enumerate(read_lines(path, report), start=1):
            columns = line.split("\t")
            if len(columns) != 3:
                raise UserError(
                    f"{path}, line {number}: {len(columns)} columns; expected 3:"
                    " document, source, target"
                )
            if columns[0] != current:
                yield from builder.close(current)
                current = columns[0]
            builder.add(number, columns[1], columns[2])
        yield from builder.close(current)


class JsonlReader(Settings):
    """One document a line: `{"id": "...", "source": [...], "target": [...]}`."""

    format: Literal["jsonl"]
    file: Path

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        path = root / self.file
        for number, line in enumerate(read_lines(path, report), start=1):
            if not line.strip():
                continue
            try:
                item = parse_json(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}, line {number}: not valid JSON: {error}") from error
            source, target = (
                _sentences(item, key, path, number, report) for key in ("source", "target")
            )
            if len(source) != len(target):
                raise UserError(
                    f"{path}, line {number}: {len(source)} source sentences but {len(target)}"
                    " target sentences; the sides must be aligned"
                )
            document_id = str(item.get("id", number))
            yield Document(document_id, str(path), [number] * len(source), source, target)


def _sentences(item: object, key: str, path: Path, number: int, report: ReadReport) -> list[str]:
    sentences = item.get(key) if isinstance(item, dict) else None
    if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
        raise UserError(f"{path}, line {number}: {key!r} must be a list of strings")
    return [mend(sentence, str(path), report) for sentence in sentences]
