"""When a window is done, by hand: scores are sum / length, so that they can be read off."""

from math import inf
from typing import Any

import pytest

from concatmt.decoding.beams import Row
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.stopping import is_decided

BEAM = 2


def row(*scores: float, wanted: int = 1, longest: int = 20) -> Row:
    finished = [Hypothesis([5], [score, 0.0], score) for score in scores]
    return Row(Window([[5]]), wanted, longest, finished)


def config(**settings: Any) -> SearchConfig:
    return SearchConfig(beam=BEAM, length_penalty=1.0, **settings)


@pytest.mark.parametrize("stop", ["certain", "likely", "best", "narrow"])
def test_nothing_left_to_continue_ends_every_search(stop: str) -> None:
    assert is_decided(config(stop=stop), row(), 3, -inf)


@pytest.mark.parametrize("stop", ["certain", "likely", "narrow"])
def test_a_full_beam_ends_the_search(stop: str) -> None:
    assert is_decided(config(stop=stop), row(-1.0, -2.0), 3, -0.1)


@pytest.mark.parametrize(
    ("stop", "peak", "decided"),
    [
        # One hypothesis scores -0.5. Unfinished ones have 3 tokens: a next one and <end> make 5.
        ("likely", -2.4, False),  # -2.4 / 5 = -0.48 is better
        ("likely", -2.6, True),  # -2.6 / 5 = -0.52 is not
        ("certain", -2.6, False),  # but at the greatest length -2.6 / 20 = -0.13 would be
        ("certain", -10.1, True),  # -10.1 / 20 = -0.505: out of reach at any length
    ],
)
def test_certainty_asks_for_the_best_length_and_likelihood_for_the_next(
    stop: str, peak: float, decided: bool
) -> None:
    assert is_decided(config(stop=stop), row(-0.5), 3, peak) is decided


def test_as_many_hypotheses_as_are_wanted_must_be_finished() -> None:
    assert not is_decided(config(stop="certain"), row(-0.5, wanted=2), 3, -100.0)
    assert is_decided(config(stop="certain"), row(-0.5, wanted=1), 3, -100.0)


def test_with_best_a_full_beam_takes_in_better_hypotheses() -> None:
    full = row(-0.5, -0.9, -0.7)
    # By its own length without <end>, 3 + 1: -2.9 / 4 = -0.725 is not better than the second.
    assert is_decided(config(stop="best"), full, 3, -2.9)
    assert [hypothesis.score for hypothesis in full.finished] == [-0.5, -0.7]
    assert not is_decided(config(stop="best"), full, 3, -2.7)  # -0.675 is
    assert not is_decided(config(stop="best"), row(-0.5), 3, -100.0)  # the beam is not full
