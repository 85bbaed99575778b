"""`concatmt inspect stats`: print the paper's corpus table for a store or text files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.inspect import inspections


@inspections.command()
def stats(
    inputs: Annotated[list[Path], typer.Argument(help="Stores, or text files of one language.")],
    ids: Annotated[
        Path | None, typer.Option(help="Document ids of the text files, one a line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
    verify: Annotated[bool, typer.Option(help="Hash every byte of the stores first.")] = False,
) -> None:
    """Show documents, sentences and lengths, as in the paper's corpus table.

    Lengths are mean / standard deviation / maximum. A text file separates its documents
    by blank lines, or has its document ids in a separate file.

    **Examples**

        concatmt inspect stats data

        concatmt inspect stats train.en train.de --ids train.docs
    """
    from concatmt.corpus.statistics import Statistics, file_statistics, statistics_table
    from concatmt.corpus.store import Store

    rows = {}
    for path in inputs:
        if path.is_file():
            rows[path.name] = file_statistics(path, ids)
            continue
        store = Store.open(path, verify=verify)
        for name, split in store.splits.items():
            title = name if len(inputs) == 1 else f"{path.name}/{name}"
            rows[title] = Statistics.from_json(split.statistics)
    if as_json:
        print(json.dumps({name: row.to_json() for name, row in rows.items()}, indent=2))
    else:
        print(statistics_table(rows))
