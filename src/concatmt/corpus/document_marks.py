"""Warns when a corpus seems to lack its document boundaries, and finds files that have them.

Missing boundaries cause no error: everything becomes one document, and windows join unrelated
sentences. Does not know readers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from concatmt.corpus.document import Document

MANY = 300  # sentences; fewer may well be one document, such as a talk or an episode
SHARE = 0.5  # of all sentences; a longer document dominates the windows
SUFFIXES = {".docs": "ids", ".ids": "ids", ".starts": "starts"}  # of files of marks -> format


@dataclass
class DocumentSizes:
    """How many sentences the documents of a corpus have."""

    documents: int = 0
    sentences: int = 0
    longest: int = 0

    def add(self, sentences: int) -> None:
        """Count a document of this size."""
        self.documents += 1
        self.sentences += sentences
        self.longest = max(self.longest, sentences)

    def count(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass documents through and count them."""
        for document in documents:
            self.add(len(document))
            yield document

    @property
    def suspicion(self) -> str | None:
        """What looks wrong with them, or None."""
        if self.sentences < MANY:
            return None
        if self.documents == 1:
            return f"all {self.sentences:,} sentences are one document"
        if self.longest > SHARE * self.sentences:
            return f"one document has {self.longest:,} of the {self.sentences:,} sentences"
        if self.longest == 1:
            return f"each of the {self.sentences:,} sentences is a document: there is no context"
        return None


def marks_beside(text: Path) -> tuple[Path, str] | None:
    """A file with document marks beside a text, found by name, and the format that reads it."""
    plain = text.with_suffix("") if text.suffix == ".gz" else text
    for suffix, kind in SUFFIXES.items():
        path = plain.with_suffix(suffix)
        if path != text and path.is_file():
            return path, kind
    return None
