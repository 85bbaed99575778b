"""Joins the two sides of a corpus, line by line or document by document."""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from concatmt.corpus.document import Document, pair_documents
from concatmt.corpus.formats.registry import TwoFiles
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import Side
from concatmt.errors import UserError


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
    def source_alone(cls, path: Path, report: ReadReport) -> Side:
        """The documents of one file."""
        return cls(format=cls.name(), source=path, target=path).side(path, report)
