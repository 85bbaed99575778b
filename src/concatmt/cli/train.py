"""`concatmt train`: a system from a store to an averaged model."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import ConfigArgument, SetOption


@app.command()
def train(
    config: ConfigArgument,
    data: Annotated[Path, typer.Option(help="A store, from `concatmt prepare`.")],
    system: Annotated[str, typer.Option(help="In the paper's notation, as s4to4+cd+shift+pers.")],
    output: Annotated[Path, typer.Option(help="The run directory.")],
    init: Annotated[
        Path | None, typer.Option(help="Start from this model directory; its sizes are taken.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of weights, data order and dropout.")] = 1,
    set_: SetOption = None,
) -> None:
    """Train a system; run the same command again to go on after an interruption.

    With several processes: `torchrun --nproc-per-node 2 -m concatmt train ...`, which gives the
    same updates as one process.

    **Examples**

        concatmt train testbed --data demo/data --system s4to4+cd --output runs/s4to4+cd

        concatmt train en-de-iwslt17 --data data --system s4to4+cd+lrn --output runs/lrn --seed 2

        concatmt train finetune --init opus-mt --data data --system s4to4+cd --output runs/tuned

        torchrun --nproc-per-node 2 -m concatmt train testbed --data data --system base --output r
    """
    from concatmt.config import Config
    from concatmt.decoding.samples import translate_samples
    from concatmt.model.systems import parse_system
    from concatmt.settings import load_settings
    from concatmt.training.train import make_task
    from concatmt.training.train import train as run

    settings = load_settings(Config, config, set_ or [])
    task = make_task(data, parse_system(system), settings.model, settings.training, seed, init)
    run(task, output, translate_samples)
