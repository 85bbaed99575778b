"""Reads texts with references for evaluation, in every format that `prepare` reads.

Context depends on documents, so a text that seems to have none gets a remark.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from concatmt.config import Config
from concatmt.corpus.document_marks import DocumentSizes
from concatmt.corpus.formats import Reader, format_named, format_of, whole_documents
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import Part
from concatmt.errors import UserError
from concatmt.evaluation.translations import Translated, check_documents, read_references
from concatmt.files import hash_file, hash_text
from concatmt.settings import load_settings

TEST = "test"  # the split of a configuration to evaluate on


@dataclass(frozen=True, slots=True)
class Text:
    """Documents with references."""

    name: str
    path: Path  # of the references, or of both sides
    hash: str
    load: Callable[[], list[Part]]  # all documents, each as one part
    remark: str | None = None  # a remark on its documents

    def parts(self, limit: int | None = None) -> list[Part]:
        """The first documents."""
        return self.load()[:limit]

    @property
    def references(self) -> Translated:
        """The translations that others are compared with."""
        return Translated(tuple(tuple(part.gold or ()) for part in self.load()))


def read_pair(given: str) -> Text:
    paths = [Path(part) for part in given.split(",")]
    if len(paths) not in (2, 3):
        raise UserError(
            f"--on {given}: write a text with its references as SOURCE,REFERENCE, or as"
            " SOURCE,REFERENCE,IDS with a file that has a document id for each line"
        )
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file")
    if len(paths) == 3:
        kind = "starts" if paths[2].suffix == ".starts" else "ids"
        return read_text(paths[0], paths[1], (paths[2], kind))
    return read_text(paths[0], paths[1])


def read_text(
    source: Path, target: Path | None = None, marks: tuple[Path, str] | None = None
) -> Text:
    """A text with its translation, or a file that has both.

    `marks`: a file that says where documents begin, instead of blank lines, and its format.
    """
    if target is not None and marks is not None:
        reader = format_named(marks[1]).of([source, target, marks[0]])
        return _corpus(source.name, target, [reader], Path())

    def load() -> list[Part]:
        files = [source] if target is None else [source, target]
        return whole_documents(files, format_of(source))

    if target is not None:
        file = read_references(target)
        check_documents(file, read_references(source))
        remark = boundary_remark(target, map(len, file.text.documents))
    else:
        remark = boundary_remark(source, map(len, load()))
    digest = hash_text(hash_file(source) + (hash_file(target) if target else ""))
    return Text(source.name, target or source, digest, load, remark)


def read_test_split(path: Path) -> Text:
    """The test split of a configuration for `prepare`, in any of its formats."""
    corpus, _ = load_settings(Config, path).to_prepare()
    if TEST not in corpus.splits:
        raise UserError(
            f"{path}: corpus.splits has no {TEST!r} to evaluate on; it has"
            f" {', '.join(corpus.splits)}"
        )
    return _corpus(path.stem, path, corpus.splits[TEST], corpus.root)


def _corpus(name: str, path: Path, readers: Sequence[Reader], root: Path) -> Text:
    def load() -> list[Part]:
        report = ReadReport()
        documents = (document for reader in readers for document in reader.documents(root, report))
        return [
            Part(str(number), source=list(document.source), gold=list(document.target))
            for number, document in enumerate(documents, start=1)
        ]

    parts = load()
    if not parts:
        raise UserError(f"{path}: no sentences")
    digest = hash_text(repr([(part.source, part.gold) for part in parts]))
    return Text(name, path, digest, load, boundary_remark(path, map(len, parts)))


def boundary_remark(path: Path, lengths: Iterable[int]) -> str | None:
    """The remark on a text that probably lacks its documents."""
    sizes = DocumentSizes()
    for length in lengths:
        sizes.add(length)
    if sizes.suspicion is None:
        return None
    return (
        f"{path}: {sizes.suspicion}; if that is wrong, put blank lines between the documents, or"
        " give a file with a document id for each line: --on SOURCE,REFERENCE,IDS"
    )
