"""`concatmt score`: log-probs of given translations."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.decoding.config import PoolConfig

PART = 512  # sentences at a time


@app.command()
@options_of(
    PoolConfig,
    "pool",
    names={"windows": "batch"},
    groups={"windows": "Speed", "threads": "Speed"},
    without=("tokens",),
)
def score(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    pairs: Annotated[
        Path, typer.Argument(help="Documents with translations: JSONL, TSV, or a text.")
    ],
    pool: PoolConfig,
    target: Annotated[
        Path | None, typer.Option(help="The translations of a text, line by line.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="JSONL to write; standard output by default.")
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(help="Of the input, as in 'prepare'; by the name of the file otherwise."),
    ] = None,
    context: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Context sentences; give several to compare. All by default."),
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
) -> None:
    """Score given translations of documents, per sentence and per token.

    Writes one line for each sentence and each amount of context: its tokens and their natural
    log-probabilities. The mean over all sentences goes to standard error.

    **Examples**

        concatmt score model talks.jsonl --output scores.jsonl

        concatmt score model test.en --target test.de --context 0 --context 3 --output scores.jsonl
    """
    from concatmt.corpus.formats import format_of
    from concatmt.corpus.lines import ReadReport
    from concatmt.decoding.document_scores import DocumentScorer
    from concatmt.decoding.inputs import read_parts
    from concatmt.decoding.loading import LoadedModel
    from concatmt.evaluation.scores import score_record
    from concatmt.files import atomic_file
    from concatmt.progress import progress

    loaded = LoadedModel.load(model, int8)
    contexts = sorted(set(context or [loaded.engine.config.system.sentences - 1]))
    scorer = DocumentScorer(loaded, contexts, pool)
    report = ReadReport()
    parts = read_parts(pairs, input_format or format_of(pairs), PART, report, target)
    totals = {amount: [0.0, 0] for amount in contexts}
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if output is not None:
            temporary = stack.enter_context(atomic_file(output))
            file = stack.enter_context(temporary.open("w", encoding="utf-8"))
        bar = stack.enter_context(progress("score", unit="sentences"))
        file.write(json.dumps({"signature": scorer.signature.to_json()}) + "\n")
        for scores in scorer.scores(parts):
            for one in scores:
                record = score_record(one)
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                totals[one.context][0] += record["log_prob"]
                totals[one.context][1] += len(one.tokens)
            bar.advance(len(scores) // len(contexts))
    for line in report.messages():
        print(f"note: {line}", file=sys.stderr)
    for amount, (sum_of_all, tokens) in totals.items():
        if tokens:
            mean = sum_of_all / tokens
            print(f"context {amount}: {mean:.4f} nats a token, {tokens:,} tokens", file=sys.stderr)
    print(f"signature: {scorer.signature}", file=sys.stderr)
