"""`concatmt demo`: Generate a corpus, train three systems on it, translate and compare them."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for all of it.")] = Path("demo"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Every step in two minutes, with untrained models.")
    ] = False,
) -> None:
    """Show the whole way on a generated corpus, each command as one would type it.

    Takes six and a half minutes on two cores and needs no downloads; run it again to go on after an
    interruption. The report has plots with the extra `plots`.

    **Examples**

        concatmt demo

        concatmt demo --quick --output try
    """
    from concatmt.setup.demo import play

    raise typer.Exit(play(output, quick))
