"""Models of SentencePiece as they are opened."""

import pytest

from concatmt.errors import UserError
from concatmt.text.sentence_piece import load_sentence_piece


@pytest.mark.parametrize("content", [b"", b"\x00", b"no model"])
def test_what_is_no_model_is_refused_with_the_name_of_its_file(content: bytes) -> None:
    with pytest.raises(UserError, match=r"^source\.spm: damaged"):
        load_sentence_piece(content, "source.spm")
