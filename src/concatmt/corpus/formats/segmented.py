"""Formats with markup (subtitles, pages, books), written back with sentences translated.

`segments` reads them. As a corpus they have a file for each language, with the same sentences
in both.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import create_model

from concatmt.corpus.formats.registry import register
from concatmt.corpus.formats.sides import TwoSides
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import NumberedSentences, Side
from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import READERS, open_pieces, open_segments
from concatmt.segments.segment import Segment, SegmentedFile

# Text is read as lines by default, and the others hold both languages.
ELSEWHERE = (".txt", ".xlf", ".xliff", ".tmx")


class SegmentedFormat(TwoSides):
    """A file with times or markup for each language; sentences are found in it."""

    languages: tuple[str, str] = ("en", "en")  # how each side is split into sentences

    def side(self, path: Path, report: ReadReport) -> Side:
        """The sentences of a file; a gap (new scene, new chapter) starts a document."""
        language = self.languages[path == self.target and self.target != self.source]
        yield from by_gap(read_segments(path, FileConfig(source_language=language)))

    @classmethod
    def open(
        cls, file: BinaryIO, name: str, config: FileConfig, suffix: str
    ) -> Iterator[SegmentedFile]:
        """The file, to be written back around translations."""
        return open_pieces(file, name, config, suffix)


def read_segments(path: Path, config: FileConfig) -> list[Segment]:
    """The sentences of a file with markup."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; check the path in the config")
    return list(open_segments(path.read_bytes(), str(path), config).segments)


def by_gap(segments: list[Segment]) -> Side:
    """Split segments into documents at gaps; documents are named by number."""
    document: NumberedSentences = []
    count = 0
    for number, segment in enumerate(segments, start=1):
        if segment.gap and document:
            count += 1
            yield str(count), document
            document = []
        document.append((number, segment.text))
    if document:
        yield str(count + 1), document


def _register(suffix: str) -> None:
    name = suffix.removeprefix(".")
    only: Any = Literal[name]
    format_ = create_model(
        f"{name.capitalize()}Format",
        __base__=SegmentedFormat,
        __module__=__name__,
        __doc__=f"A {suffix} file for each language; sentences are found in it.",
        format=(only, ...),
    )
    format_.suffixes = format_.written_back = (suffix,)
    register(format_)


for _suffix in READERS:
    if _suffix not in ELSEWHERE:
        _register(_suffix)
