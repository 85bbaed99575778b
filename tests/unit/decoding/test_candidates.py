"""Candidates and scores against a log-softmax in double precision, also of extreme logits."""

import pytest
import torch
from torch import Tensor

from concatmt.decoding.candidates import Projection
from concatmt.decoding.engine import _Transposed
from concatmt.decoding.int8_layers import WideQuantizedLinear
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

ROWS, DIM, VOCABULARY = 5, 16, 300  # not a multiple of the blocks
# Logits of a few nats, hundreds of them, and hundreds of them below 0 in the middle.
SCALES = ((1.0, 0.0), (200.0, 0.0), (1.0, -300.0))


def make(scale: float, shift: float) -> tuple[Tensor, Tensor]:
    """Hidden states and a weight; the last dimension moves all logits by `shift`."""
    torch.manual_seed(1)
    hidden, weight = torch.randn(ROWS, DIM), torch.randn(VOCABULARY, DIM)
    hidden[:, -1], weight[:, -1] = 1.0, shift
    weight[:, :-1] *= scale / DIM**0.5
    return hidden, weight


def expected(hidden: Tensor, weight: Tensor) -> Tensor:
    return (hidden.double() @ weight.double().t()).log_softmax(dim=1)


@pytest.mark.parametrize(("scale", "shift"), SCALES)
def test_given_tokens_have_the_log_probs_of_a_softmax(scale: float, shift: float) -> None:
    hidden, weight = make(scale, shift)
    rows = torch.tensor([0, 0, 1, 3, 4])
    tokens = torch.tensor([7, 299, 2, 150, 64])
    found = Projection(weight, None, _Transposed).log_probs(hidden, rows, tokens)
    truth = expected(hidden, weight)[rows, tokens]
    assert torch.allclose(found.double(), truth, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("scale", "shift"), SCALES)
def test_the_best_words_are_those_of_a_softmax(scale: float, shift: float) -> None:
    hidden, weight = make(scale, shift)
    found = Projection(weight, None, _Transposed)(hidden, 4)
    truth = expected(hidden, weight)
    best = truth[:, len(SPECIALS) :].topk(4, dim=1)
    assert torch.equal(found.words, best.indices + len(SPECIALS))
    for values, of_truth in (
        (found.scores, best.values),
        (found.separator, truth[:, SEPARATOR]),
        (found.end, truth[:, END]),
    ):
        assert torch.allclose(values.double(), of_truth, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("scale", "shift"), SCALES[:2])
def test_in_int8_the_probabilities_sum_to_one(scale: float, shift: float) -> None:
    hidden, weight = make(scale, shift)
    projection = Projection(weight, None, WideQuantizedLinear)
    rows = torch.arange(ROWS).repeat_interleave(VOCABULARY)
    tokens = torch.arange(VOCABULARY).repeat(ROWS)
    every = projection.log_probs(hidden, rows, tokens).view(ROWS, VOCABULARY)
    assert every.exp().sum(dim=1).tolist() == pytest.approx([1.0] * ROWS, abs=1e-4)
    found = projection(hidden, 4)
    truth = every.gather(1, found.words)
    assert torch.allclose(found.scores, truth, rtol=1e-4, atol=1e-3)
