"""Plain text: a sentence a line, blank lines between documents, a file for each language."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, Literal

from concatmt.corpus.document import Document
from concatmt.corpus.formats.by_line import STANDARD_INPUT, Rows, documents_of
from concatmt.corpus.formats.registry import TwoFiles, register
from concatmt.corpus.formats.sides import line_pairs
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import End, Part, Row, in_parts
from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import open_segments
from concatmt.segments.segment import SegmentedFile


@register
class TextFormat(TwoFiles):
    """Plain text, one sentence a line, blank lines between documents on both sides."""

    format: Literal["text"]
    written_back: ClassVar[tuple[str, ...]] = (".txt",)

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        paths = self.paths(root)
        return documents_of(_both(paths, report, strict=True), str(paths[0]))

    @classmethod
    def parts(
        cls,
        files: Sequence[Path],
        limit: int,
        report: ReadReport,
        lines: Iterator[str | None] | None = None,
    ) -> Iterator[Part | None]:
        """Stream a text, or lines as they come in, perhaps with the translations of a text."""
        source, *targets = files
        if len(targets) > 1:
            cls.of(files)  # says how many files there may be
        if not targets:
            return in_parts(_one(lines or read_lines(source, report)), limit)
        if lines is None:
            return in_parts(_both((source, targets[0]), report, strict=False), limit)
        return in_parts(_arriving(lines, targets[0], report), limit)

    @classmethod
    def open(cls, data: bytes, name: str, config: FileConfig, suffix: str) -> SegmentedFile:
        """Running text, whose paragraphs are split into sentences and wrapped as before."""
        return open_segments(data, name, config, suffix)


def _one(lines: Iterator[str | None]) -> Rows:
    number = 0
    for line in lines:
        number += line is not None
        if line is None:
            yield None
        else:
            yield Row(number, line) if line.strip() else End(blank=1)


def _both(paths: tuple[Path, Path], report: ReadReport, strict: bool) -> Rows:
    """Both sides; only where it is not `strict` may the translation of a sentence be empty."""
    for number, source, target in line_pairs(paths, report):
        blank = not source.strip(), not target.strip()
        if all(blank):
            yield End(blank=1)
        elif blank[0] or (strict and blank[1]):
            with_boundary, without = paths if blank[0] else reversed(paths)
            raise UserError(
                f"{with_boundary}, line {number}: a document boundary (blank line), but"
                f" {without} has text there; the sides must have the same boundaries"
            )
        else:
            yield Row(number, source, target)


def _arriving(lines: Iterator[str | None], target: Path, report: ReadReport) -> Rows:
    """A text that is not complete yet, with a file of its translations."""
    arrived = (line for line in lines if line is not None)
    pairs = zip_longest(arrived, read_lines(target, report))
    for number, (line, translation) in enumerate(pairs, start=1):
        if line is None or translation is None:
            raise UserError(
                f"{STANDARD_INPUT}, line {number}: the text and {target} differ in length; the"
                " sides must be aligned line by line"
            )
        yield Row(number, line, translation) if line.strip() else End(blank=1)
