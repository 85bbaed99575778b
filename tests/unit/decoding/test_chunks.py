"""Input is cut into chunks; chunks that depend on each other share a group."""

from concatmt.corpus.parts import Part
from concatmt.decoding.chunks import ChunkSize, cut_chunks

SIZE = ChunkSize(sentences=4, parts=8)


def part(document: str, first: int = 0, length: int = 4) -> Part:
    return Part(document, first, [f"{document}{first + i}" for i in range(length)])


def groups(*parts: Part | None) -> list[int]:
    return [chunk.group for chunk in cut_chunks(parts, SIZE)]


def test_documents_that_fill_a_chunk_each_have_a_group_each() -> None:
    assert groups(*(part(name) for name in "abcdefgh")) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_a_document_longer_than_a_chunk_stays_in_one_group() -> None:
    assert groups(part("a"), part("a", 4), part("a", 8), part("b"), part("b", 4)) == [0, 0, 0, 3, 3]


def test_a_chunk_that_continues_a_document_passes_its_group_on() -> None:
    # The second chunk ends the first document and begins another, which the third continues.
    parts = [part("a"), part("a", 4, 1), part("b", 0, 3), part("b", 3), part("c")]
    assert groups(*parts) == [0, 0, 0, 3]


def test_a_pause_in_the_input_ends_a_chunk_and_its_group() -> None:
    assert groups(part("a", 0, 1), None, part("b", 0, 1), None, None, part("b", 1, 1)) == [0, 1, 1]
