"""`concatmt inspect context-use`: show how much context helps to predict given translations."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.inspect import inspections


@inspections.command("context-use")
def context_use(
    scores: Annotated[Path, typer.Argument(help="What `concatmt score` wrote.")],
    output: Annotated[
        Path | None, typer.Option(help="JSON to write, with a figure for every token.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="HTML page to write, with tokens coloured by gain.")
    ] = None,
    documents: Annotated[int, typer.Option(min=1, help="Documents on that page.")] = 20,
) -> None:
    """Show CXMI: what context adds to the log-probability of given translations, in nats.

    Needs the scores of one model with --context 0 and other amounts. Intervals are over
    documents.

    **Examples**

        concatmt inspect context-use scores.jsonl --output context-use.json --html context-use.html
    """
    from concatmt.evaluation.config import EvaluateConfig
    from concatmt.evaluation.evaluate import evaluate_files
    from concatmt.evaluation.measures import context_use as run
    from concatmt.evaluation.page import page
    from concatmt.evaluation.scores import read_scores
    from concatmt.files import write_json, write_text
    from concatmt.tables import markdown_table

    signature, sentences = read_scores(scores)
    uses = run.context_use(sentences)
    if html is not None:
        write_text(html, page(evaluate_files([str(scores)], EvaluateConfig(examples=documents))))
    if output is not None:
        figures = [dataclasses.asdict(use) for use in uses]
        tokens = run.token_gains(sentences)
        write_json(
            output, {"signature": signature.to_json(), "figures": figures, "sentences": tokens}
        )
    table = run.table(uses)
    print(f"{markdown_table(table.header, table.rows)}\n\nsignature: {signature}")
