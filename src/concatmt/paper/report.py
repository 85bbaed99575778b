"""The report of a setting: every table, the questions, and learning curves, from its results.

Writes Markdown and an HTML page that needs nothing else. Does not run anything.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from concatmt import __version__
from concatmt.evaluation.accuracy import Difference
from concatmt.evaluation.charts import Line, line_plot
from concatmt.evaluation.findings import Picture, Prose, Report, Section, Table
from concatmt.evaluation.outcomes import CONTROLS
from concatmt.evaluation.page import page
from concatmt.evaluation.resampling import Estimate
from concatmt.files import write_text
from concatmt.paper.comparison import (
    chosen_runs,
    compare,
    comparison_cells,
    comparison_notes,
    interval,
    render_comparison,
)
from concatmt.paper.printed import paper
from concatmt.paper.questions import Answer, answers
from concatmt.paper.results import Results, RunRecord
from concatmt.paper.setting import HEADLINE, Setting
from concatmt.tables import markdown_table

CURVES = (
    "Accuracy on the contrastive items after so many updates, mean over seeds; the dashed line is"
    " chance."
)
QUESTIONS_NOTE = (
    "Differences with 95% intervals (accuracies in points, over documents and seeds; learning"
    " curve, loss and BLEU over seeds, by Welch). All runs: accuracy again, with every seed of"
    " each system and the interval of an analysis of variance that takes runs as independent."
    " Bold: survives Holm's correction over the"
    " column (never with one seed). Learning curve: mean accuracy over the stages of training."
)
POINTS, PLAIN = 100.0, 1.0


def write_report(setting: Setting, results: Results, folder: Path) -> None:
    """`report.md` and `report.html`, from what there is."""
    runs = results.runs()
    compared = {name: compare(setting, name, paper(), results) for name in setting.tables}
    summary = (
        f"{len(runs)} runs of {len({run.system for run in runs})} systems on {setting.title};"
        f" {sum(run.seconds for run in runs) / 3600:.1f} hours of computing"
    )
    answered = answers(results)
    parts = [f"# {setting.title}", summary, "## Questions", question_table(answered)]
    sections = [
        Section("curves", "Learning curves", [Picture(curves(chosen_runs(runs), results), CURVES)]),
        Section("questions", "Questions", [question_cells(answered), Prose(QUESTIONS_NOTE)]),
    ]
    for name, comparison in compared.items():
        parts += [f"## {name}", render_comparison(comparison)]
        notes = [Prose(note) for note in comparison_notes(comparison)]
        sections.append(
            Section(
                name, name, [Prose(comparison.table.title), comparison_cells(comparison), *notes]
            )
        )
    title = setting.title[:1].upper() + setting.title[1:]
    report = Report(title, sections, remarks=[summary], facts={"version": __version__})
    write_text(folder / "report.md", "\n\n".join(parts) + "\n")
    write_text(folder / "report.html", page(report))


def question_table(answers: Sequence[Answer]) -> str:
    """Answers, a line each, as Markdown."""
    cells = question_cells(answers)
    return f"{markdown_table(cells.header, cells.rows)}\n\n{QUESTIONS_NOTE}"


def question_cells(answers: Sequence[Answer]) -> Table:
    """Answers, a line each."""
    header = ("question", "pairs", "seeds", "accuracy", "all runs", "which words", "which sentence")
    rows = [
        (
            *(answer.question.text, str(answer.pairs), str(answer.seeds)),
            _difference(answer.accuracy, answer.seeds),
            _estimate(answer.pooled, POINTS, 1),
            *(_difference(part, answer.seeds) for part in (answer.words, answer.sentence)),
            _estimate(answer.curve, POINTS, 1),
            _estimate(answer.loss, PLAIN, 4),
            _estimate(answer.bleu, PLAIN, 2),
        )
        for answer in answers
    ]
    return Table((*header, "learning curve", "validation loss", "BLEU"), rows)


def _difference(difference: Difference | None, seeds: int) -> str:
    if difference is None:
        return "-"
    text = _estimate(difference.estimate, POINTS, 1)
    value, _, rest = text.partition(" ")
    return f"**{value}** {rest}" if difference.survives and seeds > 1 else text


def _estimate(estimate: Estimate, unit: float, digits: int) -> str:
    value = f"{unit * estimate.value:+.{digits}f}"
    return value if estimate.low is None else f"{value} ({interval(estimate, unit, digits)})"


def curves(runs: dict[str, list[RunRecord]], results: Results) -> str:
    """A plot for each task, a line for each headline system."""
    shown = {name: runs[name] for name in HEADLINE if name in runs}
    first = next(iter(runs.values()))[0]
    chance = defaultdict(list)
    for outcome in results.outcomes(first).outcomes:
        chance[outcome.phenomenon].append(1 / (outcome.options or 1))
    plots = []
    for task in first.stages[-1].accuracy:
        if task in CONTROLS:
            continue
        lines = []
        for name, seeds in shown.items():
            points = [
                (
                    stage.update,
                    100 * statistics.fmean(outcome.stages[n].accuracy[task] for outcome in seeds),
                )
                for n, stage in enumerate(seeds[0].stages)
            ]
            lines.append(Line(name, points))
        level = 100 * statistics.fmean(chance[task])
        ends = [(stage.update, level) for stage in first.stages]
        lines.append(Line("chance", ends, dashed=True))
        plots.append(line_plot(lines, "updates", "% right", task))
    return "".join(plots)
