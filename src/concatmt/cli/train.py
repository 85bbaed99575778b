"""`concatmt train`: train a system on a store, or a grid of rates and seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import ConfigArgument, SetOption, options_of
from concatmt.training.launch import GridConfig

GRID = "Grids of rates and seeds"


@app.command()
@options_of(GridConfig, "grid", groups={"rates": GRID, "seeds": GRID, "launch": GRID})
def train(
    config: ConfigArgument,
    data: Annotated[Path, typer.Option(help="A store, from `concatmt prepare`.")],
    system: Annotated[
        list[str],
        typer.Option(
            help="In the paper's notation, such as s4to4+cd+shift+pers; several make a grid."
        ),
    ],
    output: Annotated[Path, typer.Option(help="The run directory, or that of the grid.")],
    grid: GridConfig,
    init: Annotated[
        Path | None, typer.Option(help="Start from this model directory, with its sizes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of weights, data order and dropout.")] = 1,
    set_: SetOption = None,
) -> None:
    """Train a system; run the same command again to resume after an interruption.

    Several systems, --rates or --seeds make a grid: every combination is a run of its own, and the
    best rate of each system is chosen by validation loss.

    With several processes: `torchrun --nproc-per-node 2 -m concatmt train ...`, which makes the
    same updates as one process.

    **Examples**

        concatmt train testbed --data demo/data --system s4to4+cd --output runs/s4to4+cd

        concatmt train en-de-iwslt17 --data data --system s4to4+cd+lrn --output runs/lrn --seed 2

        concatmt train finetune --init opus-mt --data data --system s4to4+cd --output runs/tuned

        concatmt train testbed --data data --system s4to4 --rates 7e-4,1e-3,3e-3 --output grid

        torchrun --nproc-per-node 2 -m concatmt train testbed --data data --system base --output r
    """
    from concatmt.config import Config
    from concatmt.decoding.samples import translate_samples
    from concatmt.errors import UserError
    from concatmt.model.systems import parse_system
    from concatmt.settings import load_settings
    from concatmt.training.train import make_task
    from concatmt.training.train import train as run

    if grid.rates or grid.seeds or len(system) > 1:
        if init is not None:
            raise UserError("--init: only a single run can start from a model, not a grid")
        _train_grid(config, data, system, output, seed, grid, set_ or [])
        return
    if grid != GridConfig():
        raise UserError("--launcher and the like are for grids: also give --rates or --seeds")
    settings = load_settings(Config, config, set_ or [])
    task = make_task(data, parse_system(system[0]), settings.model, settings.training, seed, init)
    run(task, output, translate_samples)


def _train_grid(
    config: str,
    data: Path,
    system: Sequence[str],
    output: Path,
    seed: int,
    grid: GridConfig,
    overrides: Sequence[str],
) -> None:
    from concatmt.config import Config
    from concatmt.errors import UserError
    from concatmt.model.systems import parse_system, system_name
    from concatmt.settings import load_settings
    from concatmt.tables import markdown_table
    from concatmt.training import sweep

    settings = load_settings(Config, config, overrides)
    systems = [system_name(parse_system(name)) for name in system]
    rates = grid.rates or (settings.training.optimiser.learning_rate,)
    trials = sweep.trials(systems, rates, grid.seeds or (seed,), output)
    missing = [(t, t.command(config, data, overrides)) for t in trials if not t.finished]
    failed = sweep.launch(missing, output, grid.launch)
    if failed:
        log = failed[0].folder.with_name(f"{failed[0].folder.name}.log")
        raise UserError(f"{len(failed)} of {len(trials)} runs failed; see {log}")
    metric = settings.training.stop_metric
    rows = [
        (
            row["system"],
            f"{row['best_rate']:g}",
            f"{row['value']:.4f}",
            ", ".join(f"{rate}: {value:.4f}" for rate, value in row["by_rate"].items()),
        )
        for row in sweep.summarise(trials, metric, output)
    ]
    print(markdown_table(("System", "Best rate", metric, "By rate"), rows))
