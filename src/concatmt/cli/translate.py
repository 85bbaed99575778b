"""`concatmt translate`: translate documents, sentence for sentence."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.decoding.config import TranslateConfig
from concatmt.segments.config import FileConfig

INPUT, OUTPUT, SPEED = "Input", "Output", "Speed"
MARKUP = "Subtitles, pages and other files with markup"


@app.command()
@options_of(
    FileConfig,
    "markup",
    groups=dict.fromkeys(FileConfig.model_fields, MARKUP),
    names={"subtitles.capitals": "keep-capitals"},
)
@options_of(
    TranslateConfig,
    common=("mode", "context", "search.beam"),
    names={"search.constrained": "unconstrained", "pool.windows": "batch"},
    groups={
        "target_context": "Context",
        "max_tokens": "Long sentences",
        "long": "Long sentences",
        "nbest": OUTPUT,
        "miscount": "Sentence count",
        "search.constrained": "Sentence count",
        "search": "Search",
        "pool": SPEED,
    },
    without=("pool.tokens",),
)
def translate(
    model: Annotated[Path, typer.Argument(help="A model directory.")],
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders (default, or '-': standard input)."),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write, or a folder for several (default: standard output)."),
    ] = None,
    format_: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="Format of the output.")
    ] = "text",
    config: TranslateConfig,
    markup: FileConfig,
    input_format: Annotated[
        str | None,
        typer.Option(
            help="Format of the input, as in 'prepare' (default: by the file's name).",
            rich_help_panel=INPUT,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Translations of a text, for --target-context gold.", rich_help_panel="Context"
        ),
    ] = None,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows", help="Also write whole windows, in JSONL.", rich_help_panel=OUTPUT
        ),
    ] = False,
    int8: Annotated[bool, typer.Option("--int8", help="8-bit linear layers, on the CPU.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after a kill.")] = False,
) -> None:
    """Translate documents; every line of input becomes one line of output.

    Text has blank lines between its documents. JSONL has one document a line, `{"source": [...]}`;
    TSV has `document TAB source`. Subtitles (srt, vtt, ass), running text (txt), Markdown, HTML,
    XLIFF, EPUB and DOCX come back as they were. To share the work, start it with `torchrun`.

    **Examples**

        concatmt translate model talk.en --output talk.de

        concatmt translate model film.srt --output film.fr.srt

        concatmt translate model docs.jsonl --mode redecode --format jsonl --output docs.out.jsonl

        cat talk.en | concatmt translate model > talk.de

        torchrun --nproc-per-node 4 -m concatmt translate model big.en --output big.de --resume
    """
    from concatmt.corpus.formats import comes_back, decisions, format_named, format_of, written_back
    from concatmt.corpus.lines import ReadReport
    from concatmt.decoding.chunks import SIZES
    from concatmt.decoding.inputs import STDIN, read_inputs
    from concatmt.decoding.job import Job, translate_file, translate_stream
    from concatmt.decoding.journal import Journal, Shard
    from concatmt.decoding.markup_job import find_files
    from concatmt.decoding.outputs import Writer
    from concatmt.decoding.translation import Report
    from concatmt.decoding.translator import Translator
    from concatmt.errors import UserError
    from concatmt.files import is_stream, open_stream
    from concatmt.progress import progress

    paths = inputs or [STDIN]
    output = None if output == STDIN else output  # `-` means standard output here
    stream = output is None or is_stream(output)
    if resume and stream:
        raise UserError("--resume: needs --output, the file to continue")
    shard = Shard.from_environment()
    if shard.count > 1 and stream:
        raise UserError("several processes can only write a file: give --output")
    by_line = bool(format_ != "text" or gold or windows or shard.count > 1)
    if by_line and markup.split == "auto":
        markup = markup.model_copy(update={"split": "lines"})
    kind = f".{input_format}" if f".{input_format}" in written_back() else None
    plain = format_named(input_format).name() if input_format and kind is None else None
    if kind is not None or (
        plain is None
        and any(path != STDIN and (path.is_dir() or comes_back(path, markup)) for path in paths)
    ):
        if by_line:
            raise UserError(
                "files with markup and text that is not UTF-8 are written whole, by one process:"
                " drop --format, --gold, --windows and torchrun"
            )
        files = find_files(paths, kind)
        _translate_markup(model, files, output, config, markup, int8, resume)
        return
    for path in paths:
        if path != STDIN and not path.is_file():
            raise UserError(f"{path}: no such file")
    decided = decisions(paths, markup) if plain is None else []
    translator = Translator.load(model, config, int8)
    report = ReadReport()
    formats = [plain or format_of(path) for path in paths]
    parts = read_inputs(
        list(zip(paths, formats, strict=True)), SIZES[config.mode].sentences, report, gold
    )
    job = Job(translator, Writer(format_, config.nbest > 1, windows))
    with progress("translate", unit="sentences") as bar:
        if output is None:
            counted: Report | None = translate_stream(job, parts, sys.stdout, bar)
        elif stream:  # a device or a pipe has no folder for a journal
            with open_stream(output) as file:
                counted = translate_stream(job, parts, file, bar)
        else:
            with Journal(output, job.signature, shard, resume) as journal:
                counted = translate_file(job, parts, journal, bar)
    if counted is None:
        return
    _tell([*decided, *translator.notes, *report.messages(), *counted.messages(config)])
    print(f"signature: {translator.signature}", file=sys.stderr)


def _translate_markup(
    model: Path,
    files: Sequence[tuple[Path, Path, str]],
    output: Path | None,
    config: TranslateConfig,
    markup: FileConfig,
    int8: bool,
    resume: bool,
) -> None:
    """Translate subtitles, pages and books; each comes back as the same kind of file."""
    from concatmt.corpus.formats import decisions
    from concatmt.decoding.markup_job import (
        MarkupJob,
        count_sentences,
        read_context,
        targets_of,
    )
    from concatmt.decoding.translator import Translator
    from concatmt.progress import progress

    context = read_context(markup.context_file, markup.context_translation)
    translator = Translator.load(model, config, int8)
    languages = translator.text.settings.languages
    chosen = markup.model_copy(
        update={
            "source_language": markup.source_language or languages.source,
            "target_language": markup.target_language or languages.target,
        }
    )
    sources = targets_of(files, output)
    count = count_sentences(sources, chosen)
    job = MarkupJob(translator, chosen, context, resume)
    with progress("translate", count, unit="sentences") as bar:
        summary = job.run(sources, bar, decisions([path for path, _, _ in files], chosen))
    width = max(map(len, summary.counts))
    for name, value in summary.counts.items():
        if value:
            print(f"{name:{width}} {value:>8,}", file=sys.stderr)
    _tell([*translator.notes, *job.report.messages(config)])
    print(f"signature: {translator.signature}", file=sys.stderr)


def _tell(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
