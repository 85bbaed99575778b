"""`concatmt evaluate`: figures with chance levels, intervals and tests."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concatmt.cli.app import app

MARKER = "evaluation.json"


@app.command()
def evaluate(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE[,FILE]...",
            help="Files of `contrast` or `translate`; files with commas between are seeds.",
        ),
    ],
    references: Annotated[
        Path | None, typer.Option(help="The files are translations: compare with these.")
    ] = None,
    expected: Annotated[
        Path | None, typer.Option(help="The files are translations of these items: look for forms.")
    ] = None,
    convention: Annotated[
        Literal["sentence", "document", "paper-en-ru", "paper-en-de"],
        typer.Option(help="What BLEU is computed on, and how."),
    ] = "sentence",
    test: Annotated[
        Literal["bs", "ar"],
        typer.Option(help="Of BLEU: paired bootstrap or approximate randomisation."),
    ] = "bs",
    samples: Annotated[int, typer.Option(min=1, help="Samples of that test.")] = 1000,
    output: Annotated[
        Path | None, typer.Option(help="Folder for evaluation.json and evaluation.md.")
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Also evaluation.html, with plots of accuracies.")
    ] = False,
) -> None:
    """Compare systems with the first: accuracy, or BLEU and its kin, with honest tests.

    Accuracies come with their chance level and an interval over documents (and seeds). Only what
    survives Holm's correction over the whole table is bold.

    **Examples**

        concatmt evaluate base.jsonl s4to4.jsonl --output evaluation --html

        concatmt evaluate base=b1.jsonl,b2.jsonl,b3.jsonl cd=c1.jsonl,c2.jsonl,c3.jsonl

        concatmt evaluate base.ru s4to4.ru --references test.ru --convention paper-en-ru

        concatmt evaluate s4to4.jsonl --expected testbed/expected.jsonl
    """
    from concatmt.errors import UserError
    from concatmt.evaluation import evaluate as run
    from concatmt.files import atomic_folder, write_json, write_text

    if references is not None and expected is not None:
        raise UserError("--references and --expected are two measures; run the command for each")
    if html and (output is None or references is not None):
        raise UserError("--html draws accuracies into the folder of --output; give that folder")
    given = run.parse_systems(systems)
    if references is not None:
        found = run.translation_quality(given, references, convention, test, samples)
    elif expected is not None:
        found = run.generative(given, expected)
    else:
        found = run.contrastive(given)
    if output is not None:
        with atomic_folder(output, MARKER) as folder:
            write_json(folder / MARKER, found.json)
            write_text(folder / "evaluation.md", found.text + "\n")
            if html:
                from concatmt.evaluation.page import accuracy_page

                page = accuracy_page(found.figures, found.systems, found.text)
                write_text(folder / "evaluation.html", page)
    print(found.text)
