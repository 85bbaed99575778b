"""The loss against PyTorch's own cross-entropy, and the laws of the context discount."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from concatmt.corpus.batch import Side, side_from_lists
from concatmt.model import loss as module
from concatmt.model.loss import Loss, LossConfig, discount_weights, target_log_probs, window_loss
from concatmt.text.vocabulary import PAD

WINDOWS = st.lists(
    st.lists(st.lists(st.integers(4, 30), max_size=5), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)
TARGET = side_from_lists([[[7, 8], [9], [5, 6]], [[4]], [[], [11]]])


def tensors(target: Side, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(*target.tokens.shape, 8, generator=generator)
    output = torch.randn(31, 8, generator=generator)
    return hidden.requires_grad_(), output.requires_grad_()


def reference(
    hidden: Tensor, output: Tensor, target: Side, weights: Tensor, smoothing: float
) -> Tensor:
    """All logits, PyTorch's own loss, then the weights."""
    losses = F.cross_entropy(
        (hidden @ output.t()).flatten(0, 1),
        target.tokens.flatten(),
        label_smoothing=smoothing,
        reduction="none",
    )
    return (losses * weights.flatten()).sum()


def ours(hidden: Tensor, output: Tensor, target: Side, cd: float, **config: Any) -> Loss:
    return window_loss(
        hidden, output, target, discount_weights(target, cd), LossConfig.model_validate(config)
    )


@given(WINDOWS, st.sampled_from([0.0, 0.01, 0.5, 1.0]), st.sampled_from([0.0, 0.1]))
def test_value_and_gradients_equal_those_of_the_plain_computation(
    windows: list[list[list[int]]], cd: float, smoothing: float
) -> None:
    target = side_from_lists(windows)
    hidden, output = tensors(target)
    value = ours(hidden, output, target, cd, label_smoothing=smoothing).total
    gradients = torch.autograd.grad(value, (hidden, output))
    expected = reference(hidden, output, target, discount_weights(target, cd), smoothing)
    assert float(value.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    for ours_, theirs in zip(
        gradients, torch.autograd.grad(expected, (hidden, output)), strict=True
    ):
        assert torch.allclose(ours_, theirs, atol=1e-5)


@given(WINDOWS, st.sampled_from([0.01, 1.0]), st.sampled_from([0.0, 0.1]))
def test_an_output_bias_takes_part_in_value_and_gradients(
    windows: list[list[list[int]]], cd: float, smoothing: float
) -> None:
    """Against PyTorch's own loss of logits with the bias added."""
    target = side_from_lists(windows)
    hidden, output = tensors(target)
    bias = torch.linspace(-2, 3, len(output), requires_grad=True)
    weights = discount_weights(target, cd)
    config = LossConfig(label_smoothing=smoothing)
    value = window_loss(hidden, output, target, weights, config, bias=bias).total
    # A constant 1 as a last dimension makes the bias a column of the matrix.
    ones = torch.ones(*hidden.shape[:-1], 1)
    expected = reference(
        torch.cat([hidden, ones], dim=-1),
        torch.cat([output, bias[:, None]], dim=-1),
        target,
        weights,
        smoothing,
    )
    assert float(value.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    inputs = (hidden, output, bias)
    pairs = zip(
        torch.autograd.grad(value, inputs), torch.autograd.grad(expected, inputs), strict=True
    )
    for mine, theirs in pairs:
        assert torch.allclose(mine, theirs, atol=1e-5)


def test_the_row_of_padding_stays_when_the_decoder_starts_with_it() -> None:
    hidden, output = tensors(TARGET)
    bias = torch.zeros(len(output), requires_grad=True)
    weights = discount_weights(TARGET, 1.0)
    loss = window_loss(hidden, output, TARGET, weights, LossConfig(), bias=bias, fixed_padding=True)
    for gradient in torch.autograd.grad(loss.total, (output, bias)):
        assert not gradient[PAD].any()
        assert gradient[PAD + 1 :].any()


@given(WINDOWS)
def test_a_discount_of_one_equals_the_plain_loss_bit_for_bit(
    windows: list[list[list[int]]],
) -> None:
    """A plain loss knows no segments: the same tokens, all in the current sentence."""
    target = side_from_lists(windows)
    plain = Side(target.tokens, target.lengths, target.segments.clamp(max=1))
    results = []
    for side in (target, plain):
        hidden, output = tensors(target)
        loss = ours(hidden, output, side, 1.0)
        results.append((loss.total, *torch.autograd.grad(loss.total, (hidden, output))))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_a_discount_of_zero_sends_no_gradient_from_context_and_computes_no_logits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = []
    plain = module._token_losses

    def counted(logits: Tensor, *rest: Any) -> Tensor:
        rows.append(len(logits))
        return plain(logits, *rest)

    monkeypatch.setattr(module, "_token_losses", counted)
    hidden, output = tensors(TARGET)
    loss = ours(hidden, output, TARGET, 0.0)
    loss.total.backward()
    current = TARGET.segments == 1
    assert sum(rows) == int(current.sum())
    assert hidden.grad is not None
    assert not hidden.grad[~current].any()
    assert hidden.grad[current].any(dim=1).all()
    assert int(loss.context.tokens) == 0


def test_weights_are_one_for_the_current_sentence_and_the_discount_before_it() -> None:
    """By hand: a separator belongs to the sentence that it closes, <end> to the current one."""
    cd = 0.01
    assert discount_weights(TARGET, cd).tolist() == [
        pytest.approx([cd, cd, cd, cd, cd, 1, 1, 1]),
        pytest.approx([1, 1, 0, 0, 0, 0, 0, 0]),
        pytest.approx([cd, 1, 1, 0, 0, 0, 0, 0]),
    ]


def test_current_and_context_are_summed_apart_and_unweighted() -> None:
    hidden, output = tensors(TARGET)
    loss = ours(hidden, output, TARGET, 0.25)
    log_probs = target_log_probs(hidden, output, TARGET)
    current = TARGET.segments == 1
    assert int(loss.current.tokens) == 7
    assert int(loss.context.tokens) == 6
    assert float(loss.current.nll) == pytest.approx(-float(log_probs[current].sum()), rel=1e-5)
    assert float(loss.context.nll) == pytest.approx(-float(log_probs[~current].sum()), rel=1e-5)
    whole = loss.current.loss + 0.25 * loss.context.loss
    assert float(loss.total.detach()) == pytest.approx(float(whole), rel=1e-5)
    assert not loss.current.loss.requires_grad


def test_the_normaliser_counts_all_tokens_or_adds_the_weights() -> None:
    hidden, output = tensors(TARGET)
    by_tokens = ours(hidden, output, TARGET, 0.5, normaliser="tokens")
    by_weights = ours(hidden, output, TARGET, 0.5, normaliser="weights")
    assert float(by_tokens.normaliser) == 13
    assert float(by_weights.normaliser) == 7 + 0.5 * 6
    assert float(by_weights.mean.detach()) == pytest.approx(float(by_weights.total.detach()) / 10)


def test_validation_sees_the_context_loss_even_at_a_discount_of_zero() -> None:
    hidden, output = tensors(TARGET)
    with torch.no_grad():
        loss = window_loss(
            hidden, output, TARGET, discount_weights(TARGET, 0.0), LossConfig(), everything=True
        )
    assert int(loss.context.tokens) == 6
    assert float(loss.total) == pytest.approx(float(loss.current.loss))


def test_chunks_change_neither_loss_nor_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    target = side_from_lists([[[5] * 50, [6] * 60], [[7] * 90]])
    results = []
    for elements in (1, 1 << 23):  # 64 rows at a time, and all at once
        monkeypatch.setattr(module, "CHUNK_ELEMENTS", elements)
        hidden, output = tensors(target)
        loss = ours(hidden, output, target, 0.1)
        loss.total.backward()
        results.append((loss.total.detach(), hidden.grad, output.grad))
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*results, strict=True))


