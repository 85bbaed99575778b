"""Free memory goes back to the system, but not all the time."""

import os
from pathlib import Path

import pytest

from concatmt.heap import Heap

SIZE, COUNT = 10_000, 20_000  # bytes of a piece, small enough for the heap, and pieces


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(Heap()._trim is None, reason="no glibc here")
def test_what_lies_free_between_pieces_in_use_is_handed_back() -> None:
    kept = [bytearray(SIZE) for _ in range(COUNT)]
    full = resident()
    del kept[: COUNT - 1]  # the last one stays at the end of the heap, and keeps all of it there
    held = resident()
    Heap(pause=1000).trim()
    assert abs(resident() - held) < SIZE * COUNT / 10  # it was asked a moment ago
    Heap(pause=0).trim()
    assert resident() < full - SIZE * COUNT / 2
    assert len(kept) == 1
