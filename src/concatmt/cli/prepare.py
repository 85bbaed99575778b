"""`concatmt prepare`: turn corpora into a store."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import ConfigArgument, SetOption


@app.command()
def prepare(
    config: ConfigArgument,
    output: Annotated[Path, typer.Option(help="Folder of the store to write.")],
    set_: SetOption = None,
    text: Annotated[
        Path | None, typer.Option(help="Reuse the text pipeline of this store or model.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores by default.")
    ] = None,
) -> None:
    """Turn parallel documents into a vocabulary and a memory-mapped store.

    **Examples**

        concatmt prepare corpus.yaml --output data

        concatmt prepare en-de-iwslt17 --output data --set corpus.root=downloads

        concatmt prepare newtest.yaml --output test --text data
    """
    from concatmt.api import prepare_and_report

    store, report = prepare_and_report(
        config, output, settings=set_ or [], text=text, workers=workers
    )
    for line in report.mended:
        print(f"note: {line}", file=sys.stderr)
    for split, reasons in report.dropped.items():
        for reason, count in sorted(reasons.items()):
            print(f"{split}: dropped {count:,} sentence pairs: {reason}", file=sys.stderr)
        if reasons:
            gaps = f"{report.gapped[split]:,} documents have gaps that no window crosses"
            print(f"{split}: {gaps}", file=sys.stderr)
    from concatmt.corpus.statistics import Statistics, statistics_table

    print(
        statistics_table(
            {name: Statistics.from_json(split.statistics) for name, split in store.splits.items()}
        )
    )
    sizes = {len(store.text.source), len(store.text.target)}
    kind = "joint" if store.text.joint else "source and target"
    print(f"\nvocabulary: {' and '.join(f'{size:,}' for size in sorted(sizes))} ids ({kind})")
    print(f"store: {output} ({store.hash[:12]})")
    for line in report.warnings:
        print(f"warning: {line}", file=sys.stderr)
