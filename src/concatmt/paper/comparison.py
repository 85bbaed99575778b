"""Compares our figures with the paper's: differences to a reference row, and agreement.

Everything is computed from the files of `results`, and written as Markdown. Does not run anything.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Difference, Figure, figures
from concatmt.evaluation.findings import Table as Cells
from concatmt.evaluation.outcomes import CONTROLS, System
from concatmt.evaluation.resampling import Estimate
from concatmt.evaluation.significance import holm
from concatmt.paper.printed import Paper, Table
from concatmt.paper.results import RUNS, Results, RunRecord
from concatmt.paper.setting import Setting, is_system
from concatmt.tables import markdown_table

KINDS = ("all", "phenomenon")
SAME, OPPOSITE, UNCLEAR = "same direction", "opposite", "not distinguishable"


@dataclass(frozen=True, slots=True)
class Row:
    """One system of a table of the paper."""

    system: str  # as the paper has it
    ours: str  # what was trained for it
    paper: dict[str, float]  # column -> figure
    seeds: int
    accuracy: Estimate | None = None  # on all items that need context
    gain: Difference | None = None  # over the reference row
    by_phenomenon: dict[str, Estimate] | None = None
    bleu: tuple[float, float] | None = None  # mean and standard deviation over seeds
    verdict: str | None = None  # on the direction of the gain


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table of the paper with ours."""

    table: Table
    reference: str
    chance: float
    items: int
    rows: tuple[Row, ...]
    remark: str | None = None  # on the paper's own data: contexts, items and conventions


def compare(setting: Setting, name: str, paper: Paper, results: Results) -> Comparison:
    """The rows of a table, as far as they have runs."""
    table = paper.tables[name]
    runs = chosen_runs(results.runs())
    reference = reference_row(table)
    if setting.ours(reference) not in runs:
        raise UserError(
            f"{results.folder}: no run of {setting.ours(reference)}, with which the others are"
            " compared; run the table without --dry-run"
        )
    names = [row for row in table.rows if setting.ours(row) in runs and row != reference]
    records = [run for row in (reference, *names) for run in runs[setting.ours(row)]]
    _check_comparable(setting, records, results)
    systems = [_system(setting.ours(row), runs, results, table) for row in (reference, *names)]
    by_name = {(figure.kind, figure.name): figure for figure in figures(systems, kinds=KINDS)}
    everything = by_name["all", "all items"]
    gains = [difference for difference in everything.differences if difference is not None]
    for gain, adjusted in zip(gains, holm([gain.p_value for gain in gains]), strict=True):
        gain.adjusted = adjusted
    rows = []
    for row in table.rows:
        ours = setting.ours(row)
        if row != reference and row not in names:
            rows.append(Row(row, ours, table.row(row), 0))
            continue
        place = 0 if row == reference else 1 + names.index(row)
        rows.append(_row(row, ours, table, reference, place, by_name, runs[ours]))
    chance, count = everything.chance or 0.0, everything.count
    remark = _remark(setting, table, records[0], count)
    return Comparison(table, reference, chance, count, tuple(rows), remark)


def _check_comparable(setting: Setting, runs: Sequence[RunRecord], results: Results) -> None:
    """On the paper's own data, refuse runs not scored and translated as in the paper."""
    for run in runs if setting.dials is None else ():
        problem = None
        if "context" not in run.signature:
            problem = f"scored without the contexts of {', '.join(setting.sets)}"
        elif f"unit:{setting.convention}" not in run.bleu_signature:
            problem = f"its BLEU is not by the convention {setting.convention}"
        if problem is not None:
            raise UserError(
                f"{results.folder}: {run.name}: {problem}; delete its line in {RUNS}, and it is"
                " scored again"
            )


def _remark(setting: Setting, table: Table, run: RunRecord, items: int) -> str | None:
    if setting.dials is not None:
        return None
    which = "" if table.items == "all" else f", those with {table.items} alone, as in the paper"
    counts = (
        f"items with context: {run.signature['context']}; counted in the table: {items:,}{which}"
    )
    return f"{counts}; ties: {run.signature['ties']}; BLEU: {run.bleu_signature.split(';')[0]}"


