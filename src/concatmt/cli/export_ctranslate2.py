"""`concatmt export-ctranslate2`: a model for CTranslate2."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app


@app.command(name="export-ctranslate2")
def export_ctranslate2(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    output: Annotated[Path, typer.Argument(help="Folder of the CTranslate2 model to write.")],
    quantization: Annotated[
        Literal["int8", "int8_float32", "int16", "float16"] | None,
        typer.Option(help="Of the weights; float32 by default."),
    ] = None,
) -> None:
    """Export a base or sKtoK system, with or without context discount, for CTranslate2.

    A window goes in as the symbols of its sentences with `</s>` between them and `<end>` at the
    end, and comes out likewise. Systems with sentence positions have no place there.

    **Examples**

        concatmt export-ctranslate2 model ct2

        concatmt export-ctranslate2 model ct2 --quantization int8
    """
    from concatmt.cli.convert import export_one

    export_one(model, output, "ctranslate2", quantization)
