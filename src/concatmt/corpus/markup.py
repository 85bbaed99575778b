"""Readers of the formats in which the paper's corpora are published.

Voita's four-sentence lines, WIT3 training files with their tags (IWSLT), SGM files (WMT test sets,
and IWSLT's dev and test files, which are named .xml but written in the same way), WMT's newer XML.
"""

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from concatmt.corpus.document import Document, pair_documents
from concatmt.corpus.lines import ReadReport, mend, read_lines
from concatmt.corpus.readers import TwoFiles
from concatmt.errors import UserError
from concatmt.settings import Settings

CLOSING_TAG = re.compile(r"</\w+>$")
SGM_TAG = re.compile(r"<(/?)(doc|seg)\b([^<>]*)>", re.IGNORECASE)
NumberedSentences = list[tuple[int, str]]


class VoitaReader(TwoFiles):
    """Voita et al. (2019): a document a line, its sentences joined by ` _eos `."""

    format: Literal["voita"]

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        origin = self.paths(root)[0]
        for number, *sides in self.pairs(root, report):
            source, target = (_split_voita(side) for side in sides)
            if len(source) != len(target):
                raise UserError(
                    f"{origin}, line {number}: {len(source)} sentences but {len(target)} in"
                    f" {self.target}; both need the same number of ' _eos '"
                )
            lines = [number] * len(source)
            yield Document(str(number), str(origin), lines, source, target)


def _split_voita(line: str) -> list[str]:
    return [sentence.strip() for sentence in re.split(r"(?<!\S)_eos(?!\S)", line)]


class Wit3Reader(TwoFiles):
    """IWSLT training files (`train.tags.en-de.en`): lines with tags around the lines of a talk.

    Title and description are sentences of the talk, as in the paper's data, unless `titles` is
    off. Any other tag is left out and ends the talk before it.
    """

    format: Literal["wit3"]
    titles: bool = True

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the talks."""
        source, target = self.paths(root)
        names = str(source), str(target)
        return pair_documents(self._talks(source, report), self._talks(target, report), names)

    def _talks(self, path: Path, report: ReadReport) -> Iterator[tuple[str, NumberedSentences]]:
        talk: NumberedSentences = []
        name, count = "", 0
        for number, line in enumerate(read_lines(path, report), start=1):
            line = line.strip()
            tag = re.match(r"<(/?\w+)[^>]*>", line)
            # Not by one expression: its time would grow with the cube of a row of spaces.
            text = "" if tag is None else CLOSING_TAG.sub("", line[tag.end() :]).strip()
            if tag is None:
                if line:
                    talk.append((number, line))
            elif tag[1] in ("title", "description"):
                if self.titles and text:
                    talk.append((number, text))
            else:
                if talk:
                    count += 1
                    yield name or str(count), talk
                    name, talk = "", []
                if tag[1] == "talkid":
                    name = text
        if talk:
            yield name or str(count + 1), talk


class SgmReader(Settings):
    """SGM: `<doc docid=...>` around `<seg>` sentences. Several files per side are read in order."""

    format: Literal["sgm"]
    source: list[Path]
    target: list[Path]

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents."""
        if len(self.source) != len(self.target):
            raise UserError(f"{len(self.source)} source files but {len(self.target)} target files")
        for source, target in zip(self.source, self.target, strict=True):
            paths = root / source, root / target
            sides = (_sgm_documents(path, report) for path in paths)
            yield from pair_documents(next(sides), next(sides), (str(paths[0]), str(paths[1])))


def _sgm_documents(path: Path, report: ReadReport) -> Iterator[tuple[str, NumberedSentences]]:
    document: NumberedSentences = []
    name, count, start = "", 0, 0
    pending: list[str] = []
    opened = 0  # sentences that go on over the end of the line
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
                found = re.search(r'\b(?:docid|id)="([^"]*)"', attributes)
                count += 1
                name = found[1] if found else str(count)
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
    """(attributes, None) where a document opens, (None, None) where one closes, and sentences."""
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


class WmtXmlReader(Settings):
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
