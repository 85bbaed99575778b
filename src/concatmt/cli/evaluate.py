"""`concatmt evaluate`: figures with chance levels, intervals and tests."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from concatmt.cli.app import app
from concatmt.cli.options import SetOption

RUNS, FILES, BLEU = "Runs (with --on)", "Files", "Conventions and tests"


@app.command()
def evaluate(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]RUN[,RUN]...",
            help="Training runs or model directories, with --on; else files of answers,"
            " translations or scores. Commas stand between seeds of one system.",
        ),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETS",
            help="What runs are evaluated on: contrastive sets, folders of them, testbeds, texts"
            " as SOURCE,REFERENCE[,IDS], the test split of a configuration (YAML). May be given"
            " several times.",
            rich_help_panel=RUNS,
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures",
            "--measure",
            metavar="NAME,...",
            help="Only contrastive, generative, quality, perturbation, context-use or attention;"
            " all that is possible by default.",
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
        typer.Option(
            help="ContraPro's folder of subtitles, or ctxpro's file of inputs.",
            rich_help_panel=FILES,
        ),
    ] = None,
    wrong_forms: Annotated[
        Literal["absent", "ignored"],
        typer.Option(
            help="Of generative accuracy: whether they must be absent.", rich_help_panel=BLEU
        ),
    ] = "absent",
    convention: Annotated[
        Literal["sentence", "document", "paper-en-ru", "paper-en-de"],
        typer.Option(help="What BLEU is computed on, and how."),
    ] = "sentence",
    test: Annotated[
        Literal["bs", "ar"],
        typer.Option(
            help="Of BLEU: paired bootstrap or approximate randomisation.", rich_help_panel=BLEU
        ),
    ] = "bs",
    samples: Annotated[
        int, typer.Option(min=1, help="Samples of that test.", rich_help_panel=BLEU)
    ] = 1000,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for evaluation.html, evaluation.json and evaluation.md."),
    ] = None,
    html: Annotated[bool, typer.Option("--html", hidden=True)] = False,
) -> None:
    """Compare systems with the first: accuracy, or BLEU and its kin, with honest tests.

    With --on, runs are scored and translated, their context is perturbed and its use measured; what
    the folder of --output has already is not done again. Accuracies come with their chance level
    and an interval over documents (and seeds). Only what survives Holm's correction over the whole
    table is bold.

    **Examples**

        concatmt evaluate runs/base runs/s4to4+cd --on testbed --output evaluation

        concatmt evaluate base=b1,b2,b3 cd=c1,c2,c3 --on voita --on test.en,test.ru --output out

        concatmt evaluate base.jsonl s4to4.jsonl --output evaluation

        concatmt evaluate base.ru s4to4.ru --references test.ru --convention paper-en-ru

        concatmt evaluate s4to4.jsonl --expected testbed/expected.jsonl

        concatmt evaluate scores.jsonl --output context-use
    """
    from concatmt.errors import UserError
    from concatmt.evaluation import evaluate as run
    from concatmt.evaluation.config import EvaluateConfig
    from concatmt.settings import overridden, parse_settings

    chosen = [name.strip() for one in measures or () for name in one.split(",") if name.strip()]
    conventions = [convention] if not on else list(dict.fromkeys((convention, "document")))
    settings: dict[str, Any] = {
        "measures": chosen or None,
        "wrong_forms": wrong_forms,
        "conventions": conventions,
        "test": test,
        "samples": samples,
    }
    config = parse_settings(EvaluateConfig, overridden(settings, set_ or []), "evaluate")
    if not on:
        report = run.evaluate_files(systems, config, references, expected, documents)
    elif references is not None or expected is not None:
        raise UserError("--references and --expected are for files; runs are given with --on")
    elif output is None:
        raise UserError("--on: give --output, the folder that keeps what was scored")
    else:
        report = run.evaluate_models(systems, on, config, output, documents)
    if output is not None:
        run.write_report(report, output)
    print(report.markdown)
