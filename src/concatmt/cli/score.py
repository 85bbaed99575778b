"""`concatmt score`: log-probabilities of given translations, and contrastive test sets."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.decoding.config import ContrastConfig, PoolConfig

PART = 512  # sentences at a time
DOCUMENTS, SETS = "Documents", "Contrastive sets"


@app.command()
@options_of(
    ContrastConfig,
    names={"pool.windows": "batch"},
    groups={"pool": "Speed", **dict.fromkeys(("score", "scope", "ties", "target_context"), SETS)},
    without=("context", "pool.tokens"),
)
def score(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Contrastive sets (JSONL, Voita's or ContraPro's JSON), or one file of documents"
            " with translations (JSONL, TSV, XLIFF, or a text with --target)."
        ),
    ],
    config: ContrastConfig,
    output: Annotated[
        Path | None,
        typer.Option(help="JSONL to write (default for documents: standard output)."),
    ] = None,
    context: Annotated[
        list[int] | None,
        typer.Option(
            min=0, help="Context sentences; repeat it for documents to compare. All by default."
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(help="The translations of a text, line by line.", rich_help_panel=DOCUMENTS),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            help="Format of the input, as in 'prepare' (default: by the file's name).",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help="ContraPro's folder of extracted subtitles.", rich_help_panel=SETS),
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
) -> None:
    """Score given translations: documents token by token, contrastive sets item by item.

    For documents, writes one line per sentence and amount of context: the tokens and
    their natural log-probabilities. For sets, prints accuracy, chance level and number of items,
    and writes every candidate's scores; the defaults are the paper's score.

    **Examples**

        concatmt score model test.en --target test.de --context 0 --context 3 --output scores.jsonl

        concatmt score model deixis_test.json lex_cohesion_test.json --output items.jsonl

        concatmt score model contrapro.json --documents documents --ties wrong
    """
    from concatmt.errors import UserError
    from concatmt.evaluation.suite import kind_of

    given = target is not None or input_format is not None
    for path in inputs:
        if not path.is_file() and str(path) != "-":
            raise UserError(f"{path}: no such file")
    of_documents = given or any(
        path.suffix not in (".json", ".jsonl") or kind_of(path) == "documents" for path in inputs
    )
    if not of_documents:
        if context and len(context) > 1:
            raise UserError("--context: contrastive sets take one amount of context only")
        chosen = config.model_copy(update={"context": context[0] if context else None})
        _score_sets(model, inputs, chosen, output, documents, int8)
        return
    if len(inputs) > 1:
        raise UserError("score: give one file of documents at a time")
    if documents is not None:
        raise UserError("--documents: only applies to contrastive sets")
    _score_documents(model, inputs[0], target, input_format, context, output, config.pool, int8)


def _score_sets(
    model: Path,
    paths: Sequence[Path],
    config: ContrastConfig,
    output: Path | None,
    documents: Path | None,
    int8: bool,
) -> None:
    from concatmt.decoding.contrast import Contrast
    from concatmt.decoding.loading import LoadedModel
    from concatmt.evaluation.answers import (
        answer_set,
        remarks,
        sets_signature,
        summary_table,
        write_answers,
    )
    from concatmt.evaluation.sets import read_set
    from concatmt.progress import progress

    read = [read_set(path, documents) for path in paths]
    judge = Contrast(LoadedModel.load(model, int8), config)
    with progress("score", sum(len(test_set.items) for test_set in read), "items") as bar:
        answers = [answer_set(judge, test_set, bar) for test_set in read]
    signature = sets_signature(judge, read)
    if output is not None:
        write_answers(output, signature, read, answers)
    print(summary_table(read, [[answer.verdict for answer in of_set] for of_set in answers]))
    for name, remark in remarks(read).items():
        print(f"note: {name}: {remark}", file=sys.stderr)
    print(f"signature: {signature}", file=sys.stderr)


def _score_documents(
    model: Path,
    path: Path,
    target: Path | None,
    input_format: str | None,
    context: Sequence[int] | None,
    output: Path | None,
    pool: PoolConfig,
    int8: bool,
) -> None:
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
    parts = read_parts(path, input_format or format_of(path), PART, report, target)
    totals = {amount: [0.0, 0] for amount in contexts}
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if output is not None:
            temporary = stack.enter_context(atomic_file(output))
            file = stack.enter_context(temporary.open("w", encoding="utf-8"))
        bar = stack.enter_context(progress("score", unit="sentences"))
        file.write(json.dumps({"signature": scorer.signature.to_json()}) + "\n")
        for scores in scorer.scores(parts):
            for sentence in scores:
                record = score_record(sentence)
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                totals[sentence.context][0] += record["log_prob"]
                totals[sentence.context][1] += len(sentence.tokens)
            bar.advance(len(scores) // len(contexts))
    for line in report.messages():
        print(f"note: {line}", file=sys.stderr)
    for amount, (sum_of_all, tokens) in totals.items():
        if tokens:
            mean = sum_of_all / tokens
            print(f"context {amount}: {mean:.4f} nats a token, {tokens:,} tokens", file=sys.stderr)
    print(f"signature: {scorer.signature}", file=sys.stderr)
