"""The cheap dropout is a dropout."""

import pytest
import torch

from concatmt.model.dropout import dropout, dropout_add


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_the_share_of_zeros_and_the_mean_are_right(p: float) -> None:
    torch.manual_seed(0)
    y = dropout(torch.ones(1001, 997), p)
    assert float((y == 0).float().mean()) == pytest.approx(p, abs=0.002)
    assert float(y.mean()) == pytest.approx(1, abs=0.004)
    assert y.unique().tolist() == pytest.approx([0, 1 / (1 - p)], abs=1e-4)


def test_gradients_pass_where_the_element_was_kept_and_all_through_the_residual() -> None:
    torch.manual_seed(0)
    x, residual = torch.randn(50, 7, requires_grad=True), torch.randn(50, 7, requires_grad=True)
    y = dropout_add(x, residual, 0.4)
    y.sum().backward()
    kept = (y != residual).detach()
    assert x.grad is not None
    assert torch.allclose(x.grad, kept * 1 / 0.6, atol=1e-4)
    assert torch.equal(residual.grad, torch.ones(50, 7))
    assert torch.allclose((y - residual).detach(), x.detach() * x.grad, atol=1e-5)


def test_the_mask_follows_the_seed() -> None:
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(dropout(torch.ones(333), 0.3))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


def test_nothing_is_dropped_at_zero() -> None:
    x = torch.randn(5)
    assert dropout(x, 0.0) is x
    assert torch.equal(dropout_add(x, x, 0.0), 2 * x)
