"""Finds which runs a table needs, which are missing, and starts them.

Every run is its own command (`concatmt paper run`), here or on a cluster; an interrupted one
resumes. Does not know what a run does.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from concatmt.errors import UserError
from concatmt.paper.comparison import chosen_runs
from concatmt.paper.material import check
from concatmt.paper.printed import Paper
from concatmt.paper.results import Results
from concatmt.paper.run import Job, make_data, make_start
from concatmt.paper.setting import Setting, is_system
from concatmt.training.sweep import run_here, run_on_cluster


def systems_of(setting: Setting, table: str | None, paper: Paper) -> list[str]:
    """The systems to train for a table, or for all tables of a setting."""
    names = setting.systems(paper) if table is None else list(paper.tables[table].rows)
    return list(dict.fromkeys(setting.ours(name) for name in names if is_system(name)))


def missing(
    setting: Setting, systems: Sequence[str], work: Path, results: Results, seeds: int | None = None
) -> list[Job]:
    """Runs without a line of results; first seeds come first, so that all rows grow together.

    The first seed is run at all learning rates, which is the same budget for every system; the
    others at the best of them, once it is known.
    """
    runs = results.runs()
    done = {(run.system, run.seed, run.rate) for run in runs}
    best = chosen_runs(runs)
    jobs = []
    for system in systems:
        first = [Job(setting, system, 1, rate, work) for rate in setting.rates]
        jobs += first
        if all((job.system, job.seed, job.rate) in done for job in first):
            rate = best[system][0].rate
            others = setting.seeds_of(system, seeds)[1:]
            jobs += [Job(setting, system, seed, rate, work) for seed in others]
    left = [job for job in jobs if (job.system, job.seed, job.rate) not in done]
    return sorted(left, key=lambda job: job.seed)


def launch(
    jobs: Sequence[Job], results: Results, launcher: str, processes: int, cluster: dict[str, Any]
) -> None:
    """Do the runs, `processes` at a time on this machine or all of them on a cluster."""
    check(jobs[0].setting, jobs[0].work, launcher, len(jobs))
    make_data(jobs[0].setting, jobs[0].work)
    if not make_start(jobs[0].setting, jobs[0].work):
        raise UserError(f"{jobs[0].work}: stopped before the shared start was trained; run again")
    commands = [(job, [sys.executable, "-m", *command(job, results)]) for job in jobs]
    if launcher == "slurm":
        failed = run_on_cluster(commands, jobs[0].work, "slurm", cluster)
    else:
        failed = run_here(commands, processes)
    if failed:
        raise UserError(
            f"{len(failed)} of {len(jobs)} runs failed, {failed[0].system} (seed {failed[0].seed})"
            f" first; see {failed[0].folder}.log, then run the command again to go on"
        )


def command(job: Job, results: Results) -> list[str]:
    """The command that starts a run."""
    places = ["--work", str(job.work.parent), "--results", str(results.folder.parent)]
    changes = set(job.setting.changes) - set(job.setting.lasting_changes)
    places += [word for change in sorted(changes) for word in ("--set", change)]
    return [*shlex.split(job.command), *places]


def plan(
    setting: Setting, systems: Sequence[str], work: Path, results: Results, seeds: int | None
) -> list[str]:
    """The commands that would be run, and what they cost, without running anything."""
    jobs = missing(setting, systems, work, results, seeds)
    lines = [
        f"# {setting.title}: {len(systems)} systems, {len(jobs)} runs to start with"
        f" (learning rates {', '.join(f'{rate:g}' for rate in setting.rates)})"
    ]
    # Where the first seed is done, the other seeds are among the jobs, but for those done too.
    waiting = {job.system for job in jobs if job.seed == 1}
    others = sum(len(setting.seeds_of(system, seeds)) - 1 for system in waiting)
    if others:
        lines.append(f"# then {others} runs with other seeds, at the best rate of each system")
    if setting.cost is not None:
        hours = setting.cost.hours
        lines.append(
            f"# {hours:.1f} hours of one A100 for a run, {hours * (len(jobs) + others):,.0f} for"
            f" all: {setting.cost.pairs / 1e9:g} G token pairs at"
            f" {setting.cost.pairs_per_second:,.0f}/s (an estimate, with so many epochs assumed)"
        )
        words = ["concatmt", "prepare", setting.config, "--output", str(work / "store")]
        words += [word for change in setting.changes for word in ("--set", change)]
        lines.append(shlex.join(words))
    return lines + [shlex.join(command(job, results)) for job in jobs]
