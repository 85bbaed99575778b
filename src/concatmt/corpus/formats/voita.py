"""The `voita` format of Voita et al. (2019): one document per line."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from concatmt.corpus.document import Document
from concatmt.corpus.formats.registry import register
from concatmt.corpus.formats.sides import TwoSides, line_pairs
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import Side
from concatmt.errors import UserError


@register
class VoitaFormat(TwoSides):
    """Voita et al. (2019): one document per line, its sentences joined by ` _eos `."""

    format: Literal["voita"]

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        paths = self.paths(root)
        origin = str(paths[0])
        for number, *sides in line_pairs(paths, report):
            source, target = (_sentences(side) for side in sides)
            if len(source) != len(target):
                raise UserError(
                    f"{origin}, line {number}: {len(source)} sentences but {len(target)} in"
                    f" {self.target}; both need the same number of ' _eos '"
                )
            yield Document(str(number), origin, [number] * len(source), source, target)

    def side(self, path: Path, report: ReadReport) -> Side:
        """The documents of one language."""
        for number, line in enumerate(read_lines(path, report), start=1):
            yield str(number), [(number, sentence) for sentence in _sentences(line)]


def _sentences(line: str) -> list[str]:
    return [sentence.strip() for sentence in re.split(r"(?<!\S)_eos(?!\S)", line)]
