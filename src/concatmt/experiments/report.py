"""The report of a setting: every table, the questions, and learning curves, from its results.

Writes Markdown and an HTML page that needs nothing else. Does not run anything.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from concatmt.evaluation.accuracy import Difference
from concatmt.evaluation.page import render
from concatmt.evaluation.plots import as_svg, new_picture
from concatmt.evaluation.resampling import Estimate
from concatmt.experiments.comparison import CONTROLS, chosen_runs, compare
from concatmt.experiments.paper_figures import paper
from concatmt.experiments.questions import Answer, answers
from concatmt.experiments.results import Results, RunRecord
from concatmt.experiments.setting import HEADLINE, Setting
from concatmt.experiments.table_text import interval, render_comparison
from concatmt.files import atomic_file
from concatmt.tables import markdown_table

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{{ title }}</title>
<style>{{ style }} body{max-width:90em}</style><h1>{{ title }}</h1><p>{{ summary }}</p>
<h2>Learning curves</h2><p>Accuracy on the contrastive items after so many updates, mean over seeds;
thin lines are single seeds, the dotted line is chance.</p>{{ curves|safe }}
<h2>Questions</h2><pre>{{ questions }}</pre>
{% for name, text in tables.items() %}<h2>{{ name }}</h2><pre>{{ text }}</pre>{% endfor %}</html>
"""
COLUMNS = 4
POINTS, PLAIN = 100.0, 1.0


def write_report(setting: Setting, results: Results, folder: Path) -> None:
    """`report.md` and `report.html`, from what there is."""
    runs = results.runs()
    tables = {
        name: render_comparison(compare(setting, name, paper(), results)) for name in setting.tables
    }
    summary = (
        f"{len(runs)} runs of {len({one.system for one in runs})} systems on {setting.title};"
        f" {sum(one.seconds for one in runs) / 3600:.1f} hours of computing"
    )
    questions = question_table(answers(results))
    parts = [f"# {setting.title}", summary, "## Questions", questions]
    for name, text in tables.items():
        parts += [f"## {name}", text]
    page = render(
        PAGE,
        title=setting.title,
        summary=summary,
        curves=curves(chosen_runs(runs), results),
        questions=questions,
        tables=tables,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("report.md", "\n\n".join(parts) + "\n"), ("report.html", page)):
        with atomic_file(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def question_table(found: Sequence[Answer]) -> str:
    """Answers, a line each."""
    header = ("question", "pairs", "seeds", "accuracy", "all runs", "which words", "which sentence")
    rows = [
        (
            *(one.question.text, str(one.pairs), str(one.seeds)),
            _difference(one.accuracy, one.seeds),
            _estimate(one.pooled, POINTS, 1),
            *(_difference(part, one.seeds) for part in (one.words, one.sentence)),
            _estimate(one.curve, POINTS, 1),
            _estimate(one.loss, PLAIN, 4),
            _estimate(one.bleu, PLAIN, 2),
        )
        for one in found
    ]
    note = (
        "Differences with 95% intervals (accuracies in points, over documents and seeds; learning"
        " curve, loss and BLEU over seeds, by Welch). All runs: accuracy again, with every seed of"
        " each system and the interval of an analysis of variance that takes runs as independent."
        " Bold: survives Holm's correction over the"
        " column (never with one seed). Learning curve: mean accuracy over the stages of training."
    )
    return (
        markdown_table((*header, "learning curve", "validation loss", "BLEU"), rows) + f"\n\n{note}"
    )


def _difference(found: Difference | None, seeds: int) -> str:
    if found is None:
        return "-"
    text = _estimate(found.estimate, POINTS, 1)
    value, _, rest = text.partition(" ")
    return f"**{value}** {rest}" if found.survives and seeds > 1 else text


def _estimate(found: Estimate, unit: float, digits: int) -> str:
    value = f"{unit * found.value:+.{digits}f}"
    return value if found.low is None else f"{value} ({interval(found, unit, digits)})"


def curves(runs: dict[str, list[RunRecord]], results: Results) -> str:
    """A panel for each task, a colour for each headline system."""
    shown = {name: runs[name] for name in HEADLINE if name in runs}
    first = next(iter(runs.values()))[0]
    chance = defaultdict(list)
    for one in results.outcomes(first).outcomes:
        chance[one.phenomenon].append(1 / (one.options or 1))
    tasks = [task for task in first.stages[-1].accuracy if task not in CONTROLS]
    rows = -(-len(tasks) // COLUMNS)
    picture = new_picture(3.2 * COLUMNS, 2.6 * rows + 0.6)
    panels = picture.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for place, task in enumerate(tasks):
        axes = panels[place]
        axes.set_title(task, fontsize=10)
        axes.set_xscale("log")
        axes.grid(color="0.9")
        axes.axhline(100 * statistics.fmean(chance[task]), color="k", linestyle=":")
        for number, (name, seeds) in enumerate(shown.items()):
            updates = [stage.update for stage in seeds[0].stages]
            lines = [[100 * stage.accuracy[task] for stage in one.stages] for one in seeds]
            for line in lines:
                axes.plot(updates, line, color=f"C{number}", linewidth=0.4)
            mean = [statistics.fmean(column) for column in zip(*lines, strict=True)]
            axes.plot(updates, mean, f"C{number}.-", label=None if place else name)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    picture.legend(loc="outside upper center", ncols=4, frameon=False)
    picture.supxlabel("updates")
    picture.supylabel("per cent right")
    return as_svg(picture)
