"""The `text` format: one sentence per line, blank lines between documents."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, ClassVar, Literal

from concatmt.corpus.document import Document
from concatmt.corpus.formats.by_line import STANDARD_INPUT, Rows, documents_of
from concatmt.corpus.formats.registry import TwoFiles, register
from concatmt.corpus.formats.sides import line_pairs
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import End, Part, Row, in_parts
from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import open_pieces
from concatmt.segments.running_text import kind_for
from concatmt.segments.segment import SegmentedFile
from concatmt.segments.spans import encoding_of
from concatmt.segments.text_kind import SAMPLE, TextKind, kind_of_file

NAMED = 3  # files that a message names


@register
class TextFormat(TwoFiles):
    """Plain text, one sentence per line, blank lines between documents on both sides."""

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
        """Stream a text, or lines as they arrive, with or without translations."""
        source, *targets = files
        if len(targets) > 1:
            cls.of(files)  # raises an error that says how many files are needed
        if not targets:
            return in_parts(_one(lines or read_lines(source, report)), limit)
        if lines is None:
            return in_parts(_both((source, targets[0]), report, strict=False), limit)
        return in_parts(_arriving(lines, targets[0], report), limit)

    @classmethod
    def comes_back(cls, path: Path, config: FileConfig) -> bool:
        """Running text does, and lines in another encoding; other lines are streamed."""
        if not path.is_file():
            return config.split == "sentences"  # a pipe, which is streamed
        begin, encoding = _begin(path, config)
        kind = kind_for(config.split, begin, encoding)
        return kind != "lines" or encoding.lower().replace("_", "-") not in ("utf-8", "utf8")

    @classmethod
    def open(
        cls, file: BinaryIO, name: str, config: FileConfig, suffix: str
    ) -> Iterator[SegmentedFile]:
        """Running text, whose paragraphs are split into sentences and wrapped as before."""
        return open_pieces(file, name, config, suffix)


_SAID = {
    "lines": "a sentence a line; if it is running text, say --split sentences",
    "paragraphs": "running text, a paragraph a line, split into sentences; else say --split lines",
    "wrapped": "running text of wrapped lines, split into sentences; else say --split lines",
}


def decisions(paths: Sequence[Path], config: FileConfig) -> list[str]:
    """What `--split auto` makes of texts, to be told: a line for each kind that there is."""
    by_kind: dict[TextKind, list[str]] = {}
    for path in paths:
        known = path.suffix.lower() in TextFormat.written_back and path.is_file()
        if known and config.split == "auto":
            by_kind.setdefault(kind_of_file(*_begin(path, config)), []).append(str(path))
    return [
        f"{', '.join(names[:NAMED])}{f' and {more:,} more' if more > 0 else ''}: {_SAID[kind]}"
        for kind, names in by_kind.items()
        for more in [len(names) - NAMED]
    ]


def _begin(path: Path, config: FileConfig) -> tuple[bytes, str]:
    """The first megabyte of a file, and its encoding."""
    with path.open("rb") as file:
        data = file.read(SAMPLE)
    return data, encoding_of(data, config.encoding)


def _one(lines: Iterator[str | None]) -> Rows:
    number = 0
    for line in lines:
        number += line is not None
        if line is None:
            yield None
        else:
            yield Row(number, line) if line.strip() else End(blank=1)


def _both(paths: tuple[Path, Path], report: ReadReport, strict: bool) -> Rows:
    """Both sides; unless `strict`, a translation may be empty."""
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
    """A text that is still arriving, with a file of its translations."""
    arrived = (line for line in lines if line is not None)
    pairs = zip_longest(arrived, read_lines(target, report))
    for number, (line, translation) in enumerate(pairs, start=1):
        if line is None or translation is None:
            raise UserError(
                f"{STANDARD_INPUT}, line {number}: the text and {target} differ in length; the"
                " sides must be aligned line by line"
            )
        yield Row(number, line, translation) if line.strip() else End(blank=1)
