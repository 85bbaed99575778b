"""`concatmt init`: a configuration that fits the user's corpus and machine."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(help="With train.LANGUAGE files, TMX, TSV or JSONL; dev and test too.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The configuration to write.")
    ] = Path("concatmt.yaml"),
    source: Annotated[str | None, typer.Option(help="Language that is translated from.")] = None,
    target: Annotated[str | None, typer.Option(help="Language that is translated into.")] = None,
    hours: Annotated[float, typer.Option(min=0.01, help="That training may take here.")] = 8.0,
) -> None:
    """Look at a corpus and this machine, and write a configuration that fits both.

    What is proposed comes with its reason, and the commands to go on with the time that each will
    take here, by a probe of some seconds with the proposed model on the user's own sentences.

    **Examples**

        concatmt init corpus

        concatmt init corpus --source en --target de --hours 2 --output small.yaml
    """
    from concatmt.setup.init import start

    found = start(folder, output, source, target, hours)
    for line in found.found:
        print(line)
    print("\nProposed, and why:")
    for line in found.reasons:
        print(f"  {line}")
    print(f"\nWritten to {output}. To go on, with the time that it takes here:\n")
    for command, time in found.commands:
        print(f"  {command}\n      # {time}")
