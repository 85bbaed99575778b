"""Before the first update a run says what it will take, and changes nothing by measuring it."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch

from concatmt.corpus.windows import Windows
from concatmt.training.forecast import Forecast, advice, duration
from concatmt.training.processes import Processes
from concatmt.training.run import Run
from concatmt.training.train import build_model
from concatmt.training.trainer import Trainer
from tests.unit.training.tiny import make_data, make_task, open_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def trainer(data: Path, folder: Path, **settings: object) -> Trainer:
    task, store = make_task(data, **settings), open_data(data)
    windows = (Windows.of(store.split(name), 3) for name in ("train", "valid"))
    processes = Processes.join("cpu")
    return Trainer(Run(folder), build_model(store, task), task.training, *windows, 1, processes)


def test_sizes_are_counted_and_nothing_is_changed_by_measuring(data: Path, tmp_path: Path) -> None:
    one = trainer(data, tmp_path / "run")
    before = {name: p.detach().clone() for name, p in one.model.named_parameters()}
    found = Forecast.measure(one)
    assert found.parameters == found.trained == sum(p.numel() for p in before.values())
    target = open_data(data).split("train").target
    lengths = (target.offsets[1:] - target.offsets[:-1]).tolist()
    # By hand: a window has its sentence and up to two before it, of the same document.
    runs = open_data(data).split("train").runs.tolist()
    windows = [
        sum(lengths[max(start, j - 2) : j + 1])
        for start, end in pairwise(runs)
        for j in range(start, end)
    ]
    assert found.tokens == sum(windows)
    assert found.speed > 0
    assert all(torch.equal(p, before[name]) for name, p in one.model.named_parameters())
    assert all(p.grad is None for p in one.model.parameters())
    assert one.stream.next == 0
    assert any("20 updates" in line for line in found.lines(one))


def test_advice_names_settings_that_are_not_there_yet(data: Path, tmp_path: Path) -> None:
    plain = "\n".join(advice(trainer(data, tmp_path / "a")))
    assert "training.discounting=stochastic" in plain
    better = "\n".join(advice(trainer(data, tmp_path / "b", discounting="stochastic")))
    assert "training.discounting" not in better


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7384, "2 h 3 min"), (-1, "0 min 0 s")],
)
def test_durations_are_read_easily(seconds: float, text: str) -> None:
    assert duration(seconds) == text
