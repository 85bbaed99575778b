"""`concatmt import-fairseq`: a fairseq checkpoint becomes a model directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concatmt.cli.app import app

if TYPE_CHECKING:
    from concatmt.text.vocabulary import Vocabulary


@app.command("import-fairseq")
def import_fairseq(
    checkpoint: Annotated[Path, typer.Argument(help="A checkpoint of fairseq (.pt).")],
    source_dict: Annotated[Path, typer.Option(help="Its dict.SOURCE.txt.")],
    target_dict: Annotated[Path, typer.Option(help="Its dict.TARGET.txt.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model directory to write.")],
) -> None:
    """Turn a `transformer` or `concat_transformer` into a model directory.

    An option or a tensor that has no equal here is refused: what is written computes the same.
    Text for the model is words separated by spaces, as its dictionaries have them.

    **Examples**

        concatmt import-fairseq checkpoint_best.pt --source-dict dict.en.txt
        --target-dict dict.ru.txt --output model
    """
    from concatmt.interop.fairseq import import_checkpoint
    from concatmt.model.directory import save_model
    from concatmt.model.systems import system_name

    model, source, target = import_checkpoint(checkpoint, source_dict, target_dict)
    save_model(output, model, lambda folder: write_text(folder, source, target))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{output}: {system_name(model.config.system)}, {parameters:,} parameters,"
        f" {len(source):,} source and {len(target):,} target symbols"
    )


def write_text(folder: Path, source: "Vocabulary", target: "Vocabulary") -> None:
    """The text side of the model: words separated by spaces, in these vocabularies."""
    from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
    from concatmt.text.whitespace import WhitespaceCodec, WhitespaceConfig

    same = source.symbols == target.symbols
    config = WhitespaceConfig(vocabulary="joint" if same else "separate")
    # A checkpoint need not name its languages, and words between spaces need no rules of any.
    settings = TextSettings(languages=Languages(source="und", target="und"), text=config)
    codecs = WhitespaceCodec(source), WhitespaceCodec(target)
    TextPipeline(settings, *codecs).save(folder / "text")
