"""Sends a run's figures to trackers: TensorBoard, Weights & Biases, MLflow.

A tracker gets every record and the end of the process; others can be registered.
The libraries are imported when a run asks for them, and take their own settings (server, project,
offline or not) from their own environment variables.
"""

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from concatmt.errors import UserError
from concatmt.files import read_json, write_json
from concatmt.settings import nearest
from concatmt.training.run import Run, flat

Ending = Literal["finished", "stopped", "failed"]
STATE = "tracking.json"  # the names under which trackers know the run, to resume there
PROJECT = "concatmt"  # unless the environment names another
PARAMETERS_AT_ONCE = 100  # as many as MLflow takes


class Tracker(Protocol):
    """One run in a tracking library."""

    @classmethod
    def check(cls) -> None:
        """Raise a UserError if the library is not installed; starts nothing."""

    def __init__(self, run: Run) -> None:
        """Start tracking, or resume what an earlier process started."""

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        """Figures of `kind` (train, valid, start) at an update."""

    def close(self, ending: Ending) -> None:
        """Called when this process is done with the run."""


_REGISTERED: dict[str, type[Tracker]] = {}


def register(name: str, tracker: type[Tracker]) -> None:
    """Register a tracker under its name in `training.track`."""
    if name in _REGISTERED:
        raise UserError(f"two trackers are called {name!r}; rename one")
    _REGISTERED[name] = tracker


def tracker_named(name: str) -> type[Tracker]:
    """The tracker with this name, checked to be usable here."""
    if name not in _REGISTERED:
        hint = nearest(name, list(_REGISTERED)) or f"; known are {', '.join(_REGISTERED)}"
        raise UserError(f"training.track: {name}: no such tracker{hint}")
    _REGISTERED[name].check()
    return _REGISTERED[name]


class TensorBoard:
    """Files for TensorBoard in the run's folder."""

    @classmethod
    def check(cls) -> None:
        """PyTorch includes it, except for the file format."""
        try:
            import torch.utils.tensorboard  # noqa: F401
        except ImportError as error:
            raise _missing("tensorboard", "track") from error

    def __init__(self, run: Run) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(run.folder / "tensorboard")

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        """A point in each curve."""
        for name, value in values.items():
            self.writer.add_scalar(f"{kind}/{name}", value, update)

    def close(self, ending: Ending) -> None:
        """Write what is left."""
        self.writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases; WANDB_MODE=offline keeps it on this machine."""

    @classmethod
    def check(cls) -> None:
        """Check that the extra is installed."""
        try:
            import wandb  # noqa: F401
        except ImportError as error:
            raise _missing("wandb", "wandb") from error

    def __init__(self, run: Run) -> None:
        import wandb

        known = _remembered(run, "wandb")
        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.folder.name,
            id=known or _remember(run, "wandb", uuid.uuid4().hex[:12]),
            resume="allow",
            dir=run.folder,
            config=run.description()["settings"],
            settings=wandb.Settings(console="off"),  # wandb must not wrap our output
        )
        # Use our own count of updates: wandb's may not go back, as a run does to a checkpoint.
        self.run.define_metric("update")
        self.run.define_metric("*", step_metric="update")

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        """All figures at once, with the number of the update."""
        self.run.log({"update": update, **_named(kind, values)})

    def close(self, ending: Ending) -> None:
        """Send what is left."""
        self.run.finish(exit_code=1 if ending == "failed" else 0)


class MLflow:
    """A run of MLflow, on the server or in the file that MLFLOW_TRACKING_URI names."""

    STATUS: Mapping[Ending, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}

    @classmethod
    def check(cls) -> None:
        """Check that the extra is installed."""
        try:
            import mlflow  # noqa: F401
        except ImportError as error:
            raise _missing("mlflow", "mlflow") from error

    def __init__(self, run: Run) -> None:
        from mlflow import MlflowClient

        self.client = MlflowClient()
        known = _remembered(run, "mlflow")
        self.id = known or _remember(run, "mlflow", self._create(run))
        if known is not None:
            self.client.update_run(self.id, status="RUNNING")

    def _create(self, run: Run) -> str:
        from mlflow.entities import Param

        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        there = self.client.get_experiment_by_name(name)
        experiment = there.experiment_id if there else self.client.create_experiment(name)
        made = self.client.create_run(experiment, run_name=run.folder.name).info.run_id
        settings = flat(run.description()["settings"]).items()
        parameters = [Param(key, str(value)) for key, value in settings]
        for start in range(0, len(parameters), PARAMETERS_AT_ONCE):
            some = parameters[start : start + PARAMETERS_AT_ONCE]
            self.client.log_batch(made, params=some)
        return str(made)

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> None:
        """All figures at once."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, update) for name, value in _named(kind, values).items()]
        self.client.log_batch(self.id, metrics=metrics)

    def close(self, ending: Ending) -> None:
        """Report how it ended."""
        self.client.set_terminated(self.id, self.STATUS[ending])


def _named(kind: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{kind}/{name}": value for name, value in values.items()}


def _missing(name: str, extra: str) -> UserError:
    return UserError(f"training.track: {name}: install concatmt[{extra}] for it")


def _state(run: Run) -> dict[str, Any]:
    path = run.folder / STATE
    found = read_json(path, "tracking") if path.exists() else {}
    return found if isinstance(found, dict) else {}


def _remembered(run: Run, tracker: str) -> str | None:
    """The name under which a tracker knows the run, if any."""
    found = _state(run).get(tracker)
    return found if isinstance(found, str) else None


def _remember(run: Run, tracker: str, name: str) -> str:
    write_json(run.folder / STATE, {**_state(run), tracker: name})
    return name


class Trackers:
    """The trackers of a run; one that fails is dropped, as tracking must not end a run."""

    def __init__(self, run: Run, names: tuple[str, ...]) -> None:
        self.run = run
        self.wanted = {name: tracker_named(name) for name in names}
        # Started with the first record, since a failed start must not leave a folder.
        self.begun: dict[str, Tracker] = {}

    def record(self, kind: str, update: int, values: Mapping[str, float]) -> Iterator[str]:
        """Pass a record to all trackers; yields warnings of what went wrong."""
        for name, tracker in list(self.wanted.items()):
            try:
                if name not in self.begun:
                    self.begun[name] = tracker(self.run)
                self.begun[name].record(kind, update, values)
            except Exception as error:  # libraries and servers can raise anything
                del self.wanted[name]
                yield f"{name}: {_told(error)}; training goes on without it"

    def close(self, ending: Ending) -> Iterator[str]:
        """Close the trackers that have started; yields warnings."""
        for name in self.begun.keys() & self.wanted.keys():
            try:
                self.begun[name].close(ending)
            except Exception as error:
                yield f"{name}: {_told(error)}"


def _told(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


register("tensorboard", TensorBoard)
register("wandb", WeightsAndBiases)
register("mlflow", MLflow)
