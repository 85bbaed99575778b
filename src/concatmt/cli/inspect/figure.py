"""`concatmt inspect figure`: draw the paper's figures and the encodings."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import Application, Group
from concatmt.cli.inspect import inspections

figures = Application(
    cls=Group, no_args_is_help=True, help="Draw a figure (needs the extra `plots`)."
)
inspections.add_typer(figures, name="figure")


@figures.command()
def pca(
    output: Annotated[Path, typer.Option("--output", "-o", help="A .png, .svg or .pdf file.")],
) -> None:
    """Draw the explained variance of the sinusoidal positions (section 2.3 of the paper).

    **Examples**

        concatmt inspect figure pca --output pca.svg
    """
    from concatmt.paper.commands import pca as sentences
    from concatmt.paper.encoding_figures import draw_pca

    draw_pca(output)
    print(sentences())


@figures.command()
def encodings(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the pictures, one per encoding.")
    ],
) -> None:
    """Draw the matrix of every encoding that adds vectors, over a window of four sentences.

    **Examples**

        concatmt inspect figure encodings --output pictures
    """
    from concatmt.paper.encoding_figures import draw_encoding, kinds_to_draw

    for kind in kinds_to_draw():
        draw_encoding(kind, output / f"{kind}.png")
        print(output / f"{kind}.png")
