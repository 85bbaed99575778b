"""`concatmt init`: propose a configuration that fits a corpus and this machine."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


@app.command()
def init(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder with train.LANGUAGE files, TMX, TSV or JSONL; dev and test as well."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The configuration to write.")
    ] = Path("concatmt.yaml"),
    source: Annotated[str | None, typer.Option(help="Language to translate from.")] = None,
    target: Annotated[str | None, typer.Option(help="Language to translate into.")] = None,
    hours: Annotated[float, typer.Option(min=0.01, help="How long training may take here.")] = 8.0,
) -> None:
    """Look at a corpus and this machine, and write a configuration that fits both.

    Every choice comes with its reason, and the next commands with the time that each will take
    here, measured for a few seconds with the proposed model on your own sentences.

    **Examples**

        concatmt init corpus

        concatmt init corpus --source en --target de --hours 2 --output small.yaml
    """
    from concatmt.setup.init import start

    started = start(folder, output, source, target, hours)
    for line in started.found:
        print(line)
    print("\nProposed, and why:")
    for line in started.reasons:
        print(f"  {line}")
    print(f"\nWritten to {output}. Next steps, with their time on this machine:\n")
    for command, time in started.commands:
        print(f"  {command}\n      # {time}")
