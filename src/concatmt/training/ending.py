"""Why a training ended: written beside its model, and found again from runs without that record."""

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
        """Plain values."""
        return asdict(self)


def ending_of(state: TrainingState, config: TrainingConfig, reason: str) -> Ending:
    """Why a training ended that has just come to its end."""
    return Ending("patience" if state.out_of_patience(config) else "limit", reason, state.update)


def write_ending(folder: Path, ending: Ending) -> None:
    """Record it in a model directory."""
    write_json(folder / ENDING, ending.to_json())


def read_ending(folder: Path) -> Ending | None:
    """What a model directory says of it; earlier versions and other tools wrote nothing."""
    path = folder / ENDING
    if not path.is_file():
        return None
    try:
        return Ending(**read_json(path, "record of a training"))
    except TypeError as error:
        raise UserError(f"{path}: not a record of a training; delete it") from error


def ending_of_run(run: Run) -> Ending | None:
    """Found from the settings and the metrics of a finished run; None if they do not say."""
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
    return None  # by its epochs, or by settings that were changed later
