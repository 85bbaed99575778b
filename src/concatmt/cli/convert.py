"""`concatmt convert`: models of other toolkits in, models for other toolkits out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.conversion.config import ImportConfig


@app.command()
@options_of(
    ImportConfig,
    common=("system",),
    groups=dict.fromkeys(ImportConfig.model_fields, "Models of other toolkits"),
)
def convert(
    path: Annotated[Path, typer.Argument(help="The model: a folder, a zip or a file.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    to: Annotated[
        Literal["huggingface", "ctranslate2"] | None,
        typer.Option(help="Export a model directory; without it, PATH becomes one."),
    ] = None,
    config: ImportConfig,
    quantization: Annotated[
        Literal["int8", "int8_float32", "int16", "float16"] | None,
        typer.Option(
            help="Type of the weights for CTranslate2 (default: float32).", rich_help_panel="Export"
        ),
    ] = None,
) -> None:
    """Turn a pretrained model into a model directory, or a model directory into another format.

    PATH is a MarianMT directory from Hugging Face, a Marian model (a folder, a zip or an npz),
    or a fairseq checkpoint. A tensor or option without a counterpart is refused by name, so the
    result computes the same. A system with windows returns the right number of sentences at once,
    but needs training on documents before its content is good.

    **Examples**

        concatmt convert opus-mt-en-fr --output model

        concatmt convert opus-2020-02-26.zip --system s4to4+cd --output windows

        concatmt convert checkpoint_best.pt --source-dict dict.en.txt --target-dict dict.ru.txt
        --output model

        concatmt convert model --to huggingface --output directory
    """
    from concatmt.conversion.convert import convert_in, convert_out
    from concatmt.errors import UserError
    from concatmt.model.card import UNTRAINED
    from concatmt.model.systems import system_name

    if to is not None:
        if config != ImportConfig():
            raise UserError("--to: import options, such as --system, do not apply to exports")
        convert_out(path, output, to, quantization)
        kind = "a MarianMT directory for transformers" if to == "huggingface" else ""
        print(f"{output}: {kind or 'a model for CTranslate2'}")
        return
    if quantization is not None:
        raise UserError("--quantization: only applies with --to ctranslate2")
    imported = convert_in(path, output, config)
    model, text = imported.model, imported.text
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{output}: {system_name(model.config.system)}, {parameters:,} parameters,"
        f" {len(text.source):,} source and {len(text.target):,} target symbols"
    )
    if not imported.origin.trained_on_windows:
        print(f"note: {UNTRAINED}")
