"""Finds the parallel corpora in a folder, and counts what is in them.

Uses the registered formats: pairs of texts are found by their language suffixes, with a file of
document marks if there is one; TMX, XLIFF, TSV and JSONL by their own. Does not know models.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from concatmt.corpus.document import Document
from concatmt.corpus.document_marks import DocumentSizes, marks_beside
from concatmt.corpus.formats import DocumentFormat, format_named, format_of
from concatmt.corpus.lines import ReadReport
from concatmt.errors import UserError

LANGUAGE = re.compile(r"\.([a-z]{2,3}(?:[-_][A-Za-z]{2,4})?)(?:\.gz)?$")
NO_LANGUAGES = frozenset(("docs", "ids", "txt", "tsv", "tmx", "xlf", "gz", "md", "log", "xml"))
# Words in file names, and the split that they mean.
SPLIT_WORDS = {
    "valid": ("dev", "valid", "validation", "val", "devtest", "tune"),
    "test": ("test", "tst", "eval"),
}
PIVOT = "en"  # the source unless the user says otherwise


@dataclass
class SplitFiles:
    """The corpora of a split and their counts."""

    readers: list[DocumentFormat] = field(default_factory=list)
    sizes: DocumentSizes = field(default_factory=DocumentSizes)
    words: tuple[int, int] = (0, 0)  # source, target

    def documents(self, root: Path) -> Iterator[Document]:
        """The documents of all its corpora."""
        for reader in self.readers:
            yield from reader.documents(root, ReadReport())

    def count(self, root: Path) -> None:
        """Read everything once and count it."""
        source = target = 0
        for document in self.sizes.count(self.documents(root)):
            source += sum(len(sentence.split()) for sentence in document.source)
            target += sum(len(sentence.split()) for sentence in document.target)
        self.words = (source, target)


@dataclass
class Corpora:
    """The parallel corpora of a folder."""

    root: Path
    languages: tuple[str, str]
    splits: dict[str, SplitFiles]  # train, and valid and test if there are any
    notes: list[str]  # guesses and omissions to report

    @classmethod
    def find(cls, root: Path, source: str | None = None, target: str | None = None) -> "Corpora":
        """Find the corpora of a folder; if there are none, the error says what would be one."""
        if not root.is_dir():
            raise UserError(f"{root}: no such folder")
        files = sorted(path for path in root.iterdir() if path.is_file())
        stems = _by_stem(files)
        notes: list[str] = []
        languages = _languages(root, stems, source, target, notes)
        splits: dict[str, SplitFiles] = {}
        for stem, of_stem in stems.items():
            if set(languages) <= of_stem.keys():
                pair = [of_stem[language] for language in languages]
                _take(splits, stem, _two_files(pair), notes)
        for path in files:
            if LANGUAGE.search(path.name) is None and _suffix_of(path) is not None:
                _take(splits, path.stem, _one_file(path), notes)
        if "train" not in splits:
            raise UserError(
                f"{root}: no parallel corpus for {languages[0]}-{languages[1]} to train on: give"
                f" train.{languages[0]} with train.{languages[1]}, or a TMX, TSV or JSONL file"
            )
        return cls(root, languages, splits, notes)


def _by_stem(files: Sequence[Path]) -> dict[str, dict[str, Path]]:
    """Name without language -> language -> file."""
    stems: dict[str, dict[str, Path]] = {}
    for path in files:
        match = LANGUAGE.search(path.name)
        if match is not None and match[1] not in NO_LANGUAGES:
            stems.setdefault(path.name[: match.start()], {})[match[1]] = path
    return stems


def _languages(
    root: Path,
    stems: dict[str, dict[str, Path]],
    source: str | None,
    target: str | None,
    notes: list[str],
) -> tuple[str, str]:
    """The languages asked for, or the only two that there are texts in."""
    if source is not None and target is not None:
        return source, target
    known = sorted({language for files in stems.values() if len(files) > 1 for language in files})
    given = source or target
    if given is not None:
        known = [given, *(language for language in known if language != given)]
    if len(known) != 2:
        there = f"there are texts in {', '.join(known)}" if known else "there is no pair of texts"
        raise UserError(
            f"{root}: {there}; give --source and --target, the suffixes of the two languages"
        )
    if given is None:
        known.sort(key=lambda language: language != PIVOT)
        notes.append(f"from {known[0]} into {known[1]}; --source {known[1]} reverses it")
    return (known[1], known[0]) if target is not None else (known[0], known[1])


def _suffix_of(path: Path) -> str | None:
    """The suffix of a format that holds both languages, or None."""
    try:
        name = format_of(path)
    except UserError:
        return None
    return name if name in ("tmx", "tsv", "jsonl", "xliff") else None


def _one_file(path: Path) -> DocumentFormat:
    return format_named(format_of(path)).of([Path(path.name)])


def _two_files(pair: Sequence[Path]) -> DocumentFormat:
    """A pair of texts, with their file of document boundaries if there is one."""
    names = [Path(path.name) for path in pair]
    marks = marks_beside(pair[0])
    if marks is not None:
        return format_named(marks[1]).of([*names, Path(marks[0].name)])
    return format_named("text").of(names)


def _take(
    found: dict[str, SplitFiles], name: str, reader: DocumentFormat, notes: list[str]
) -> None:
    """Add a corpus to the split that its name says; one development and one test set are enough."""
    words = re.split(r"[^a-z]+", name.lower())
    kinds = [kind for kind, of_kind in SPLIT_WORDS.items() if set(words) & set(of_kind)]
    kind = kinds[0] if kinds else "train"
    if kind != "train" and kind in found:
        notes.append(f"{name}: left out, as there is another {kind} set")
        return
    found.setdefault(kind, SplitFiles()).readers.append(reader)
