"""Trackers are told what metrics.jsonl has, offline; a failing one does not end a run."""

import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from concatmt.errors import UserError
from concatmt.training import trackers
from concatmt.training.run import Run
from concatmt.training.trackers import Ending, Trackers, register, tracker_named
from concatmt.training.train import train
from tests.unit.training.tiny import make_data, make_task

BLOCK, FULL, LAST = 32768, 1, 4  # of LevelDB's logs
Curves = dict[str, list[tuple[int, float]]]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers does not stay."""
    monkeypatch.setattr(trackers, "_REGISTERED", dict(trackers._REGISTERED))


def curves(run: Path) -> Curves:
    """As metrics.jsonl has them."""
    found: Curves = {}
    for record in Run(run).metrics():
        for name, value in record.items():
            if name not in ("kind", "update"):
                points = found.setdefault(f"{record['kind']}/{name}", [])
                points.append((record["update"], pytest.approx(value)))
    return found


def train_twice(folder: Path, name: str) -> Path:
    """A run of ten updates that goes on to twenty: two processes' work."""
    data = make_data(folder)
    for updates in (10, 20):
        assert train(make_task(data, max_updates=updates, track=[name]), folder / "run")
    return folder / "run"


def test_tensorboard_has_every_figure(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = train_twice(tmp_path, "tensorboard")
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    found = {
        tag: [(one.step, one.value) for one in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }
    assert found == curves(run)


def test_mlflow_has_every_figure_settings_and_ending_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="not installed: mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    run = train_twice(tmp_path, "mlflow")
    client = mlflow.MlflowClient()
    [one] = client.search_runs([client.get_experiment_by_name("mine").experiment_id])
    assert one.info.status == "FINISHED"
    assert one.data.params["system"] == "s3to3+cd"
    assert one.data.params["training.optimiser.learning_rate"] == "0.01"
    expected = curves(run)
    assert one.data.metrics.keys() == expected.keys()
    for name, points in expected.items():
        history = client.get_metric_history(one.info.run_id, name)
        assert [(each.step, each.value) for each in history] == points


def test_weights_and_biases_has_every_figure_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb", reason="not installed: wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = train_twice(tmp_path, "wandb")
    files = sorted((run / "wandb").glob("offline-run-*/*.wandb"))
    assert len({file.name for file in files}) == 1  # both processes, one run
    found: Curves = {}
    for file in files:
        for record in wandb_records(file):
            update = record.pop("update")
            for name, value in record.items():
                found.setdefault(name, []).append((update, value))
    assert {name: sorted(points) for name, points in found.items()} == curves(run)


def wandb_records(file: Path) -> list[dict[str, Any]]:
    """What was logged; the file is a log of LevelDB's format with a header of seven bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, place, message, found = file.read_bytes(), 7, b"", []
    while place < len(data):
        left = BLOCK - place % BLOCK
        if left < 7:  # a block ends with zeros where no header fits
            place += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, place)
        message += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (FULL, LAST):
            record = Record.FromString(message)
            message = b""
            if record.WhichOneof("record_type") == "history":
                items = record.history.item
                values = {one.key or ".".join(one.nested_key): one.value_json for one in items}
                found.append({k: json.loads(v) for k, v in values.items() if k[0] != "_"})
    return found


class Failing:
    """A tracker whose server is gone after the first record."""

    told: list[str]

    @classmethod
    def check(cls) -> None:
        cls.told = []

    def __init__(self, run: Run) -> None:
        self.told.append("begun")

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        self.told.append(kind)
        if len(self.told) > 2:
            raise ConnectionError("no server\nat all")

    def close(self, ending: Ending) -> None:
        self.told.append(ending)


class Listening(Failing):
    """One that is well."""

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        self.told.append(f"{kind} {update}")


def test_a_plug_ins_tracker_is_reported_everything_and_a_failing_one_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register("failing", Failing)
    register("listening", Listening)
    data = make_data(tmp_path)
    assert train(make_task(data, max_updates=5, track=["failing", "listening"]), tmp_path / "run")
    said = capsys.readouterr().err
    assert said.count("warning: failing: no server; training goes on without it\n") == 1
    assert Failing.told == ["begun", "train", "valid"]
    assert Listening.told == ["begun", "train 5", "valid 5", "finished"]


def test_a_tracker_hears_that_training_failed(tmp_path: Path) -> None:
    register("listening", Listening)
    task = make_task(
        make_data(tmp_path), track=["listening"], optimiser={"learning_rate": 1e20}, log_every=1
    )
    with pytest.raises(UserError, match="diverged"):
        train(task, tmp_path / "run")
    assert Listening.told[-1] == "failed"


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("tensorboard", "torch.utils.tensorboard", "track"),
        ("wandb", "wandb", "wandb"),
        ("mlflow", "mlflow", "mlflow"),
    ],
)
def test_a_library_that_is_not_installed_is_reported_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    task = make_task(make_data(tmp_path), track=[name])
    with pytest.raises(UserError, match=rf"training.track: {name}: install concatmt\[{extra}\]"):
        train(task, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_unknown_tracker_is_reported_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training.track: wandbb: no such tracker.*wandb"):
        tracker_named("wandbb")
    with pytest.raises(UserError, match="two trackers are called 'mlflow'"):
        register("mlflow", Listening)
    assert not Trackers(Run(tmp_path), ()).wanted
