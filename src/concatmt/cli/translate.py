"""`concatmt translate`: documents in, the same number of sentences out."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app


@app.command()
def translate(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    inputs: Annotated[
        list[Path] | None, typer.Argument(help="Files; '-' or nothing: standard input.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write; standard output by default, or for `-`.")
    ] = None,
    format_: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="Of the output.")
    ] = "text",
    input_format: Annotated[
        Literal["text", "jsonl", "tsv"] | None,
        typer.Option(help="Of the input; by the name of the file otherwise."),
    ] = None,
    mode: Annotated[
        Literal["prefix", "redecode"],
        typer.Option(help="Force the context's own translations, or redo them (the paper)."),
    ] = "prefix",
    target_context: Annotated[
        Literal["own", "gold", "none"], typer.Option(help="What 'prefix' forces.")
    ] = "own",
    gold: Annotated[
        Path | None, typer.Option(help="Translations of a text, for --target-context gold.")
    ] = None,
    context: Annotated[
        int | None, typer.Option(min=0, help="Context sentences; all that the model was made for.")
    ] = None,
    beam: Annotated[int, typer.Option(min=1, help="Beam size; 1 is greedy.")] = 4,
    length_penalty: Annotated[
        float, typer.Option(help="A hypothesis scores sum of log-probs / length ** penalty.")
    ] = 0.6,
    stop: Annotated[
        Literal["certain", "likely", "best"] | None,
        typer.Option(
            help="End a search when no better translation can come, or when none is likely to:"
            " likely in 'prefix', certain in 'redecode'. best: as generate() of transformers."
        ),
    ] = None,
    length_factor: Annotated[
        float, typer.Option(min=0, help="Longest translation: factor * source + constant tokens.")
    ] = 2.0,
    length_constant: Annotated[int, typer.Option(min=1, help="See --length-factor.")] = 20,
    nbest: Annotated[int, typer.Option(min=1, help="Translations a sentence, in JSONL.")] = 1,
    windows: Annotated[bool, typer.Option(help="Whole windows too, in JSONL.")] = False,
    sample: Annotated[bool, typer.Option(help="Draw translations instead of searching.")] = False,
    temperature: Annotated[float, typer.Option(help="Of --sample.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of --sample.")] = 1,
    unconstrained: Annotated[
        bool, typer.Option("--unconstrained", help="Leave the sentence count to the model.")
    ] = False,
    miscount: Annotated[
        Literal["last", "retranslate"],
        typer.Option(help="If it is wrong: take what follows the last separator, or redo."),
    ] = "last",
    max_tokens: Annotated[int, typer.Option(min=2, help="Longest source window, in tokens.")] = 512,
    long: Annotated[
        Literal["split", "copy", "error"], typer.Option(help="What to do with longer sentences.")
    ] = "split",
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Windows searched together.")] = 64,
    threads: Annotated[int, typer.Option(min=0, help="Batches at a time; 0: all cores.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after a kill.")] = False,
) -> None:
    """Translate documents; every line of input becomes one line of output.

    Text has blank lines between its documents. JSONL has a document a line, `{"source": [...]}`;
    TSV has `document TAB source`. To share the work, start it with `torchrun`.

    **Examples**

        concatmt translate model talk.en --output talk.de

        concatmt translate model docs.jsonl --mode redecode --format jsonl --output docs.out.jsonl

        cat talk.en | concatmt translate model > talk.de

        torchrun --nproc-per-node 4 -m concatmt translate model big.en --output big.de --resume
    """
    from concatmt.corpus.lines import ReadReport
    from concatmt.decoding.chunks import SIZES
    from concatmt.decoding.config import TranslateConfig
    from concatmt.decoding.inputs import STDIN, format_of, read_inputs
    from concatmt.decoding.job import Job, translate_file, translate_stream
    from concatmt.decoding.journal import Journal, Shard
    from concatmt.decoding.outputs import Writer
    from concatmt.decoding.translation import Report
    from concatmt.decoding.translator import Translator
    from concatmt.errors import UserError
    from concatmt.progress import progress
    from concatmt.settings import parse_settings

    config = parse_settings(
        TranslateConfig,
        {
            "mode": mode,
            "target_context": target_context,
            "context": context,
            "miscount": miscount,
            "long": long,
            "max_tokens": max_tokens,
            "nbest": nbest,
            "pool": {"windows": batch, "threads": threads},
            "search": {
                "beam": beam,
                "length_penalty": length_penalty,
                "stop": stop,
                "length_factor": length_factor,
                "length_constant": length_constant,
                "constrained": not unconstrained,
                "sample": sample,
                "temperature": temperature,
                "seed": seed,
            },
        },
        "translate",
    )
    paths = inputs or [STDIN]
    output = None if output == STDIN else output  # `-` is standard output here
    if resume and output is None:
        raise UserError("--resume: only a run with --output can be continued")
    shard = Shard.from_environment()
    if shard.count > 1 and output is None:
        raise UserError("several processes can only write a file: give --output")
    for path in paths:
        if path != STDIN and not path.is_file():
            raise UserError(f"{path}: no such file")
    translator = Translator.load(model, config, int8)
    report = ReadReport()
    formats = [input_format if input_format else format_of(path) for path in paths]
    parts = read_inputs(list(zip(paths, formats, strict=True)), SIZES[mode].sentences, report, gold)
    job = Job(translator, Writer(format_, nbest > 1, windows))
    with progress("translate", unit="sentences") as bar:
        if output is None:
            counted: Report | None = translate_stream(job, parts, sys.stdout, bar)
        else:
            with Journal(output, job.signature, shard, resume) as journal:
                counted = translate_file(job, parts, journal, bar)
    if counted is None:
        return
    for line in [*report.messages(), *counted.messages(config)]:
        print(f"note: {line}", file=sys.stderr)
    print(f"signature: {translator.signature}", file=sys.stderr)
