"""`concatmt paper`: the figures of the paper."""

import typer

from concatmt.cli.app import app

paper = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="The figures of the paper."
)
app.add_typer(paper, name="paper")


@paper.callback()
def group() -> None:
    """The figures of the paper."""


@paper.command()
def check() -> None:
    """Recompute the paper's aggregates, and find where its tables and its text disagree.

    Everything is computed from the figures that the paper prints; they come with the package.

    **Examples**

        concatmt paper check
    """
    from concatmt.experiments.paper_check import TOLERANCE, inconsistencies, recompute
    from concatmt.experiments.paper_figures import paper as figures
    from concatmt.tables import markdown_table

    checked = list(recompute(figures()))
    rows = []
    for table in dict.fromkeys(one.table for one in checked):
        for name in dict.fromkeys(one.name for one in checked if one.table == table):
            of_name = [one for one in checked if (one.table, one.name) == (table, name)]
            largest = max(abs(one.printed - one.computed) for one in of_name)
            agree = sum(one.agrees for one in of_name)
            rows.append((table, name, str(len(of_name)), str(agree), f"{largest:.4f}"))
    header = ("table", "aggregate", "rows", f"within {TOLERANCE}", "largest difference")
    print(markdown_table(header, rows))
    print("\nInconsistencies:\n")
    for number, sentence in enumerate(inconsistencies(figures()), start=1):
        print(f"{number}. {sentence}")
