"""`concatmt contrast`: which candidate translations a model prefers."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app


@app.command()
def contrast(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    sets: Annotated[
        list[Path], typer.Argument(help="JSONL, Voita's JSON or ContraPro's JSON or JSONL.")
    ],
    output: Annotated[Path | None, typer.Option(help="Every item, as JSONL.")] = None,
    score: Annotated[Literal["mean", "sum"], typer.Option(help="Of log-probs.")] = "mean",
    scope: Annotated[
        Literal["window", "current"], typer.Option(help="The whole window, or its last sentence.")
    ] = "window",
    ties: Annotated[
        Literal["split", "first", "wrong"],
        typer.Option(help="m best: 1/m; Voita's rule (first wins); ContraPro's (wrong)."),
    ] = "split",
    target_context: Annotated[
        Literal["gold", "none"], typer.Option(help="Translations of the context, or none.")
    ] = "gold",
    context: Annotated[
        int | None, typer.Option(min=0, help="Context sentences; all that the model was made for.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="ContraPro's folder of extracted subtitles.")
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Items scored together.")] = 64,
    threads: Annotated[int, typer.Option(min=0, help="Batches at a time; 0: all cores.")] = 0,
) -> None:
    """Score contrastive test sets; the defaults are the paper's score.

    Prints accuracy, chance level and number of items of each set. With --output, one line per item
    holds every candidate's scores.

    **Examples**

        concatmt contrast model deixis_test.json lex_cohesion_test.json --output items.jsonl

        concatmt contrast model contrapro.json --documents documents --ties wrong

        concatmt contrast model testbed.jsonl --score sum --scope current
    """
    from concatmt.decoding.config import ContrastConfig, PoolConfig
    from concatmt.decoding.contrast import Contrast
    from concatmt.decoding.loading import LoadedModel
    from concatmt.evaluation import items
    from concatmt.evaluation.sets import read_set
    from concatmt.progress import progress

    config = ContrastConfig(
        score=score,
        scope=scope,
        ties=ties,
        target_context=target_context,
        context=context,
        pool=PoolConfig(windows=batch, threads=threads),
    )
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
