"""Windows and hypotheses: what is read off their tokens."""

from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.text.vocabulary import SEPARATOR


def test_the_cost_of_a_window_counts_its_boundaries() -> None:
    assert Window([[5, 6, 7], [8]]).cost == 3 + 1 + 2  # a separator and <end>


def test_the_last_sentence_has_its_own_log_probs_and_that_of_the_end() -> None:
    hypothesis = Hypothesis([5, 6, SEPARATOR, 7, 8], [-1, -2, -3, -4, -5, -6], -3.5)
    assert hypothesis.sentences == [[5, 6], [7, 8]]
    assert hypothesis.current_log_probs == [-4, -5, -6]


def test_a_single_sentence_is_all_of_it() -> None:
    hypothesis = Hypothesis([5], [-1.0, -0.5], -0.75)
    assert hypothesis.sentences == [[5]]
    assert hypothesis.current_log_probs == [-1.0, -0.5]
