"""Why a training ended is known beside its model, and from its metrics where it was not written."""

import json
from pathlib import Path

import pytest

from concatmt.training.ending import ENDING, Ending, ending_of_run, read_ending
from concatmt.training.run import Run
from concatmt.training.train import train
from tests.unit.training.tiny import make_data, make_task


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def test_a_run_that_reached_its_limit_says_so_and_so_do_its_metrics(
    data: Path, tmp_path: Path
) -> None:
    assert train(make_task(data), tmp_path / "run")
    ending = read_ending(tmp_path / "run" / "model")
    assert ending == Ending("limit", "20 updates done", 20)
    assert ending_of_run(Run(tmp_path / "run")) == ending


def test_a_run_that_stopped_improving_ended_by_its_patience(data: Path, tmp_path: Path) -> None:
    # With such a rate the first validations are soon the best.
    wild = {"learning_rate": 10.0, "warmup": 1, "clip_norm": 1.0}
    task = make_task(data, patience=1, max_updates=200, validate_every=1, optimiser=wild)
    assert train(task, tmp_path / "run")
    ending = read_ending(tmp_path / "run" / "model")
    assert ending is not None
    assert (ending.by, ending.reason) == ("patience", "no improvement in 1 validations")
    assert ending_of_run(Run(tmp_path / "run")) == ending


def test_models_without_the_record_say_nothing(tmp_path: Path) -> None:
    assert read_ending(tmp_path) is None
    (tmp_path / "run.json").write_text(json.dumps({"settings": {}}), "utf-8")
    assert ending_of_run(Run(tmp_path)) is None
    assert not (tmp_path / ENDING).exists()
