"""The `xliff` format: translation units with both languages."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar, Literal

from concatmt.corpus.document import Document
from concatmt.corpus.formats.registry import DocumentFormat, register
from concatmt.corpus.lines import ReadReport
from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import open_pieces, open_segments
from concatmt.segments.segment import SegmentedFile
from concatmt.segments.xliff import Xliff


@register
class XliffFormat(DocumentFormat):
    """XLIFF 1.2 or 2.x: units with a translation; those without leave gaps."""

    format: Literal["xliff"]
    file: Path
    suffixes: ClassVar[tuple[str, ...]] = (".xlf", ".xliff")
    written_back: ClassVar[tuple[str, ...]] = (".xlf", ".xliff")

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """The file as one document; a unit's number serves as its line."""
        path = root / self.file
        if not path.is_file():
            raise UserError(f"{path}: no such file; check the path in the config")
        content = open_segments(path.read_bytes(), str(path), FileConfig())
        assert isinstance(content, Xliff)
        lines, sources, targets, gaps = [], [], [], set()
        for number, (source, target) in enumerate(content.pairs, start=1):
            if source and target:
                lines.append(number)
                sources.append(source)
                targets.append(target)
            else:
                gaps.add(len(lines))
        if not lines:
            raise UserError(f"{path}: no unit in it has a translation")
        inside = tuple(sorted(gaps - {0, len(lines)}))
        yield Document(path.name, str(path), lines, sources, targets, inside)

    @classmethod
    def open(
        cls, file: BinaryIO, name: str, config: FileConfig, suffix: str
    ) -> Iterator[SegmentedFile]:
        """The file, to be written back with translations."""
        return open_pieces(file, name, config, suffix)
