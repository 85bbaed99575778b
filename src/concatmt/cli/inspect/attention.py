"""`concatmt inspect attention`: how much attention stays in the current sentence."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.inspect import inspections


@inspections.command()
def attention(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    pairs: Annotated[
        Path, typer.Argument(help="Documents with translations: JSONL, TSV, or a text.")
    ],
    target: Annotated[
        Path | None, typer.Option(help="The translations of a text, line by line.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="JSON to write.")] = None,
    input_format: Annotated[
        str | None,
        typer.Option(help="Format of the input, as in 'prepare' (default: by the file's name)."),
    ] = None,
    documents: Annotated[int, typer.Option(min=1, help="Use only the first documents.")] = 100,
) -> None:
    """Show where the tokens of the current sentence attend, layer by layer.

    Prints the share of attention on the current sentence and the entropy of attention, each
    beside the value of uniform attention. The decoder is fed the given translations.

    **Examples**

        concatmt inspect attention model test.en --target test.de --output attention.json
    """
    from concatmt.corpus.formats import format_of, whole_documents
    from concatmt.decoding.loading import LoadedModel
    from concatmt.evaluation.measures.attention import (
        attention_of,
        attention_table,
        write_layers,
    )
    from concatmt.tables import markdown_table

    files = [pairs] if target is None else [pairs, target]
    parts = whole_documents(files, input_format or format_of(pairs), documents)
    signature, layers = attention_of(LoadedModel.load(model), parts)
    if output is not None:
        write_layers(output, signature, layers)
    table = attention_table(layers)
    print(markdown_table(table.header, table.rows))
    print(f"signature: {signature}", file=sys.stderr)
