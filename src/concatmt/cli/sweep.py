"""`concatmt sweep`: learning rates and seeds, the best by validation loss."""

import enum
import math
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import ConfigArgument, SetOption


class Launcher(enum.StrEnum):
    """Where runs are carried out."""

    local = "local"
    slurm = "slurm"


@app.command()
def sweep(
    config: ConfigArgument,
    data: Annotated[Path, typer.Option(help="A store, from `concatmt prepare`.")],
    system: Annotated[list[str], typer.Option(help="A system; may be given several times.")],
    output: Annotated[Path, typer.Option(help="Folder of all the runs.")],
    rates: Annotated[str, typer.Option(help="Peak learning rates.")] = "7e-4,9e-4,1e-3,3e-3",
    seeds: Annotated[str, typer.Option(help="Seeds.")] = "1",
    launcher: Annotated[Launcher, typer.Option(help="Where to run.")] = Launcher.local,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, with local.")] = 2,
    partition: Annotated[str, typer.Option(help="SLURM partition.")] = "",
    minutes: Annotated[int, typer.Option(min=1, help="Time limit of a SLURM job.")] = 1440,
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of a SLURM job.")] = 1,
    set_: SetOption = None,
) -> None:
    """Train systems with several learning rates and seeds; run it again to resume.

    The default rates are the paper's grid. Every run is a directory of `concatmt train`.

    **Examples**

        concatmt sweep testbed --data data --system s4to4 --system s4to4+cd --output sweeps/a

        concatmt sweep en-ru-opensubtitles --data data --system base --output s --launcher slurm
    """
    from concatmt.config import Config
    from concatmt.errors import UserError
    from concatmt.model.systems import parse_system, system_name
    from concatmt.settings import load_settings
    from concatmt.tables import markdown_table
    from concatmt.training import sweep as runner

    settings = load_settings(Config, config, set_ or [])
    systems = [system_name(parse_system(name)) for name in system]
    try:
        rate_list = [float(rate) for rate in rates.split(",")]
        seed_list = [int(seed) for seed in seeds.split(",")]
    except ValueError as error:
        raise UserError(f"--rates and --seeds are numbers with commas between: {error}") from error
    if not all(0 < rate < math.inf for rate in rate_list) or min(seed_list) < 0:
        raise UserError("--rates are numbers above 0, --seeds from 0")
    trials = runner.trials(systems, rate_list, seed_list, output)
    missing = [(t, t.command(config, data, set_ or [])) for t in trials if not t.finished]
    if launcher is Launcher.local:
        failed = runner.run_here(missing, jobs)
    else:
        options = {"timeout_min": minutes, "gpus_per_node": gpus}
        if partition:
            options["slurm_partition"] = partition  # type: ignore[assignment]
        failed = runner.run_on_cluster(missing, output, "slurm", options)
    if failed:
        log = failed[0].folder.with_name(f"{failed[0].folder.name}.log")
        raise UserError(f"{len(failed)} of {len(trials)} runs failed; see {log}")
    rows = runner.summarise(trials, settings.training.stop_metric, output)
    print(
        markdown_table(
            ("System", "Best rate", settings.training.stop_metric, "By rate"),
            [
                (
                    row["system"],
                    f"{row['best_rate']:g}",
                    f"{row['value']:.4f}",
                    ", ".join(f"{rate}: {value:.4f}" for rate, value in row["by_rate"].items()),
                )
                for row in rows
            ],
        )
    )
