"""Reads files of translations and references: text or JSONL.

Reads what `translate` writes. Does not know measures.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from concatmt.corpus.formats import whole_documents
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
    file = _file(path, [(part.document, part.source) for part in whole_documents([path])])
    if not file.names:
        raise UserError(f"{path}: no sentences")
    return file


def read_translations(path: Path, references: Path | None = None) -> TranslationFile:
    """What `translate` wrote; a text takes its documents from the lines of `references`.

    In a text an empty translation looks like the end of a document; beside the references it does
    not.
    """
    if path.suffix == ".jsonl":
        return _read_jsonl(path)
    if references is None or references.suffix == ".jsonl":
        return _file(path, [(part.document, part.source) for part in whole_documents([path])])
    counts = {sum(1 for _ in read_lines(file, ReadReport())) for file in (path, references)}
    if len(counts) > 1:  # the document is easier to find than the line
        check_aligned(read_translations(path).text, read_references(references).text, str(path))
    aligned = whole_documents([references, path])
    return _file(path, [(part.document, part.gold or []) for part in aligned])


def _file(path: Path, documents: Iterable[tuple[str, Sequence[str]]]) -> TranslationFile:
    texts: dict[str, list[str]] = {}
    for name, sentences in documents:
        texts.setdefault(name, []).extend(sentences)
    return TranslationFile(str(path), tuple(texts), Translated(tuple(map(tuple, texts.values()))))


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