def _row(
    row: str,
    ours: str,
    table: Table,
    reference: str,
    place: int,
    by_name: dict[tuple[str, str], Figure],
    runs: Sequence[RunRecord],
) -> Row:
    everything = by_name["all", "all items"]
    gain = everything.differences[place]
    bleu = [run.bleu for run in runs]
    measure = table.columns[table.columns.index(main_column(table))]
    of_paper = table.row(row)[measure] - table.row(reference)[measure]
    return Row(
        row,
        ours,
        table.row(row),
        len(runs),
        everything.accuracies[place],
        gain,
        {
            key[1]: figure.accuracies[place]
            for key, figure in by_name.items()
            if key[0] == "phenomenon"
        },
        (statistics.fmean(bleu), statistics.stdev(bleu) if len(bleu) > 1 else 0.0),
        None if gain is None else verdict(of_paper, gain),
    )


def verdict(of_paper: float, gain: Difference) -> str:
    """Whether our gain has the paper's direction; unclear unless it survives Holm's correction."""
    if not gain.survives or of_paper == 0:
        return UNCLEAR
    return SAME if (gain.estimate.value > 0) == (of_paper > 0) else OPPOSITE


def main_column(table: Table) -> str:
    """The accuracy that the paper compares systems by."""
    for column in ("Voita", "ContraPro", "CP"):
        if column in table.columns:
            return column
    raise ValueError(f"no accuracy in {table.columns}")


def reference_row(table: Table) -> str:
    """The row that the others of a table build on."""
    systems = [name for name in table.rows if is_system(name)]
    with_discount = sum("+cd" in name for name in systems) * 2 > len(systems)
    for name in ("s4to4+cd", "s4to4") if with_discount else ("s4to4", "s4to4+cd"):
        if name in table.rows:
            return name
    return systems[0]


def chosen_runs(runs: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """The runs of each system at its best learning rate, by mean validation loss over seeds."""
    best_runs: dict[str, list[RunRecord]] = {}
    for system in dict.fromkeys(run.system for run in runs):
        of_system = [run for run in runs if run.system == system]
        rates = sorted({run.rate for run in of_system})
        best = min(rates, key=lambda rate: _mean_loss(of_system, rate))
        best_runs[system] = sorted(
            (run for run in of_system if run.rate == best), key=lambda run: run.seed
        )
    return best_runs


def _mean_loss(runs: Sequence[RunRecord], rate: float) -> float:
    return statistics.fmean(run.stages[-1].valid_current for run in runs if run.rate == rate)


def _system(name: str, runs: dict[str, list[RunRecord]], results: Results, table: Table) -> System:
    """All seeds of a system, on the items of a table, without the controls."""
    files = []
    for record in runs[name]:
        file = results.outcomes(record)
        kept = tuple(
            outcome
            for outcome in file.outcomes
            if outcome.phenomenon not in CONTROLS
            and (table.items == "all" or outcome.distance != 0)
        )
        files.append(replace(file, outcomes=kept))
    return System(name, tuple(files))


def render_comparison(comparison: Comparison) -> str:
    """A table of the paper with ours, as Markdown."""
    cells = comparison_cells(comparison)
    table = markdown_table(cells.header, cells.rows)
    return "\n".join([comparison.table.title, "", table, "", *comparison_notes(comparison)])


def comparison_cells(comparison: Comparison) -> Cells:
    """The cells of that table."""
    table = comparison.table
    phenomena = list(dict.fromkeys(p for row in comparison.rows for p in row.by_phenomenon or {}))
    detailed = "details" not in table.title and len(table.columns) > 2
    header = ["system", *(f"paper {column}" for column in table.columns), "accuracy", "95%"]
    header += [f"over {comparison.reference}", "95%", "verdict"]
    header += phenomena if detailed else []
    header += ["BLEU", "seeds"]
    rows = [_cells(row, table.columns, phenomena if detailed else []) for row in comparison.rows]
    return Cells(header, rows)


def comparison_notes(comparison: Comparison) -> list[str]:
    """The notes below the table."""
    which = "items that need context" if comparison.remark is None else "items"
    note = (
        f"accuracy: on {comparison.items:,} {which}, chance"
        f" {100 * comparison.chance:.1f}; intervals over documents and seeds; bold: survives"
        " Holm's correction over the table"
    )
    return [note] if comparison.remark is None else [note, comparison.remark]


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
    """The ends of an interval; a dash if there is none."""
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{unit * estimate.low:.{digits}f} to {unit * estimate.high:.{digits}f}"
