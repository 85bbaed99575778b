"""The verdict on the scores of candidates: ties count by rule."""

import pytest

from concatmt.decoding.contrast import verdict


@pytest.mark.parametrize(
    ("scores", "correct", "split", "first", "wrong"),
    [
        ([-1.0, -2.0, -3.0], 0, 1, 1, 1),  # alone at the top
        ([-1.0, -2.0, -3.0], 1, 0, 0, 0),
        ([-1.0, -1.0, -3.0], 0, 1 / 2, 1, 0),  # of two best ones, the first
        ([-1.0, -1.0, -3.0], 1, 1 / 2, 0, 0),  # of two best ones, the second
        ([-1.0, -1.0, -1.0], 2, 1 / 3, 0, 0),
        ([-1.0, -1.0, -3.0], 2, 0, 0, 0),  # below a tie
    ],
)
def test_ties_count_their_share_or_by_place_or_not_at_all(
    scores: list[float], correct: int, split: float, first: float, wrong: float
) -> None:
    assert verdict(scores, correct, "split") == split
    assert verdict(scores, correct, "first") == first
    assert verdict(scores, correct, "wrong") == wrong
