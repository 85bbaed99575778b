"""Cuts the input into chunks that are translated one at a time, so that memory stays bounded.

Where chunks begin depends only on the input and the mode. A chunk is translated by one process
and written at once, which makes the bytes of an output independent of the number of processes and
of interruptions. A document longer than a chunk continues in the next, of the same group.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from concatmt.corpus.parts import Part
from concatmt.files import hash_text


@dataclass(frozen=True)
class ChunkSize:
    """When a chunk is full: by number of sentences or of parts of documents."""

    sentences: int
    parts: int


# Windows of `redecode` are independent: a chunk is as much as is worth sorting by length. In
# `prefix` documents are translated side by side: a chunk has many of them, whatever their length.
SIZES = {"redecode": ChunkSize(1024, 1024), "prefix": ChunkSize(8192, 256)}


@dataclass
class Chunk:
    """Parts of documents; only the first may continue a document of the chunk before."""

    index: int
    group: int  # chunks of one group depend on each other
    parts: list[Part] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def hash(self) -> str:
        """Hash of everything that the translation depends on."""
        return hash_text(
            repr([(p.document, p.first, p.source, p.gold, p.blank) for p in self.parts])
        )


def cut_chunks(parts: Iterable[Part | None], size: ChunkSize) -> Iterator[Chunk]:
    """Chunks of `size`, or smaller ones where the input pauses (None)."""
    chunk = Chunk(0, 0)
    for part in parts:
        if part is not None:
            if not chunk.parts and part.first == 0:
                chunk.group = chunk.index  # it continues no document of the chunk before
            chunk.parts.append(part)
        full = len(chunk) >= size.sentences or len(chunk.parts) >= size.parts
        if chunk.parts and (part is None or full):
            yield chunk
            chunk = Chunk(chunk.index + 1, chunk.group)
    if chunk.parts:
        yield chunk
