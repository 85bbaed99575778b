"""The type for a document: ordered sentences with their translations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concatmt.errors import UserError

# A reader that finds no boundary in this many lines probably has the wrong format.
LONGEST_DOCUMENT = 200_000


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences of one document on both sides, and their origin.

    `gaps` holds indices of sentences right before which something was dropped;
    no window reaches across such a place.
    """

    id: str
    origin: str  # the file, for messages
    lines: list[int]  # line number of each sentence in it
    source: list[str]
    target: list[str]
    gaps: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.source)


@dataclass(slots=True)
class DocumentBuilder:
    """Collects sentence pairs until a reader sees the end of their document."""

    origin: str
    lines: list[int]
    source: list[str]
    target: list[str]
    finished: int = 0

    @classmethod
    def of(cls, origin: str) -> "DocumentBuilder":
        """An empty builder; `origin` is the file being read."""
        return cls(origin, [], [], [])

    def add(self, line: int, source: str, target: str) -> None:
        """Append a sentence pair found at `line`."""
        if len(self.lines) == LONGEST_DOCUMENT:
            raise UserError(
                f"{self.origin}: no document boundary in {LONGEST_DOCUMENT:,} lines before line"
                f" {line:,}; if it has none, use format 'lines', which cuts pseudo-documents"
            )
        self.lines.append(line)
        self.source.append(source)
        self.target.append(target)

    def close(self, name: str = "") -> Iterator[Document]:
        """Yield the document collected so far, if it has sentences, and start the next."""
        if self.lines:
            self.finished += 1
            document_id = name or str(self.finished)
            yield Document(document_id, self.origin, self.lines, self.source, self.target)
            self.lines, self.source, self.target = [], [], []


def pair_documents(
    source: Iterator[tuple[str, Sequence[tuple[int, str]]]],
    target: Iterator[tuple[str, Sequence[tuple[int, str]]]],
    names: tuple[str, str],
) -> Iterator[Document]:
    """Join the two sides of a corpus whose files are read separately, document by document.

    Each side yields (document id, [(line, sentence), ...]); `names` are the two files.
    """
    count = 0
    while True:
        left, right = next(source, None), next(target, None)
        if left is None and right is None:
            return
        count += 1
        if left is None or right is None:
            ended = names[0] if left is None else names[1]
            raise UserError(
                f"{ended}: ends before document {count}, which should be in both {names}"
            )
        (document_id, pairs), (_, others) = left, right
        if len(pairs) != len(others):
            where = f"{names[0]}, line {pairs[0][0]}" if pairs else names[0]
            raise UserError(
                f"{where}: document {document_id!r} has {len(pairs)} sentences but"
                f" {len(others)} in {names[1]}; the sides must be aligned"
            )
        yield Document(
            document_id,
            names[0],
            [line for line, _ in pairs],
            [sentence for _, sentence in pairs],
            [sentence for _, sentence in others],
        )
