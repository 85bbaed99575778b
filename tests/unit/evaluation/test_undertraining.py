"""Warnings of models that were trained too little."""

import pytest

from concatmt.evaluation.undertraining import doubt


def curve(*losses: float, rates: tuple[float, ...] = (1.0,)) -> list[dict[str, object]]:
    valid = [{"kind": "valid", "current_nll": one} for one in losses]
    return [*({"kind": "train", "rate": one} for one in rates), *valid]


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        (curve(7.0, 6.4, 6.1), "6.1 nats a token"),
        (curve(4.0, 3.5, 3.2, 2.9), "still falling, by 0.30 nats"),
        (curve(4.0, 3.0, 2.999, 2.998), None),
        # The rate had come down, so the last fall was to be expected.
        (curve(4.0, 3.5, 3.2, 2.9, rates=(0.5, 1.0, 0.1)), None),
        (curve(4.0, 3.0), None),
        ([], None),
    ],
)
def test_high_and_still_falling_losses_are_reported(
    metrics: list[dict[str, object]], said: str | None
) -> None:
    found = doubt(metrics)
    assert (found is None) == (said is None)
    assert said is None or said in str(found)
