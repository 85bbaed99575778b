"""Documents with their translations, for measures that look at whole documents.

Reads by the readers of `decoding`. Does not know measures.
"""

from itertools import islice
from pathlib import Path

from concatmt.corpus.lines import ReadReport
from concatmt.decoding.inputs import InputFormat, Part, read_parts

PART = 1 << 20  # sentences: documents come in one part


def first_documents(
    path: Path, kind: InputFormat, target: Path | None, limit: int | None = None
) -> list[Part]:
    """The first `limit` documents of a text and its translation, or of JSONL or TSV with both."""
    parts = read_parts(path, kind, PART, ReadReport(), target)
    return list(islice((part for part in parts if part), limit))
