"""`concatmt contrast`: which candidate translations a model prefers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.decoding.config import ContrastConfig


@app.command()
@options_of(
    ContrastConfig,
    common=("context", "score", "scope", "ties"),
    names={"pool.windows": "batch"},
    groups={"target_context": "Context", "pool": "Speed"},
    without=("pool.tokens",),
)
def contrast(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    sets: Annotated[
        list[Path], typer.Argument(help="JSONL, Voita's JSON or ContraPro's JSON or JSONL.")
    ],
    config: ContrastConfig,
    output: Annotated[Path | None, typer.Option(help="Every item, as JSONL.")] = None,
    documents: Annotated[
        Path | None, typer.Option(help="ContraPro's folder of extracted subtitles.")
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
) -> None:
    """Score contrastive test sets; the defaults are the paper's score.

    Prints accuracy, chance level and number of items of each set. With --output, one line per item
    holds every candidate's scores.

    **Examples**

        concatmt contrast model deixis_test.json lex_cohesion_test.json --output items.jsonl

        concatmt contrast model contrapro.json --documents documents --ties wrong

        concatmt contrast model testbed.jsonl --score sum --scope current
    """
    from concatmt.decoding.contrast import Contrast
    from concatmt.decoding.loading import LoadedModel
    from concatmt.evaluation import items
    from concatmt.evaluation.sets import read_set
    from concatmt.progress import progress

    read = [read_set(path, documents) for path in sets]
    judge = Contrast(LoadedModel.load(model, int8), config)
    with progress("contrast", sum(len(one.items) for one in read), "items") as bar:
        answers = [items.answer_set(judge, one, bar) for one in read]
    signature = items.sets_signature(judge, read)
    if output is not None:
        items.write_answers(output, signature, read, answers)
    print(items.summary_table(read, [[one.verdict for one in of_set] for of_set in answers]))
    for name, remark in items.remarks(read).items():
        print(f"note: {name}: {remark}", file=sys.stderr)
    print(f"signature: {signature}", file=sys.stderr)
