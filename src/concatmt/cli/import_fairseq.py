"""`concatmt import-fairseq`: a fairseq checkpoint becomes a model directory."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


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
    from concatmt.cli.convert import import_one
    from concatmt.convert.config import ImportConfig

    config = ImportConfig(source_dict=source_dict, target_dict=target_dict)
    import_one(checkpoint, output, config)
