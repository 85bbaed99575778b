"""Reading lines: what is cut off is refused by name."""

import gzip
import random
from pathlib import Path

import pytest

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError


@pytest.mark.parametrize("damage", ["cut", "flip", "no gzip"])
def test_a_damaged_compressed_file_is_refused_by_name(tmp_path: Path, damage: str) -> None:
    words = random.Random(1).choices("abcdefghij", k=5000)
    content = bytearray(gzip.compress("\n".join(words).encode()))
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flip":
        content[len(content) // 2] ^= 255
    else:
        content = bytearray(b"plain text\n")
    path = tmp_path / "text.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match="text.gz: damaged or cut off"):
        list(read_lines(path, ReadReport()))
