"""`concatmt evaluate`: figures with chance levels, intervals and tests."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from concatmt.cli.app import app
from concatmt.cli.options import SetOption

MARKER = "evaluation.json"
RUNS, FILES = "Runs (with --on)", "Files of contrast and translate"


@app.command()
def evaluate(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]RUN[,RUN]...",
            help="Training runs or model directories, with --on; else files of `contrast` or"
            " `translate`. Commas stand between seeds of one system.",
        ),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETS",
            help="What runs are evaluated on: contrastive sets, folders of them, testbeds, texts"
            " as SOURCE,REFERENCE. May be given several times.",
            rich_help_panel=RUNS,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Only contrastive, generative, quality, perturbation, context-use or attention;"
            " all that the sets allow by default.",
            rich_help_panel=RUNS,
        ),
    ] = None,
    set_: SetOption = None,
    references: Annotated[
        Path | None,
        typer.Option(help="The files are translations: compare with these.", rich_help_panel=FILES),
    ] = None,
    expected: Annotated[
        Path | None,
        typer.Option(
            help="The files are translations of these items (testbed, ContraPro, ctxpro): look for"
            " forms.",
            rich_help_panel=FILES,
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help="ContraPro's folder of subtitles, or ctxpro's file of inputs."),
    ] = None,
    wrong_forms: Annotated[
        Literal["absent", "ignored"],
        typer.Option(help="Of generative accuracy: whether they must be absent."),
    ] = "absent",
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
        bool,
        typer.Option(
            "--html",
            help="Also evaluation.html, with plots of accuracies; runs have it always.",
            rich_help_panel=FILES,
        ),
    ] = False,
) -> None:
    """Compare systems with the first: accuracy, or BLEU and its kin, with honest tests.

    With --on, runs are scored and translated, their context is perturbed and its use measured; what
    the folder of --output has already is not done again. Accuracies come with their chance level
    and an interval over documents (and seeds). Only what survives Holm's correction over the whole
    table is bold.

    **Examples**

        concatmt evaluate runs/base runs/s4to4+cd --on testbed --output evaluation

        concatmt evaluate base=b1,b2,b3 cd=c1,c2,c3 --on voita --on test.en,test.ru --output out

        concatmt evaluate base.jsonl s4to4.jsonl --output evaluation --html

        concatmt evaluate base.ru s4to4.ru --references test.ru --convention paper-en-ru

        concatmt evaluate s4to4.jsonl --expected testbed/expected.jsonl
    """
    from concatmt.errors import UserError
    from concatmt.evaluation import evaluate as run
    from concatmt.evaluation.given import named_files
    from concatmt.files import atomic_folder, write_json, write_text

    if on:
        if references is not None or expected is not None:
            raise UserError("--references and --expected are for files; runs are given with --on")
        if output is None:
            raise UserError("--on: give --output, the folder that keeps what was scored")
        settings: dict[str, Any] = {
            "measures": measure or None,
            "wrong_forms": wrong_forms,
            "conventions": list(dict.fromkeys((convention, "document"))),
            "test": test,
            "samples": samples,
        }
        _evaluate_runs(systems, on, settings, set_ or [], documents, output)
        return
    if measure or set_:
        raise UserError("--measure and --set are for runs: say with --on what to evaluate them on")
    if references is not None and expected is not None:
        raise UserError("--references and --expected are two measures; run the command for each")
    if html and (output is None or references is not None):
        raise UserError("--html draws accuracies into the folder of --output; give that folder")
    given = named_files(systems)
    if references is not None:
        found = run.translation_quality(given, references, convention, test, samples)
    elif expected is not None:
        found = run.generative(given, expected, documents, wrong_forms)
    else:
        found = run.contrastive(given)
    if output is not None:
        with atomic_folder(output, MARKER) as folder:
            write_json(folder / MARKER, found.json)
            write_text(folder / "evaluation.md", found.text + "\n")
            if html and _page_can_be_made():
                from concatmt.evaluation.page import accuracy_page

                page = accuracy_page(found.figures, found.systems, found.text)
                write_text(folder / "evaluation.html", page)
    print(found.text)


def _page_can_be_made() -> bool:
    """Said in a line if not: the tables do not need what pages need."""
    from concatmt.evaluation.comparison_page import page_problem

    problem = page_problem()
    if problem is not None:
        print(f"note: no evaluation.html: {problem}", file=sys.stderr)
    return problem is None


def _evaluate_runs(
    systems: list[str],
    on: list[str],
    settings: dict[str, Any],
    overrides: list[str],
    documents: Path | None,
    output: Path,
) -> None:
    from concatmt.evaluation.bench import check_output
    from concatmt.evaluation.comparison import Comparer
    from concatmt.evaluation.comparison_page import comparison_page
    from concatmt.evaluation.comparison_report import comparison_json, comparison_text
    from concatmt.evaluation.given import parse_given
    from concatmt.evaluation.runs import languages_of, read_candidates
    from concatmt.evaluation.suite import SuiteConfig, read_suite
    from concatmt.files import write_json, write_text
    from concatmt.settings import overridden, parse_settings

    config = parse_settings(SuiteConfig, overridden(settings, overrides), "evaluate")
    check_output(output)
    candidates = read_candidates(parse_given(systems))
    suite = read_suite(on, languages_of(candidates), documents)
    found = Comparer(candidates, suite, config, output).run()
    text = comparison_text(found)
    write_text(output / "evaluation.md", text + "\n")
    if _page_can_be_made():
        write_text(output / "evaluation.html", comparison_page(found, config, text))
    write_json(output / MARKER, comparison_json(found, config))
    print(text)
