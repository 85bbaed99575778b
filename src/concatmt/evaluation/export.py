"""Formats translations for tools that run elsewhere: COMET, SLIDE, MuDA, ctxpro.

The formats are documented in docs/evaluation.md. Neither knows models nor writes files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from concatmt.errors import UserError
from concatmt.evaluation.expectations import Expectation
from concatmt.evaluation.translations import (
    TranslationFile,
    check_documents,
    read_references,
    read_translations,
)

COLUMNS = ("src", "mt", "ref")


@dataclass(frozen=True, slots=True)
class Document:
    """The sentences of a document on each side, in the order of the columns."""

    number: int  # from 1
    sides: tuple[tuple[str, ...], ...]


def read_sides(
    source: Path, translations: Sequence[Path], references: Path | None
) -> list[Document]:
    """Documents of a source text, its translations and perhaps references, sentence by sentence."""
    text = read_references(source)
    files = [read_translations(path, source) for path in translations]
    if references is not None:
        files.append(read_references(references))
    for file in files:
        check_documents(file, text)
    columns = [text.text.documents, *(file.text.documents for file in files)]
    return [Document(n, sides) for n, sides in enumerate(zip(*columns, strict=True), start=1)]


def window_starts(length: int, window: int, stride: int) -> list[int]:
    """Where windows start in a document, so that every sentence is in one.

    Every `stride` sentences; the rest is covered by one more window that ends with the
    document. A document shorter than a window is one window.
    """
    if stride > window:
        raise UserError(f"--stride {stride}: sentences would be left out; at most {window}")
    starts = list(range(0, max(1, length - window + 1), stride))
    if starts[-1] + window < length:
        starts.append(length - window)
    return starts


def comet_lines(documents: Sequence[Document], window: int, stride: int) -> Iterator[str]:
    """A header, then one line for each window: source, translation and reference, by tabs."""
    yield "\t".join(COLUMNS[: len(documents[0].sides)])
    for document in documents:
        for start in window_starts(len(document.sides[0]), window, stride):
            cells = [" ".join(side[start : start + window]) for side in document.sides]
            if any("\t" in cell for cell in cells):
                raise UserError(f"document {document.number}: has a tab, which separates columns")
            yield "\t".join(cells)


def muda_columns(documents: Sequence[Document]) -> tuple[list[list[str]], list[str]]:
    """The lines of every side, one sentence each, and the number of each line's document."""
    sides = [
        [sentence for document in documents for sentence in document.sides[place]]
        for place in range(len(documents[0].sides))
    ]
    numbers = [str(document.number) for document in documents for _ in document.sides[0]]
    return sides, numbers


def ctxpro_lines(file: TranslationFile, items: Sequence[Expectation]) -> Iterator[str]:
    """The translation of each item's current sentence, in the order of the set."""
    translated = dict(zip(file.names, file.text.documents, strict=True))
    for item in items:
        if item.item.id not in translated:
            raise UserError(
                f"{file.path}: no document {item.item.id!r}; translate the items themselves"
            )
        yield translated[item.item.id][-1]
