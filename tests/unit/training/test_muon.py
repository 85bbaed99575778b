"""Muon against torch's own, and against what it must be: orthogonal."""

import pytest
import torch

from concatmt.training.config import OptimiserConfig
from concatmt.training.muon import Muon, orthogonal
from concatmt.training.optimisers import make_optimisers
from tests.unit.model.small_models import build

SETTINGS = {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.1}


def some_matrix(rows: int, columns: int, seed: int = 0) -> torch.nn.Parameter:
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.Parameter(torch.randn(rows, columns, generator=generator))


def give_gradients(parameters: list[torch.nn.Parameter], seed: int) -> None:
    for i, parameter in enumerate(parameters):
        parameter.grad = some_matrix(*parameter.shape, seed=100 * seed + i).detach()


def test_updates_are_those_of_torch_up_to_its_bfloat16() -> None:
    shapes = [(24, 24), (48, 24), (24, 48), (24, 24)]
    mine = [some_matrix(*shape, seed=i) for i, shape in enumerate(shapes)]
    theirs = [torch.nn.Parameter(matrix.detach().clone()) for matrix in mine]
    optimisers = [
        Muon([{"params": mine}], **SETTINGS),
        torch.optim.Muon(theirs, adjust_lr_fn="match_rms_adamw", **SETTINGS),
    ]
    for step in range(3):
        for parameters, optimiser in zip((mine, theirs), optimisers, strict=True):
            give_gradients(parameters, step)
            optimiser.step()
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        moved = (a - some_matrix(*shapes[i], seed=i)).norm()
        assert (a - b).norm() < 0.02 * moved


def test_singular_values_come_near_one_and_directions_stay() -> None:
    for matrix in orthogonal([some_matrix(20, 30), some_matrix(30, 20), some_matrix(8, 8)]):
        values = torch.linalg.svdvals(matrix)
        assert 0.6 < values.min() <= values.max() < 1.3
    u, v = torch.linalg.qr(some_matrix(6, 6))[0], torch.linalg.qr(some_matrix(6, 6, seed=1))[0]
    diagonal = u.T @ orthogonal([u @ torch.diag(torch.arange(1.0, 7)) @ v.T])[0] @ v
    assert torch.allclose(diagonal, torch.diag(diagonal.diagonal()), atol=1e-5)


def test_stacked_matrices_move_as_they_would_alone() -> None:
    stacked = some_matrix(24, 8)
    alone = [torch.nn.Parameter(part.detach().clone()) for part in stacked.chunk(3)]
    give_gradients([stacked], 0)
    for part, gradient in zip(alone, stacked.grad.chunk(3), strict=True):
        part.grad = gradient.clone()
    Muon([{"params": [stacked], "parts": 3}], **SETTINGS).step()
    Muon([{"params": alone}], **SETTINGS).step()
    assert torch.allclose(stacked, torch.cat(alone), atol=1e-6)


def test_a_matrix_without_gradient_stays() -> None:
    matrix = some_matrix(4, 4)
    Muon([{"params": [matrix]}], **SETTINGS).step()
    assert torch.equal(matrix, some_matrix(4, 4))
    matrix.grad = torch.zeros(4, 4)
    Muon([{"params": [matrix]}], lr=0.1, momentum=0.9, weight_decay=0.0).step()
    assert torch.equal(matrix, some_matrix(4, 4))


@pytest.mark.parametrize("system", ["s3to3+cd", "s3to3+lrn+pse+pers"])
def test_every_parameter_has_one_optimiser_and_muon_has_the_matrices_of_the_blocks(
    system: str,
) -> None:
    model = build(system)
    (only,) = make_optimisers(model, OptimiserConfig())
    assert [p for g in only.param_groups for p in g["params"]] == list(model.parameters())
    adam, muon = make_optimisers(model, OptimiserConfig(method="muon"))
    names = {parameter: name for name, parameter in model.named_parameters()}
    owned = [{names[p] for g in o.param_groups for p in g["params"]} for o in (adam, muon)]
    assert owned[0] | owned[1] == set(names.values())
    assert not owned[0] & owned[1]
    linear = {
        f"{name}.weight"
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and name.startswith(("encoder.", "decoder."))
    }
    assert owned[1] == linear
