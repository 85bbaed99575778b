"""`concatmt export`: translations for tools that run elsewhere."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import Application, Group, app

exports = Application(
    cls=Group,
    no_args_is_help=True,
    help="Write what COMET, SLIDE, MuDA and ctxpro read; make items of sets.",
)
app.add_typer(exports, name="export")

Source = Annotated[Path, typer.Option(help="The source text, blank lines between documents.")]
Documents = Annotated[
    Path | None, typer.Option(help="ContraPro's folder of subtitles, or ctxpro's file of inputs.")
]


@exports.command()
def comet(
    translations: Annotated[Path, typer.Argument(help="A file of `translate`.")],
    source: Source,
    output: Annotated[Path, typer.Option(help="TSV to write.")],
    references: Annotated[
        Path | None, typer.Option(help="Reference text; without it, for quality estimation.")
    ] = None,
    window: Annotated[int, typer.Option(min=1, help="Sentences a line, as in SLIDE.")] = 1,
    stride: Annotated[
        int | None, typer.Option(min=1, help="Sentences between windows.", show_default="window")
    ] = None,
) -> None:
    """Windows of sentences as a TSV with the columns src, mt and ref.

    **Examples**

        concatmt export comet out.de --source test.en --references test.de --output comet.tsv

        concatmt export comet out.de --source test.en --window 6 --stride 3 --output slide.tsv
    """
    from concatmt.evaluation.export import comet_lines, read_sides

    documents = read_sides(source, [translations], references)
    _write(output, comet_lines(documents, window, stride or window))


@exports.command()
def muda(
    translations: Annotated[list[Path], typer.Argument(help="Files of `translate`.")],
    source: Source,
    references: Annotated[Path, typer.Option(help="The reference text.")],
    output: Annotated[Path, typer.Option(help="Folder to write.")],
) -> None:
    """The files src, tgt, docids and hyp.NAME, a line for each sentence.

    **Examples**

        concatmt export muda base.de s4to4.de --source test.en --references test.de --output muda
    """
    from concatmt.errors import UserError
    from concatmt.evaluation.export import muda_columns, read_sides

    names = [f"hyp.{path.stem}" for path in translations]
    if len(set(names)) < len(names):
        raise UserError("two files of translations have the same name; rename one")
    documents = read_sides(source, translations, references)
    (src, *hypotheses, tgt), numbers = muda_columns(documents)
    columns = {"src": src, "tgt": tgt, "docids": numbers}
    columns |= dict(zip(names, hypotheses, strict=True))
    for name, lines in columns.items():
        _write(output / name, lines)


@exports.command()
def items(
    set_: Annotated[Path, typer.Argument(metavar="SET", help="ContraPro's or ctxpro's file.")],
    output: Annotated[Path, typer.Option(help="JSONL to write.")],
    documents: Documents = None,
) -> None:
    """The items of a set as documents that `translate` reads, with the forms to look for.

    **Examples**

        concatmt export items contrapro.json --documents documents --output items.jsonl
    """
    import json

    from concatmt.evaluation.expectations import read_expectations

    found = read_expectations(set_, documents)
    _write(output, (json.dumps(one.record(), ensure_ascii=False) for one in found))


@exports.command()
def ctxpro(
    translations: Annotated[
        Path, typer.Argument(help="Translations of the items, as JSONL of `translate`.")
    ],
    expected: Annotated[Path, typer.Option(help="The set: ctxpro's JSON, or items made of it.")],
    output: Annotated[Path, typer.Option(help="Text to write, a line for each item.")],
) -> None:
    """One line for each item of a set, in its order: what `ctxpro score` reads.

    **Examples**

        concatmt export ctxpro items.out.jsonl --expected gender.json --output gender.de
    """
    from concatmt.evaluation.expectations import read_expectations
    from concatmt.evaluation.export import ctxpro_lines
    from concatmt.evaluation.translations import read_translations

    _write(output, ctxpro_lines(read_translations(translations), read_expectations(expected)))


def _write(path: Path, lines: Iterable[str]) -> None:
    from concatmt.files import write_text

    written = list(lines)
    write_text(path, "".join(f"{line}\n" for line in written))
    print(f"{path}: {len(written):,} lines", file=sys.stderr)
