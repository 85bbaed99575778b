"""Reads files of translations and references: text or JSONL.

Reads what `translate` writes. Does not know measures.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.json_text import parse_json
from concatmt.signature import Signature


@dataclass(frozen=True, slots=True)
class Translated:
    """Translations of a test set, by document."""

    documents: tuple[tuple[str, ...], ...]

    @property
    def sentences(self) -> list[str]:
        return [sentence for document in self.documents for sentence in document]


@dataclass(frozen=True, slots=True)
class TranslationFile:
    """Translations by document, with their signature if the file has one."""

    path: str
    names: tuple[str, ...]
    text: Translated
    signature: Signature | None = None


def read_references(path: Path) -> TranslationFile:
    """Text, or JSONL with documents as lines (`id`, `target`)."""
    if path.suffix == ".jsonl":
        return _read_documents(path)
    names, documents = _split(list(read_lines(path, ReadReport())))
    if not documents:
        raise UserError(f"{path}: no sentences")
    return TranslationFile(str(path), names, Translated(documents))


def read_translations(path: Path, references: Path | None = None) -> TranslationFile:
    """What `translate` wrote; a text takes its documents from the lines of `references`.

    In a text an empty translation looks like the end of a document; beside the references it does
    not.
    """
    if path.suffix == ".jsonl":
        return _read_jsonl(path)
    lines = list(read_lines(path, ReadReport()))
    if references is None or references.suffix == ".jsonl":
        names, documents = _split(lines)
        return TranslationFile(str(path), names, Translated(documents))
    others = list(read_lines(references, ReadReport()))
    if len(lines) != len(others):
        check_aligned(Translated(_split(lines)[1]), Translated(_split(others)[1]), str(path))
        raise UserError(
            f"{path}: {len(lines):,} lines, but {references} has {len(others):,}; blank lines"
            " between documents must be the same"
        )
    for number, (line, other) in enumerate(zip(lines, others, strict=True), start=1):
        if line.strip() and not other.strip():
            raise UserError(
                f"{path}, line {number}: a sentence where {references} has the end of document"
                f" {len(_split(others[:number])[1])}; the two do not belong together"
            )
    names, documents = _split(lines, others)
    return TranslationFile(str(path), names, Translated(documents))


def check_aligned(translations: Translated, references: Translated, what: str) -> None:
    """Refuse translations that are not sentence by sentence those of the references."""
    pairs = zip(translations.documents, references.documents, strict=False)
    for number, (ours, theirs) in enumerate(pairs, start=1):
        if len(ours) != len(theirs):
            raise UserError(
                f"{what}: document {number} has {len(ours)} sentences, its reference"
                f" {len(theirs)}; translate it again, one line in, one line out"
            )
    if len(translations.documents) != len(references.documents):
        raise UserError(
            f"{what}: {len(translations.documents):,} documents, but the references have"
            f" {len(references.documents):,}; give the references of the same test set"
        )


def check_documents(file: TranslationFile, source: TranslationFile) -> None:
    """Refuse a file that has other documents than the source text, saying which."""
    pairs = zip(file.text.documents, source.text.documents, strict=False)
    for number, (ours, theirs) in enumerate(pairs, start=1):
        if len(ours) != len(theirs):
            raise UserError(
                f"{file.path}: document {number} has {len(ours)} sentences, in {source.path}"
                f" {len(theirs)}; the two do not belong together"
            )
    if len(file.text.documents) != len(source.text.documents):
        raise UserError(
            f"{file.path}: {len(file.text.documents):,} documents, but {source.path} has"
            f" {len(source.text.documents):,}; the two do not belong together"
        )


def _split(
    lines: list[str], like: list[str] | None = None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Names and documents; a blank line ends one, in `like` if that is given."""
    documents: list[tuple[str, ...]] = []
    current: list[str] = []
    for line, other in zip([*lines, ""], [*(like or lines), ""], strict=True):
        if other.strip():
            current.append(line)
        elif current:
            documents.append(tuple(current))
            current = []
    return tuple(str(n) for n in range(1, len(documents) + 1)), tuple(documents)


def _read_jsonl(path: Path) -> TranslationFile:
    """The JSONL of `translate`: a signature, then one sentence a line."""
    signature = None
    documents: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        try:
            record = parse_json(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON ({error}); translate again") from error
        if number == 1 and isinstance(record, dict) and "signature" in record:
            signature = Signature(record["signature"])
            continue
        if not isinstance(record, dict) or not {"document", "translation"} <= record.keys():
            raise UserError(
                f"{where}: no 'document' and 'translation'; give a file that 'concatmt translate"
                " --format jsonl' wrote"
            )
        documents.setdefault(str(record["document"]), []).append(str(record["translation"]))
    if not documents:
        raise UserError(f"{path}: no translations")
    text = Translated(tuple(map(tuple, documents.values())))
    return TranslationFile(str(path), tuple(documents), text, signature)


def _read_documents(path: Path) -> TranslationFile:
    documents: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        try:
            record = parse_json(line)
            documents[str(record.get("id", number))] = tuple(map(str, record["target"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path}, line {number}: not a document with a list 'target'; give references as"
                " text, or as JSONL with one document a line"
            ) from error
    if not documents:
        raise UserError(f"{path}: no documents")
    return TranslationFile(str(path), tuple(documents), Translated(tuple(documents.values())))
