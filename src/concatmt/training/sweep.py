"""Runs grids of learning rates and seeds, here or on a SLURM cluster.

Every run is its own `concatmt train`, so each resumes by itself and a sweep is resumed by
running it again. Picks the best learning rate by validation loss, as the paper does.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from concatmt.errors import UserError
from concatmt.files import write_json
from concatmt.model.directory import CONFIG, RUN_MODEL
from concatmt.progress import progress
from concatmt.training.launch import LaunchConfig
from concatmt.training.run import METRICS, Run


@dataclass(frozen=True)
class Trial:
    """One run of a sweep."""

    system: str
    learning_rate: float
    seed: int
    folder: Path

    def command(self, config: str, data: Path, overrides: Sequence[str]) -> list[str]:
        """The command that starts it."""
        settings = [*overrides, f"training.optimiser.learning_rate={self.learning_rate!r}"]
        return [
            *(sys.executable, "-m", "concatmt", "train", config),
            *("--data", str(data), "--system", self.system, "--output", str(self.folder)),
            *("--seed", str(self.seed)),
            *(word for setting in settings for word in ("--set", setting)),
        ]

    @property
    def finished(self) -> bool:
        """Whether it has its averaged model."""
        return (self.folder / RUN_MODEL / CONFIG).is_file()

    def best(self, metric: str) -> float:
        """The lowest validation loss."""
        records = Run(self.folder).metrics()
        values = [r[metric] for r in records if r["kind"] == "valid" and metric in r]
        if not values:
            raise UserError(f"{self.folder / METRICS}: damaged: it has no validations")
        return float(min(values))


def trials(
    systems: Iterable[str], rates: Sequence[float], seeds: Sequence[int], output: Path
) -> list[Trial]:
    """All combinations, each with its own folder."""
    return [
        Trial(system, rate, seed, output / system / f"rate{rate:g}-seed{seed}")
        for system in systems
        for rate in rates
        for seed in seeds
    ]


class InFolder(Protocol):
    """A run with a folder; its log is written beside that."""

    @property
    def folder(self) -> Path: ...


R = TypeVar("R", bound=InFolder)


def run_here(commands: Sequence[tuple[R, list[str]]], jobs: int) -> list[R]:
    """Run trials here, `jobs` at a time with one thread each; returns the failed ones."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ}

    def run(item: tuple[R, list[str]]) -> bool:
        trial, command = item
        trial.folder.mkdir(parents=True, exist_ok=True)
        log = trial.folder.with_name(f"{trial.folder.name}.log")
        with log.open("a") as file:
            return subprocess.run(command, stderr=file, env=environment).returncode == 0

    with ThreadPoolExecutor(jobs) as pool, progress("runs", len(commands), "runs") as bar:
        failed = []
        for (trial, _), good in zip(commands, pool.map(run, commands), strict=True):
            bar.advance()
            if not good:
                failed.append(trial)
    return failed


def run_on_cluster(
    commands: Sequence[tuple[R, list[str]]], folder: Path, cluster: str, options: dict[str, Any]
) -> list[R]:
    """Submit trials by submitit and wait for them; returns the failed ones."""
    try:
        import submitit
    except ImportError as error:
        raise UserError("--launcher slurm: install concatmt[slurm] for it") from error
    try:
        executor = submitit.AutoExecutor(folder=folder / "jobs", cluster=cluster)
        executor.update_parameters(name="concatmt", **options)
        with executor.batch():
            jobs = [executor.submit(subprocess.run, command, check=True) for _, command in commands]
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(f"--launcher {cluster}: no job was submitted: {reason}") from error
    failed = []
    with progress("jobs", len(jobs), "runs") as bar:
        for (trial, _), job in zip(commands, jobs, strict=True):
            if job.exception() is not None:
                failed.append(trial)
            bar.advance()
    return failed


def launch(commands: Sequence[tuple[R, list[str]]], folder: Path, config: LaunchConfig) -> list[R]:
    """Run trials where the settings say; returns the failed ones."""
    if config.launcher == "local":
        return run_here(commands, config.jobs)
    options: dict[str, Any] = {"timeout_min": config.minutes, "gpus_per_node": config.gpus}
    if config.partition:
        options["slurm_partition"] = config.partition
    return run_on_cluster(commands, folder, "slurm", options)


def summarise(done: Sequence[Trial], metric: str, output: Path) -> list[dict[str, Any]]:
    """One row per system with its best rate (mean over seeds); also written to sweep.json."""
    rows = []
    for system in dict.fromkeys(trial.system for trial in done):
        of_system = [trial for trial in done if trial.system == system]
        means = {}
        for rate in dict.fromkeys(trial.learning_rate for trial in of_system):
            values = [t.best(metric) for t in of_system if t.learning_rate == rate]
            means[rate] = sum(values) / len(values)
        best = min(means, key=lambda rate: means[rate])
        rows.append(
            {
                "system": system,
                "best_rate": best,
                "metric": metric,
                "value": means[best],
                "by_rate": {f"{rate:g}": value for rate, value in means.items()},
                "runs": [str(t.folder) for t in of_system if t.learning_rate == best],
            }
        )
    write_json(output / "sweep.json", rows)
    return rows
