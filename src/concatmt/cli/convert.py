"""`concatmt convert`: models of other toolkits in, models for other toolkits out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.convert.config import ImportConfig


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
            help="Of the weights for CTranslate2; float32 by default.", rich_help_panel="Export"
        ),
    ] = None,
) -> None:
    """Turn a pretrained model into a model directory, or a model directory into another format.

    PATH may be a MarianMT directory of Hugging Face, a model of Marian (a folder, a zip or an npz),
    or a fairseq checkpoint. Every tensor and option finds its place or is refused: what is written
    computes the same. A system of windows gives the right number of sentences at once, good content
    only after training on documents.

    **Examples**

        concatmt convert opus-mt-en-fr --output model

        concatmt convert opus-2020-02-26.zip --system s4to4+cd --output windows

        concatmt convert checkpoint_best.pt --source-dict dict.en.txt --target-dict dict.ru.txt
        --output model

        concatmt convert model --to huggingface --output directory
    """
    from concatmt.convert.recognise import check_output
    from concatmt.errors import UserError

    check_output(path, output, to)
    if quantization is not None and to != "ctranslate2":
        raise UserError("--quantization: only with --to ctranslate2")
    if to is None:
        import_one(path, output, config)
    elif config != ImportConfig():
        raise UserError("--to: options of imports, such as --system, do not go with it")
    else:
        export_one(path, output, to, quantization)


def import_one(path: Path, output: Path, config: ImportConfig) -> None:
    """Write the model directory of a foreign model."""
    from concatmt.convert.imported import save_imported
    from concatmt.convert.recognise import import_model
    from concatmt.model.card import UNTRAINED
    from concatmt.model.systems import system_name

    imported = import_model(path, config)
    save_imported(imported, output)
    model, text = imported.model, imported.text
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{output}: {system_name(model.config.system)}, {parameters:,} parameters,"
        f" {len(text.source):,} source and {len(text.target):,} target symbols"
    )
    if not imported.origin.trained_on_windows:
        print(f"note: {UNTRAINED}")


def export_one(path: Path, output: Path, to: str, quantization: str | None) -> None:
    """Write a model directory of ours in another format."""
    from concatmt.convert.ctranslate2 import export_ctranslate2
    from concatmt.convert.recognise import own_model
    from concatmt.convert.to_hugging_face import export_hugging_face
    from concatmt.model.card import read_origin
    from concatmt.model.directory import load_model
    from concatmt.text.pipeline import TextPipeline

    folder = own_model(path)
    model, text = load_model(folder), TextPipeline.load(folder / "text")
    if to == "huggingface":
        export_hugging_face(model, text, output, read_origin(folder), folder)
        print(f"{output}: a MarianMT directory for transformers")
    else:
        export_ctranslate2(model, text, output, quantization)
        print(f"{output}: a model for CTranslate2")
