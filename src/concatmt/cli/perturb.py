"""`concatmt perturb`: a contrastive set with another context."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app


@app.command()
def perturb(
    set_: Annotated[Path, typer.Argument(metavar="SET", help="A contrastive set.")],
    context: Annotated[
        Literal["none", "random", "shuffled", "other"],
        typer.Option(help="No context, any sentences, another order, another document's."),
    ],
    output: Annotated[Path, typer.Option(help="JSONL to write.")],
    documents: Annotated[
        Path | None, typer.Option(help="ContraPro's folder of extracted subtitles.")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(min=2, help="Shuffle only what a window of so many sentences holds."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
) -> None:
    """Change the context of a contrastive set, to see what a system makes of it.

    Items keep their names, so that runs on the set and on its changed twin can be compared. Let
    both files have the same name up to the first dot.

    **Examples**

        concatmt perturb testbed/contrastive/tv.jsonl --context shuffled --output tv.shuffled.jsonl

        concatmt perturb deixis_test.json --context other --output deixis_test.other.jsonl
    """
    from concatmt.evaluation.perturbed_sets import as_lines
    from concatmt.evaluation.perturbed_sets import perturb as run
    from concatmt.evaluation.sets import read_set
    from concatmt.files import write_text

    items = read_set(set_, documents).items
    records, unchanged = run(items, context, seed, window)
    write_text(output, as_lines(records))
    print(f"{output}: {len(records):,} items, {unchanged:,} of them unchanged", file=sys.stderr)