def test_gradients_accumulate_over_batches_and_scale_with_the_slope() -> None:
    hidden, output = tensors(TARGET)
    for _ in range(2):
        (3 * ours(hidden, output, TARGET, 0.1).mean).backward()
    expected = reference(hidden, output, TARGET, discount_weights(TARGET, 0.1), 0.1) * 6 / 13
    for grad, theirs in zip(
        (hidden.grad, output.grad), torch.autograd.grad(expected, (hidden, output)), strict=True
    ):
        assert grad is not None
        assert torch.allclose(grad, theirs, atol=1e-5)


def test_the_expectation_of_sampled_context_tokens_is_the_discounted_loss() -> None:
    """Any weights serve: each context token at weight 1 with the discount's probability."""
    hidden, output = tensors(TARGET)
    generator = torch.Generator().manual_seed(0)
    totals = []
    with torch.no_grad():
        for _ in range(3000):
            chosen = torch.rand(TARGET.tokens.shape, generator=generator) < 0.3
            weights = ((TARGET.segments == 1) | (chosen & TARGET.mask)).float()
            totals.append(float(window_loss(hidden, output, TARGET, weights, LossConfig()).total))
        expected = float(ours(hidden, output, TARGET, 0.3).total)
    mean = torch.tensor(totals)
    assert abs(float(mean.mean()) - expected) < 4 * float(mean.std()) / 3000**0.5


def test_hidden_states_of_bfloat16_autocast_are_upcast() -> None:
    hidden, output = tensors(TARGET)
    exact = float(ours(hidden, output, TARGET, 0.1).total.detach())
    half = hidden.detach().bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        loss = ours(half, output, TARGET, 0.1)
    loss.total.backward()
    assert loss.total.dtype == torch.float32
    assert float(loss.total.detach()) == pytest.approx(exact, rel=0.02)
    assert half.grad is not None
    assert half.grad.dtype == torch.bfloat16
    assert output.grad is not None
    assert output.grad.dtype == torch.float32


def test_log_probs_of_the_target_are_those_of_the_softmax() -> None:
    hidden, output = tensors(TARGET)
    expected = (hidden @ output.t()).log_softmax(-1).gather(2, TARGET.tokens[..., None])[..., 0]
    got = target_log_probs(hidden, output, TARGET)
    assert torch.allclose(got, expected.masked_fill(~TARGET.mask, 0.0), atol=1e-5)
