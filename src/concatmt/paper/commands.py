"""The subcommands of `concatmt paper`: lists, plans and tables, as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.corpus.statistics import Statistics, lengths
from concatmt.corpus.store import Split, Store
from concatmt.errors import UserError
from concatmt.model.systems import parse_system, system_name
from concatmt.paper.comparison import compare, render_comparison
from concatmt.paper.encoding_figures import DIM, components_for
from concatmt.paper.material import STORE
from concatmt.paper.material import check as check_material
from concatmt.paper.printed import paper
from concatmt.paper.questions import answers
from concatmt.paper.report import question_table, write_report
from concatmt.paper.results import Results
from concatmt.paper.run import Job, carry_out, make_data, make_start
from concatmt.paper.runner import launch, missing, plan, systems_of
from concatmt.paper.self_check import TOLERANCE, inconsistencies, recompute
from concatmt.paper.setting import SETTINGS, Setting, setting
from concatmt.settings import nearest
from concatmt.tables import markdown_table

EVERY, CORPORA, PCA = "all", "corpora", "pca"
QUESTIONS, REPORT = "questions", "report"


def list_tables() -> str:
    """The tables of the paper and the settings that can fill them."""
    rows = []
    for name, table in paper().tables.items():
        places = [place.name for place in SETTINGS.values() if name in place.tables]
        rows.append((name, table.title, str(len(table.rows)), ", ".join(places)))
    everywhere = ", ".join(SETTINGS)
    rows.append((CORPORA, "Corpus statistics", str(len(paper().corpus_table)), everywhere))
    rows.append((PCA, "Explained variance of positions", "-", "none needed"))
    return markdown_table(("table", "title", "rows", "settings"), rows)


def corpus_table(work: Path) -> str:
    """The paper's corpus table, and the corpora that have been prepared under `work`."""
    rows = [
        (
            *("paper", row.settings, row.split, row.documents, row.sentences),
            *(row.document_length, row.words, row.bpe),
        )
        for row in paper().corpus_table
    ]
    for name in SETTINGS:
        if (work / name / STORE / "manifest.json").is_file():
            for split, found in Store.open(work / name / STORE).splits.items():
                rows.append(("ours", name, split, *_statistics(found)))
    header = ("whose", "setting", "split", "documents", "sentences", "document length")
    return markdown_table((*header, "words in a sentence", "tokens in a sentence"), rows)


def _statistics(split: Split) -> tuple[str, str, str, str, str]:
    statistics = Statistics.from_json(split.statistics)
    return (
        f"{statistics.documents.count:,}",
        f"{statistics.source_words.count:,}",
        lengths(statistics.documents),
        lengths(statistics.source_words),
        lengths(statistics.source_tokens),
    )


def pca() -> str:
    """The claim of section 2.3 about sinusoidal positions."""
    return "\n".join(
        f"{components_for(share)} of {DIM} components explain {100 * share:.6g}%"
        for share in (0.99, 0.9999, 0.999999)
    )


def check() -> str:
    """The paper's aggregates recomputed, and its inconsistencies."""
    checked = list(recompute(paper()))
    rows = []
    for table in dict.fromkeys(row.table for row in checked):
        for name in dict.fromkeys(row.name for row in checked if row.table == table):
            of_name = [row for row in checked if (row.table, row.name) == (table, name)]
            largest = max(abs(row.printed - row.computed) for row in of_name)
            agree = sum(row.agrees for row in of_name)
            rows.append((table, name, str(len(of_name)), str(agree), f"{largest:.4f}"))
    header = ("table", "aggregate", "rows", f"within {TOLERANCE}", "largest difference")
    sentences = [f"{n}. {text}" for n, text in enumerate(inconsistencies(paper()), start=1)]
    return "\n".join([markdown_table(header, rows), "\nInconsistencies:\n", *sentences])


def run_one(
    name: str,
    changes: Sequence[str],
    system: str,
    seed: int,
    rate: float | None,
    work: Path,
    results: Path,
) -> None:
    """One run, from data to its line of results; `changes` are those of `--set`."""
    where = setting(name).changed(changes)
    if not system:
        raise UserError("--system: give the system to run, as in --system s4to4+cd")
    rate = where.rates[0] if rate is None else rate
    job = Job(where, system_name(parse_system(system)), seed, rate, work / where.name)
    runs = Results(results / where.name)
    runs.check_changes(where.lasting_changes)
    check_material(where, job.work, "local", 1)
    make_data(where, job.work)
    if make_start(where, job.work):
        carry_out(job, runs)


def questions(name: str, results: Path) -> str:
    """Answers to the questions from the runs of a setting."""
    answered = answers(_results(name, results))
    if not answered:
        raise UserError(f"{results / name}: no two systems that a question compares have a run")
    return question_table(answered)


def report(name: str, results: Path) -> str:
    """Write the report of a setting beside its results; returns where it is."""
    runs = _results(name, results)
    write_report(setting(name), runs, runs.folder)
    return f"{runs.folder / 'report.md'} and {runs.folder / 'report.html'}"


def _results(name: str, results: Path) -> Results:
    setting(name)
    runs = Results(results / name)
    if not runs.runs():
        raise UserError(f"{runs.folder}: no runs yet; concatmt paper all --setting {name}")
    return runs


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a table."""

    table_name: str
    setting_name: str
    seeds: int | None
    launcher: str
    processes: int
    cluster: dict[str, Any]
    work_root: Path
    results_root: Path
    changes: tuple[str, ...] = ()

    @property
    def setting(self) -> Setting:
        """The setting; an error if it has no such table."""
        chosen = setting(self.setting_name).changed(self.changes)
        if self.table_name not in (*chosen.tables, EVERY):
            hint = nearest(self.table_name, chosen.tables) or f"; it has {', '.join(chosen.tables)}"
            raise UserError(f"{self.table_name}: no table of {self.setting_name}{hint}")
        return chosen

    @property
    def results(self) -> Results:
        """The folder of its results."""
        return Results(self.results_root / self.setting_name)

    @property
    def work(self) -> Path:
        """The folder of its data and runs."""
        return self.work_root / self.setting_name

    @property
    def systems(self) -> list[str]:
        """The systems to train."""
        table = None if self.table_name == EVERY else self.table_name
        return systems_of(self.setting, table, paper())

    def plan(self) -> str:
        """What would be run."""
        lines = plan(self.setting, self.systems, self.work, self.results, self.seeds)
        return "\n".join(lines)

    def table(self) -> str:
        """Run what is missing, then print."""
        self.results.check_changes(self.setting.lasting_changes)
        while jobs := missing(self.setting, self.systems, self.work, self.results, self.seeds):
            launch(jobs, self.results, self.launcher, self.processes, self.cluster)
        return self.printed()

    def printed(self) -> str:
        """Print from the runs so far."""
        names = self.setting.tables if self.table_name == EVERY else (self.table_name,)
        comparisons = [compare(self.setting, name, paper(), self.results) for name in names]
        return "\n\n".join(render_comparison(comparison) for comparison in comparisons)
