"""The objective: stochastic discount, dropped words, seeds of batches."""

from pathlib import Path

import numpy as np
import pytest
import torch

from concatmt.corpus.batch import WindowBatch
from concatmt.corpus.windows import Windows
from concatmt.model.loss import discount_weights
from concatmt.text.vocabulary import END, UNK
from concatmt.training.objective import Objective, drop_current_words, sampled_weights, seed_batch
from concatmt.training.train import build_model
from tests.unit.training.tiny import make_data, make_task, open_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def batch(data: Path) -> WindowBatch:
    windows = Windows.of(open_data(data).split("train"), 3)
    return windows.batch(np.arange(40))


def test_the_expected_weight_of_a_context_token_is_the_discount(batch: WindowBatch) -> None:
    torch.manual_seed(0)
    draws = torch.stack([sampled_weights(batch.target, 0.2) for _ in range(2000)])
    assert set(draws.unique().tolist()) == {0.0, 1.0}
    # The standard error of a mean of 2000 draws is 0.009: five of them.
    exact = discount_weights(batch.target, 0.2)
    assert (draws.mean(dim=0) - exact).abs().max() < 0.045
    assert (draws[:, exact == 1] == 1).all()


def test_the_expected_stochastic_loss_and_gradient_are_the_discounted_ones(
    data: Path, batch: WindowBatch
) -> None:
    def loss(task_name: str) -> tuple[Objective, list[float], torch.Tensor]:
        task = make_task(data, "s3to3+cd0.3", discounting=task_name)
        torch.manual_seed(1)
        model = build_model(open_data(data), task)
        model.config.architecture.model_copy()
        objective = Objective(model, task.training).train()
        for module in model.modules():
            if hasattr(module, "dropout"):
                module.dropout = 0.0
        model.config = model.config.model_copy(
            update={"architecture": model.config.architecture.model_copy(update={"dropout": 0.0})}
        )
        values, gradient = [], torch.zeros_like(model.output.weight)
        for index in range(1 if task_name == "exact" else 300):
            seed_batch(0, 0, index)
            model.zero_grad()
            result = objective(batch)
            result.total.backward()
            values.append(float(result.total.detach()))
            gradient += model.output.weight.grad
        return objective, values, gradient / len(values)

    _, exact, exact_gradient = loss("exact")
    _, sampled, gradient = loss("stochastic")
    error = np.std(sampled) / np.sqrt(len(sampled))
    assert abs(np.mean(sampled) - exact[0]) < 4 * error
    assert (gradient - exact_gradient).norm() < 0.1 * exact_gradient.norm()


def test_only_words_of_the_current_source_sentence_are_dropped(batch: WindowBatch) -> None:
    torch.manual_seed(0)
    dropped = drop_current_words(batch, 0.5)
    changed = dropped.source.tokens != batch.source.tokens
    current = (batch.source.segments == 1) & (batch.source.tokens != END)
    assert not (changed & ~current).any()
    assert (dropped.source.tokens[changed] == UNK).all()
    assert 0.4 < changed.sum() / current.sum() < 0.6
    assert dropped.target is batch.target


def test_what_a_batch_draws_does_not_depend_on_what_was_drawn_before() -> None:
    seed_batch(1, 2, 3)
    first = torch.rand(4)
    torch.rand(99)
    seed_batch(1, 2, 3)
    assert torch.equal(first, torch.rand(4))
    seed_batch(1, 2, 4)
    assert not torch.equal(first, torch.rand(4))
