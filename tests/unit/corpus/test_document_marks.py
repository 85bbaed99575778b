"""What looks like missing document boundaries is said; files that have them are found."""

from pathlib import Path

import pytest

from concatmt.corpus.document_marks import DocumentSizes, marks_beside


@pytest.mark.parametrize(
    ("lengths", "suspicion"),
    [
        ([100_811], "all 100,811 sentences are one document"),
        ([10] * 40 + [500], "one document has 500 of the 900 sentences"),
        ([1] * 400, "each of the 400 sentences is a document: there is no context"),
        ([299], None),
        ([250, 250], None),
        ([1, 2] * 200, None),
        ([], None),
    ],
)
def test_documents_that_are_probably_none_are_suspected(
    lengths: list[int], suspicion: str | None
) -> None:
    sizes = DocumentSizes()
    for length in lengths:
        sizes.add(length)
    assert sizes.suspicion == suspicion


def test_marks_are_found_by_their_name(tmp_path: Path) -> None:
    assert marks_beside(tmp_path / "train.en") is None
    (tmp_path / "train.docs").touch()
    assert marks_beside(tmp_path / "train.en") == (tmp_path / "train.docs", "ids")
    assert marks_beside(tmp_path / "train.en.gz") == (tmp_path / "train.docs", "ids")
    assert marks_beside(tmp_path / "train.docs") is None
