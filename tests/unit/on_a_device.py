"""On a device of its own no tensor is made elsewhere, and the host waits only where it must.

Run by test_devices.py in a process of its own.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from concatmt.decoding.beams import Beams, Choice, Row
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.model.transformer import Transformer
from concatmt.training.config import OptimiserConfig, TrainingConfig
from concatmt.training.objective import Objective
from concatmt.training.optimisers import make_optimisers
from tests.unit.accelerator import Accelerator, SynchronisationError, WrongDeviceError, set_up
from tests.unit.decoding.models import MARIAN, make_model
from tests.unit.model.small_models import build, random_batch

SYSTEMS = ["s4to4+cd+shift5+pers", "s4to4+lrn+pers+pse", "s4to4+srope", "s4to4+sync"]


@pytest.fixture
def device() -> Iterator[torch.device]:
    found = set_up()
    with Accelerator():
        yield found


def placed(model: Transformer, device: torch.device) -> Transformer:
    """The same model on the device, without values."""
    with device:
        return Transformer(model.config)


def test_the_device_refuses_tensors_of_the_host_and_values_that_must_come_back(
    device: torch.device,
) -> None:
    there, here = torch.ones(3, device=device), torch.ones(3)
    assert (there + here.to(device) + 2).device == device
    assert float((here + 1).sum()) == 6
    with pytest.raises(WrongDeviceError):
        there + here
    for wait in (
        lambda: there.sum().item(),
        there.tolist,
        there.cpu,
        there.nonzero,
        lambda: there[there > 0],
        lambda: bool((there > 0).any()),
    ):
        with pytest.raises(SynchronisationError):
            wait()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_an_update_accumulates_batches_without_waiting(
    system: str, precision: str, device: torch.device
) -> None:
    plain = build(system)
    model = placed(plain, device).train()
    objective = Objective(model, TrainingConfig())
    optimisers = make_optimisers(model, OptimiserConfig())
    for seed in range(2):
        batch = random_batch(plain, seed=seed).to(device)
        with torch.autocast("dummy", torch.bfloat16, enabled=precision == "bf16"):
            (objective(batch).total / 100).backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert len(gradients) == len(list(model.parameters()))
    assert {gradient.device for gradient in gradients} == {device}
    factor = nn.utils.get_total_norm(gradients).reciprocal()
    for gradient in gradients:
        gradient.mul_(factor)
    for optimiser in optimisers:
        optimiser.step()


def test_dropout_and_validation_stay_on_the_device(device: torch.device) -> None:
    plain = build("s4to4+cd")
    config = plain.config.architecture.model_copy(update={"dropout": 0.3, "attention_dropout": 0.1})
    with device:
        model = Transformer(plain.config.model_copy(update={"architecture": config}))
    objective = Objective(model, TrainingConfig(coword_dropout=0.2))
    batch = random_batch(plain).to(device)
    objective.train()(batch).total.backward()
    with torch.no_grad():
        loss = objective.eval()(batch)
    assert loss.current.nll.device == loss.context.tokens.device == device


class Undecided(Search):
    """A search whose host does not look at what is finished, for which values must come back."""

    def _finish(self, beams: Beams, choice: Choice) -> list[Row]:
        assert choice.ends.shape == beams.scores.shape
        return []


@pytest.mark.parametrize("settings", [{}, MARIAN])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_prefill_and_steps_of_a_search_wait_for_nothing(
    system: str, settings: dict[str, Any], device: torch.device
) -> None:
    engine = Engine(placed(make_model(system, **settings), device))
    windows = [Window([[5, 6], [7, 8, 9]], forced=[[8, 9, 10]]), Window([[5, 6, 4], [7, 9]])]
    search = Undecided(engine, SearchConfig(beam=3))
    search.join(windows, [None, None])
    for _ in range(3):
        search.step()
    assert search.inputs.tokens.shape == (2, 3)
    assert search.inputs.tokens.device == device


Looks = list[tuple[int, ...]]


@pytest.fixture
def looks(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> Looks:
    """The shapes of what the host had to wait for; every value that came back is -1."""
    found: Looks = []

    def tolist(values: FakeTensor) -> Any:
        found.append(tuple(values.shape))
        return torch.full(values.shape, -1.0).tolist()

    monkeypatch.setattr(FakeTensor, "tolist", tolist)
    return found


def test_the_host_looks_at_a_step_of_a_search_once(device: torch.device, looks: Looks) -> None:
    engine = Engine(placed(make_model("s4to4"), device))
    search = Search(engine, SearchConfig(beam=3))
    (row,) = search.join([Window([[5, 6], [7, 8, 9]])], [None])
    row.live = False  # what is taken out would be looked at too
    looks.clear()
    search.step()
    assert looks == [(1, 4)]  # where the three hypotheses end, and the best that goes on


@pytest.mark.parametrize("system", SYSTEMS)
def test_scores_come_back_once_for_a_batch(system: str, device: torch.device, looks: Looks) -> None:
    engine = Engine(placed(make_model(system), device))
    items = [
        ScoringItem([[5, 6], [7]], [[[8, 9], [10]], [[8, 9], [11, 12]]]),
        ScoringItem([[5]], [[[9]]]),
    ]
    scores = score_items(engine, items, PoolConfig())
    shared = 3  # tokens that both translations of the first item begin with
    assert looks == [(sum(len(path) for item in scores for path in item) - shared,)]
