"""`concatmt evaluate`: compare systems, with chance levels, intervals and significance tests."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import SetOption, leaves, options_of
from concatmt.evaluation.config import EvaluateConfig, ExportConfig

RUNS, FILES, CONVENTIONS = "Runs (with --on)", "Files", "Conventions and tests"
EXPORT = "Files for other tools"
OPTIONS = ("measures", "wrong_forms", "conventions", "test", "samples")


@app.command()
@options_of(ExportConfig, "export", groups=dict.fromkeys(ExportConfig.model_fields, EXPORT))
@options_of(
    EvaluateConfig,
    common=("measures",),
    names={"measures": "measures --measure", "conventions": "convention"},
    groups=dict.fromkeys(OPTIONS, CONVENTIONS),
    without=tuple(path for path, _ in leaves(EvaluateConfig) if path not in OPTIONS),
)
def evaluate(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]RUN[,RUN]...",
            help="Training runs or model directories, with --on; otherwise files of scores,"
            " translations or contrastive answers. Separate seeds of one system by commas.",
        ),
    ],
    config: EvaluateConfig,
    export: ExportConfig,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETS",
            help="What to evaluate runs on: contrastive sets, folders of them, testbeds, texts"
            " as SOURCE,REFERENCE[,IDS], the test split of a configuration (YAML). May be"
            " repeated.",
        ),
    ] = None,
    set_: SetOption = None,
    references: Annotated[
        Path | None,
        typer.Option(
            help="The files are translations; these are the references.", rich_help_panel=FILES
        ),
    ] = None,
    expected: Annotated[
        Path | None,
        typer.Option(
            help="The files are translations of these items (testbed, ContraPro, ctxpro): check for"
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
    output: Annotated[
        Path | None,
        typer.Option(help="Folder to write evaluation.html, .json and .md to."),
    ] = None,
    html: Annotated[bool, typer.Option("--html", hidden=True)] = False,
) -> None:
    """Compare systems with the first one: accuracy, BLEU and others, with significance tests.

    With --on, runs score and translate the sets, and their use of context is measured. Results in
    the --output folder are not computed again. Accuracies come with their chance level
    and an interval over documents (and seeds). Only what survives Holm's correction over the whole
    table is bold.

    **Examples**

        concatmt evaluate runs/base runs/s4to4+cd --on testbed --output evaluation

        concatmt evaluate base=b1,b2,b3 cd=c1,c2,c3 --on voita --on test.en,test.ru --output out

        concatmt evaluate base.jsonl s4to4.jsonl --output evaluation

        concatmt evaluate base.ru s4to4.ru --references test.ru --convention paper-en-ru

        concatmt evaluate s4to4.jsonl --expected testbed/expected.jsonl

        concatmt evaluate scores.jsonl --output context-use

        concatmt evaluate out.de --export comet --source test.en --references test.de --output tsv
    """
    from concatmt.cli.export import export as write_export
    from concatmt.errors import UserError
    from concatmt.evaluation import evaluate as run
    from concatmt.settings import overridden, parse_settings

    if export.export is not None:
        files = [Path(system) for system in systems]
        write_export(files, export, output, references, expected, documents)
        return
    if export != ExportConfig():
        raise UserError(
            "--source, --window, --stride, --contexts and --seed only apply with --export"
        )
    tree = config.model_dump(mode="json")
    if config.conventions == EvaluateConfig().conventions and not on:
        tree["conventions"] = ["sentence"]  # scoring whole documents needs runs
    elif on:
        tree["conventions"] = list(dict.fromkeys((*config.conventions, "document")))
    config = parse_settings(EvaluateConfig, overridden(tree, set_ or []), "evaluate")
    if not on:
        report = run.evaluate_files(systems, config, references, expected, documents)
    elif references is not None or expected is not None:
        raise UserError("--references and --expected are for files; runs are given with --on")
    elif output is None:
        raise UserError("--on: also give --output, the folder that keeps the scores")
    else:
        report = run.evaluate_models(systems, on, config, output, documents)
    if output is not None:
        run.write_report(report, output)
    print(report.markdown)
