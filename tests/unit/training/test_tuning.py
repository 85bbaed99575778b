"""Fine-tuning trains what it is told to, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from concatmt.corpus.windows import Windows
from concatmt.errors import UserError
from concatmt.model.directory import load_model
from concatmt.text.vocabulary import SEPARATOR, SPECIALS
from concatmt.training.objective import Objective
from concatmt.training.train import build_model, make_task, train
from tests.unit.training import tiny
from tests.unit.training.tiny import make_data, open_data

TABLE, BIAS = "source_embedding.weight", "output.bias"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def start(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of single sentences with an output bias, as imported ones have."""
    folder = tmp_path_factory.mktemp("start")
    task = tiny.make_task(data, "base", max_updates=5)
    biased = task.architecture.model_copy(update={"output_bias": True})
    train(task.__class__(data, task.system, biased, task.training, 1), folder / "run")
    return folder / "run" / "model"


def tuned_task(data: Path, start: Path, **settings: Any) -> Any:
    plain = tiny.make_task(data, "s3to3+cd", **settings)
    fresh = plain.architecture.__class__()
    return make_task(data, plain.system, fresh, plain.training, 1, start)


def weights(model: Path) -> dict[str, torch.Tensor]:
    return load_file(model / "model.safetensors")


def changed(data: Path, start: Path, run: Path, **tuning: Any) -> dict[str, torch.Tensor]:
    """By name, which numbers of the weights training has changed."""
    assert train(tuned_task(data, start, max_updates=5, tuning=tuning), run)
    # The separator's row is set before training: compare with what training began with.
    begun = dict(build_model(open_data(data), tuned_task(data, start)).named_parameters())
    return {name: tensor != begun[name] for name, tensor in weights(run / "model").items()}


def test_the_separator_starts_as_the_mean_of_all_symbols_and_the_sizes_are_the_models(
    data: Path, start: Path
) -> None:
    model = build_model(open_data(data), tuned_task(data, start))
    table = model.source_embedding.weight
    torch.testing.assert_close(table[SEPARATOR], table[len(SPECIALS) :].mean(dim=0))
    assert model.config.architecture == load_model(start).config.architecture


def test_only_the_separators_rows_of_frozen_embeddings_change(
    data: Path, start: Path, tmp_path: Path
) -> None:
    found = changed(data, start, tmp_path / "run", embeddings="separator")
    for name in (TABLE, BIAS):
        rows = found[name].flatten(1).any(dim=1) if found[name].ndim > 1 else found[name]
        assert rows.nonzero().flatten().tolist() == [SEPARATOR]
    assert all(mask.any() for name, mask in found.items() if name not in (TABLE, BIAS))


def test_the_separators_gradients_are_those_of_training_everything(data: Path, start: Path) -> None:
    batch = Windows.of(open_data(data).split("train"), 3).batch(torch.arange(20).numpy())
    gradients = []
    for embeddings in ("all", "separator"):
        task = tuned_task(data, start, tuning={"embeddings": embeddings})
        objective = Objective(build_model(open_data(data), task), task.training).train()
        torch.manual_seed(0)
        objective(batch).total.backward()
        if objective.separator is None:
            model = objective.model
            whole = (model.source_embedding.weight.grad, model.output.bias.grad)
            gradients.append([gradient[SEPARATOR] for gradient in whole])
        else:
            assert objective.model.source_embedding.weight.grad is None
            rows = (*objective.separator.rows, *objective.separator.bias_rows)
            gradients.append([row.grad for row in rows])
    for whole, row in zip(*gradients, strict=True):
        assert torch.allclose(whole, row, atol=1e-4, rtol=1e-4)
        assert row.abs().max() > 0


def test_layers_below_those_that_are_tuned_stay(data: Path, start: Path, tmp_path: Path) -> None:
    tuning = {"embeddings": "none", "encoder_layers": 0, "decoder_layers": 1}
    found = changed(data, start, tmp_path / "run", **tuning)
    names = {name for name, mask in found.items() if mask.any()}
    assert names
    assert {name.rsplit(".", 3)[0].split(".")[0] for name in names} == {"decoder"}
    assert {name.split(".")[1] for name in names} == {"1"}


def test_a_stopped_fine_tuning_goes_on_to_the_same_bits(
    data: Path, start: Path, tmp_path: Path
) -> None:
    def task(updates: int) -> Any:
        return tuned_task(
            data,
            start,
            max_updates=updates,
            tuning={"embeddings": "separator"},
            validate_sentences=True,
            validation_windows=9,
        )

    train(task(10), tmp_path / "whole")
    train(task(5), tmp_path / "halves")
    train(task(10), tmp_path / "halves")
    ours, theirs = weights(tmp_path / "whole/model"), weights(tmp_path / "halves/model")
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tuning": {"encoder_layers": 3}}, "encoder_layers: 3, but the model has 2"),
        (
            {"tuning": {"embeddings": "none", "encoder_layers": 0, "decoder_layers": 0}},
            "leaves nothing to train",
        ),
    ],
)
def test_impossible_tunings_are_reported(
    data: Path, start: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        train(tuned_task(data, start, **settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_tuning_without_a_model_to_start_from_is_refused(data: Path, tmp_path: Path) -> None:
    task = tiny.make_task(data, tuning={"embeddings": "separator"})
    with pytest.raises(UserError, match="give one with --init"):
        train(task, tmp_path / "run")


def test_other_sizes_than_the_models_are_refused(data: Path, start: Path) -> None:
    plain = tiny.make_task(data, "s3to3+cd")
    other = plain.architecture.__class__(dim=32, dropout=0.2)
    with pytest.raises(UserError, match=r"model\.dim: .* has another; leave it out"):
        make_task(data, plain.system, other, plain.training, 1, start)
    dropout = plain.architecture.__class__(dropout=0.2)
    task = make_task(data, plain.system, dropout, plain.training, 1, start)
    assert (task.architecture.dim, task.architecture.dropout) == (16, 0.2)
