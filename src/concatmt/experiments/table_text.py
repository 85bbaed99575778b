"""A table of the paper with ours, as Markdown."""

from concatmt.evaluation.resampling import Estimate
from concatmt.experiments.comparison import Comparison, Row
from concatmt.tables import markdown_table


def render_comparison(comparison: Comparison) -> str:
    """A table of the paper with ours."""
    table = comparison.table
    phenomena = list(dict.fromkeys(p for row in comparison.rows for p in row.by_phenomenon or {}))
    detailed = "details" not in table.title and len(table.columns) > 2
    header = ["system", *(f"paper {column}" for column in table.columns), "accuracy", "95%"]
    header += [f"over {comparison.reference}", "95%", "verdict"]
    header += phenomena if detailed else []
    header += ["BLEU", "seeds"]
    rows = [_cells(row, table.columns, phenomena if detailed else []) for row in comparison.rows]
    which = "items that need context" if comparison.remark is None else "items"
    note = (
        f"accuracy: on {comparison.items:,} {which}, chance"
        f" {100 * comparison.chance:.1f}; intervals over documents and seeds; bold: survives"
        " Holm's correction over the table"
    )
    notes = [note] if comparison.remark is None else [note, comparison.remark]
    return "\n".join([table.title, "", markdown_table(header, rows), "", *notes])


def _cells(row: Row, columns: tuple[str, ...], phenomena: list[str]) -> list[str]:
    cells = [row.system if row.system == row.ours else f"{row.system} (here {row.ours})"]
    cells += [f"{row.paper[column]:.2f}" for column in columns]
    if row.accuracy is None or row.bleu is None:
        return cells + ["-"] * (7 + len(phenomena))
    cells += [f"{100 * row.accuracy.value:.1f}", interval(row.accuracy)]
    if row.gain is None:
        cells += ["", "", ""]
    else:
        value = f"{100 * row.gain.estimate.value:+.1f}"
        cells.append(f"**{value}**" if row.gain.survives else value)
        cells += [interval(row.gain.estimate), row.verdict or ""]
    of_phenomena = row.by_phenomenon or {}
    cells += [f"{100 * of_phenomena[name].value:.1f}" for name in phenomena]
    mean, deviation = row.bleu
    return [*cells, f"{mean:.2f} (sd {deviation:.2f})", str(row.seeds)]


def interval(estimate: Estimate, unit: float = 100, digits: int = 1) -> str:
    """Its ends; a dash if there is none."""
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{unit * estimate.low:.{digits}f} to {unit * estimate.high:.{digits}f}"
