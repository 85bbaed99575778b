"""Records why a training ended, beside its model, and infers it for runs without the record."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from concatmt.errors import UserError
from concatmt.files import read_json, write_json
from concatmt.training.config import TrainingConfig
from concatmt.training.run import Run
from concatmt.training.state import TrainingState

ENDING = "training.json"  # in the model directory


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended a training, and after how many updates."""

    by: Literal["patience", "limit"]
    reason: str
    updates: int

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def ending_of(state: TrainingState, config: TrainingConfig, reason: str) -> Ending:
    """Why the training that has just finished ended."""
    return Ending("patience" if state.out_of_patience(config) else "limit", reason, state.update)


def write_ending(folder: Path, ending: Ending) -> None:
    """Write it into a model directory."""
    write_json(folder / ENDING, ending.to_json())


def read_ending(folder: Path) -> Ending | None:
    """Read it from a model directory; earlier versions and other tools wrote none."""
    path = folder / ENDING
    if not path.is_file():
        return None
    try:
        return Ending(**read_json(path, "record of a training"))
    except TypeError as error:
        raise UserError(f"{path}: not a record of a training; delete it") from error


def ending_of_run(run: Run) -> Ending | None:
    """Infer it from the settings and metrics of a finished run; None if they do not tell."""
    settings = run.description()["settings"].get("training", {})
    patience, limit = settings.get("patience"), settings.get("max_updates")
    metric = settings.get("stop_metric")
    valid = [
        record for record in run.metrics() if record.get("kind") == "valid" and metric in record
    ]
    if not valid or not isinstance(patience, int):
        return None
    values, updates = [record[metric] for record in valid], valid[-1]["update"]
    if len(values) - 1 - values.index(min(values)) >= patience:
        return Ending("patience", f"no improvement in {patience} validations", updates)
    if isinstance(limit, int) and updates >= limit:
        return Ending("limit", f"{limit:,} updates done", updates)
    return None  # ended by epochs, or settings were changed later
