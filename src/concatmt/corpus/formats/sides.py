"""Joins the two sides of a corpus, line by line or document by document."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from concatmt.corpus.document import Document, pair_documents
from concatmt.corpus.formats.registry import TwoFiles
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import End, Part, Row, in_parts
from concatmt.errors import UserError

NumberedSentences = list[tuple[int, str]]
Side = Iterator[tuple[str, NumberedSentences]]  # name and sentences of each document


def line_pairs(paths: tuple[Path, Path], report: ReadReport) -> Iterator[tuple[int, str, str]]:
    """(line number, source line, target line); sides of different length are an error."""
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


def side_parts(side: Side, limit: int) -> Iterator[Part | None]:
    """One side as parts."""

    def rows() -> Iterator[Row | End | None]:
        for number, (name, sentences) in enumerate(side):
            if number:
                yield End(blank=1)
            for line, sentence in sentences:
                yield Row(line, sentence, None, name)

    return in_parts(rows(), limit)


class TwoSides(TwoFiles):
    """Base class of formats whose sides are read separately and joined by document."""

    @abstractmethod
    def side(self, path: Path, report: ReadReport) -> Side:
        """The documents of one language."""

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        source, target = self.paths(root)
        sides = self.side(source, report), self.side(target, report)
        return pair_documents(*sides, (str(source), str(target)))

    @classmethod
    def parts(
        cls,
        files: Sequence[Path],
        limit: int,
        report: ReadReport,
        lines: Iterator[str | None] | None = None,
    ) -> Iterator[Part | None]:
        """Stream both sides or only the source."""
        if len(files) != 1 or lines is not None:
            return super().parts(files, limit, report, lines)
        alone = cls(format=cls.name(), source=files[0], target=files[0])
        return side_parts(alone.side(files[0], report), limit)
