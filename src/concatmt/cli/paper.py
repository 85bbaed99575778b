"""`concatmt paper`: fill the paper's tables with runs of our own."""

from pathlib import Path
from typing import Annotated, Any

import typer

from concatmt.cli.app import app
from concatmt.cli.options import SetOption, options_of
from concatmt.training.launch import LaunchConfig


@app.command()
@options_of(
    LaunchConfig,
    "launch",
    groups=dict.fromkeys(LaunchConfig.model_fields, "Where to run"),
    without=("gpus",),
)
def paper(
    launch: LaunchConfig,
    what: Annotated[
        str,
        typer.Argument(help="list, check, run, questions, report, a table from `list`, or all."),
    ],
    setting: Annotated[
        str, typer.Option(help="Corpus to run on; `list` has the names.")
    ] = "testbed-en-ru",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each system.", show_default="the setting's")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, run nothing.")] = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Print the results so far, run nothing.")
    ] = False,
    results: Annotated[Path, typer.Option(help="Folder of results, one for each setting.")] = Path(
        "results"
    ),
    work: Annotated[Path, typer.Option(help="Folder for data and runs.")] = Path("paper-runs"),
    system: Annotated[str, typer.Option(help="With run: the system.")] = "",
    seed: Annotated[int, typer.Option(help="With run: the seed.")] = 1,
    rate: Annotated[float | None, typer.Option(help="With run: the learning rate.")] = None,
    set_: SetOption = None,
) -> None:
    """Tables and figures of the paper: run what is missing, print ours beside the paper's.

    `check` recomputes the paper's aggregates and lists where its tables and text disagree.
    `run` trains, scores and translates once, and adds a line to the results.
    `questions` compares groups of systems; `report` writes all tables, questions and curves.

    **Examples**

        concatmt paper list

        concatmt paper check

        concatmt paper en-ru-cd --setting testbed-en-ru

        concatmt paper report --setting testbed-en-ru

        concatmt paper en-ru --setting en-ru-dialogue --as-is

        concatmt paper all --setting en-ru-opensubtitles --dry-run

        concatmt paper en-de-cd --setting en-de-iwslt17 --set corpus.root=corpora/en-de
    """
    from concatmt.paper import commands

    if what == "list":
        print(commands.list_tables())
    elif what == "check":
        print(commands.check())
    elif what == commands.CORPORA:
        print(commands.corpus_table(work))
    elif what == commands.PCA:
        print(commands.pca())
    elif what == commands.QUESTIONS:
        print(commands.questions(setting, results))
    elif what == commands.REPORT:
        print(commands.report(setting, results))
    elif what == "run":
        commands.run_one(setting, set_ or [], system, seed, rate, work, results)
    else:
        cluster: dict[str, Any] = {"timeout_min": launch.minutes}
        if launch.partition:
            cluster["slurm_partition"] = launch.partition
        request = commands.Request(
            *(what, setting, seeds, launch.launcher, launch.jobs, cluster, work, results),
            tuple(set_ or ()),
        )
        print(request.plan() if dry_run else request.printed() if as_is else request.table())
