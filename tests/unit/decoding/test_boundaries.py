"""The number of sentences as a constraint, followed by hand and by random walks."""

from random import Random

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from concatmt.decoding.boundaries import Boundaries, Free
from concatmt.text.vocabulary import END, SEPARATOR

WORD = 7


def of(sentences: int, limits: list[int], forced: int = 0) -> Boundaries:
    return Boundaries.start(
        torch.tensor([sentences]), torch.tensor([limits]), torch.tensor([forced])
    )


def follow(boundaries: Boundaries, token: int) -> int:
    segments: Tensor = boundaries.follow(torch.tensor([[0]]), torch.tensor([[token]]))
    return int(segments)


def allowed(boundaries: Boundaries) -> tuple[bool, bool, bool]:
    words, separator, end = (bool(part) for part in boundaries.allowed())
    return words, separator, end


def test_two_sentences_by_hand() -> None:
    boundaries = of(2, [2, 1])
    assert allowed(boundaries) == (True, False, False)  # no sentence is empty
    assert follow(boundaries, WORD) == 2  # segments count from the right
    assert allowed(boundaries) == (True, True, False)  # <end> must wait for the separator
    assert follow(boundaries, WORD) == 2
    assert allowed(boundaries) == (False, True, False)  # the first sentence is full
    assert follow(boundaries, SEPARATOR) == 2  # it belongs to the sentence that it closes
    assert allowed(boundaries) == (True, False, False)
    assert follow(boundaries, WORD) == 1
    assert allowed(boundaries) == (False, False, True)  # the last one is full: only <end>


def test_forced_sentences_count() -> None:
    boundaries = of(3, [5, 5, 5], forced=2)
    assert follow(boundaries, WORD) == 1
    assert allowed(boundaries) == (True, False, True)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_every_walk_ends_with_the_right_sentences_within_their_limits(
    limits: list[int], random: Random
) -> None:
    boundaries = of(len(limits), limits)
    lengths = [0]
    while True:
        words, separator, end = allowed(boundaries)
        choices = [WORD] * words + [SEPARATOR] * separator + [END] * end
        token = random.choice(choices)  # there always is one
        if token == END:
            break
        follow(boundaries, token)
        if token == SEPARATOR:
            lengths.append(0)
        else:
            lengths[-1] += 1
    assert len(lengths) == len(limits)
    assert all(0 < length <= limit for length, limit in zip(lengths, limits, strict=True))


def test_without_the_constraint_only_the_whole_window_is_limited() -> None:
    free = Free.start(torch.tensor([2]), torch.tensor([[3]]), torch.tensor([0]))
    assert allowed(free) == (True, True, False)  # not empty
    follow(free, SEPARATOR)
    assert allowed(free) == (True, True, True)  # one sentence instead of two
    follow(free, WORD)
    follow(free, SEPARATOR)
    assert allowed(free) == (False, False, True)  # three tokens, separators included


def test_windows_of_other_widths_take_free_rows() -> None:
    boundaries = of(2, [4, 4])
    follow(boundaries, WORD)
    boundaries.put(torch.tensor([0]), of(3, [1, 2, 3]))
    assert boundaries.limits.tolist() == [[1, 2, 3]]
    assert allowed(boundaries) == (True, False, False)
