"""`concatmt inspect compare`: show translations side by side."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.inspect import inspections


@inspections.command()
def compare(
    source: Annotated[Path, typer.Argument(help="The text that was translated.")],
    translations: Annotated[
        list[Path], typer.Argument(help="Two or more translations, line for line.")
    ],
    differing: Annotated[
        bool, typer.Option("--differing", help="Only show sentences whose translations differ.")
    ] = False,
) -> None:
    """Show translations of the same text side by side and mark the words that differ.

    Words are compared with the first translation.

    **Examples**

        concatmt inspect compare talk.en base.ru s4to4.ru --differing
    """
    from concatmt.corpus.lines import ReadReport, read_lines
    from concatmt.errors import UserError
    from concatmt.evaluation.side_by_side import bold, side_by_side, starred

    if len(translations) < 2:
        raise UserError("inspect compare: give two translations or more")
    report = ReadReport()
    sources = list(read_lines(source, report))
    systems = []
    for path in translations:
        lines = list(read_lines(path, report))
        if len(lines) != len(sources):
            raise UserError(
                f"{path}: {len(lines):,} lines, but {source} has {len(sources):,}; give the"
                " translation of this file"
            )
        systems.append((path.stem, lines))
    mark = bold if sys.stdout.isatty() else starred
    print(side_by_side(sources, systems, mark, differing))
