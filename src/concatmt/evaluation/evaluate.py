"""Evaluates systems (models or files) on a suite of test sets, and writes the report.

Each measure that was asked for, or that the suite allows, makes a section. Does not print.
"""

import datetime
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from concatmt import __version__
from concatmt.corpus.parts import Part
from concatmt.errors import UserError
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.expectations import read_expectations
from concatmt.evaluation.findings import Report, Section, Table
from concatmt.evaluation.measures import Measure, measures
from concatmt.evaluation.measures.training import training_section
from concatmt.evaluation.models import ModelMember, check_output, languages_of, read_models
from concatmt.evaluation.page import page
from concatmt.evaluation.subjects import Given, Subject, members_of, parse_given, read_files
from concatmt.evaluation.suite import (
    NEEDS,
    ExpectedForms,
    Suite,
    TestSet,
    read_suite,
)
from concatmt.evaluation.texts import Text, boundary_remark
from concatmt.evaluation.translations import read_references
from concatmt.evaluation.undertraining import doubt
from concatmt.files import hash_file, write_json, write_text
from concatmt.model.card import read_origin

JSON, MARKDOWN, PAGE = "evaluation.json", "evaluation.md", "evaluation.html"


def evaluate(subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Report:
    """Evaluate systems on a suite and compare the others with the first."""
    asked = config.measures is not None
    sections = []
    for measure in measures(config.measures):
        problem = _problem(measure, subjects, suite)
        if problem is None:
            sections.append(measure.section(subjects, suite, config))
        elif asked:
            raise UserError(f"--measures {measure.name}: {problem}")
    if not sections:
        raise UserError("no measure applies to these systems and test sets")
    sections.append(training_section(subjects))
    undertrained = _undertrained(subjects)
    doubts = [f"{name} seems undertrained: {why}." for name, why in undertrained.items()]
    return Report(
        "Evaluation",
        sections,
        _systems(subjects),
        [*doubts, *_remarks(subjects, suite)],
        _facts(subjects, suite, config),
        undertrained,
    )


def _problem(measure: Measure, subjects: Sequence[Subject], suite: Suite) -> str | None:
    """Why a measure does not apply, or None."""
    if not suite.has(measure.need):
        return f"needs {NEEDS[measure.need]}, and none is given"
    for member in members_of(subjects):
        if measure.deed not in member.deeds:
            return f"needs {_FILES[measure.deed]}, and {member.origin} is none"
    return None


_FILES = {
    "contrast": "runs, or files of answers to contrastive sets",
    "translate": "runs, or files of translations",
    "score": "runs, or files of scores",
    "model": "runs or model directories (with --on)",
}


def _systems(subjects: Sequence[Subject]) -> Table:
    """The systems compared; files may lack system and hash."""
    members = members_of(subjects)
    known = [
        name for name in ("system", "hash") if any(name in member.facts() for member in members)
    ]
    rows = [
        (member.label, *(member.facts().get(name, "-") for name in known), str(member.origin))
        for member in members
    ]
    return Table(("run", *known, "from"), rows)


def _undertrained(subjects: Sequence[Subject]) -> dict[str, str]:
    """Systems of which a run was trained too little, and how that shows."""
    return {
        subject.name: why
        for subject in subjects
        for member in subject.members
        if isinstance(member, ModelMember) and (why := _doubt(member))
    }


def _doubt(member: ModelMember) -> str | None:
    origin = read_origin(member.folder.model)
    if origin is not None and not origin.trained_on_windows and member.sees_context:
        return "it was never trained on windows of sentences"
    return doubt(member.folder.metrics)


def _remarks(subjects: Sequence[Subject], suite: Suite) -> list[str]:
    """Remarks on texts without documents, and on runs that were stopped by a limit."""
    remarks = [text.remark for text in suite.texts if text.remark]
    ended = [
        f"{member.label} ({member.folder.ending.reason})"
        for member in members_of(subjects)
        if isinstance(member, ModelMember)
        and member.folder.ending is not None
        and member.folder.ending.by == "limit"
    ]
    if not ended:
        return remarks
    return [
        *remarks,
        f"Training ended by its limit, not because it stopped improving: {', '.join(ended)};"
        " longer training could change the figures.",
    ]


def _facts(subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> dict[str, object]:
    return {
        "measure": "suite",
        "version": __version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": shlex.join(["concatmt", *sys.argv[1:]]),
        "settings": config.model_dump(mode="json"),
        "on": suite.files,
        "runs": [
            {"name": subject.name, "run": str(member.origin), **member.facts()}
            for subject in subjects
            for member in subject.members
        ],
    }


def evaluate_models(
    systems: Sequence[str],
    on: Sequence[str],
    config: EvaluateConfig,
    output: Path,
    documents: Path | None = None,
) -> Report:
    """Evaluate training runs and model directories; `output` keeps scores and translations."""
    check_output(output)
    subjects = read_models(parse_given(systems), config, output)
    folders = [member.folder for member in members_of(subjects) if isinstance(member, ModelMember)]
    return evaluate(subjects, read_suite(on, languages_of(folders), documents), config)


def evaluate_files(
    systems: Sequence[str],
    config: EvaluateConfig,
    references: Path | None = None,
    expected: Path | None = None,
    documents: Path | None = None,
) -> Report:
    """Evaluate files that `translate` and `score` wrote; translations against `references`,
    or by their `expected` forms."""
    given = parse_given(systems)
    subjects = read_files(given)
    deeds = frozenset.intersection(*(member.deeds for member in members_of(subjects)))
    return evaluate(subjects, _suite(given, deeds, references, expected, documents), config)


def _suite(
    given: Sequence[Given],
    deeds: frozenset[str],
    references: Path | None,
    expected: Path | None,
    documents: Path | None,
) -> Suite:
    """The suite that the files belong to, as far as it is known."""
    first = given[0].paths[0]
    if expected is not None or references is not None:
        forms: tuple[ExpectedForms, ...] = ()
        texts: tuple[Text, ...] = ()
        if expected is not None:
            items = tuple(read_expectations(expected, documents))
            forms = (ExpectedForms(expected.stem, expected, items, hash_file(expected)),)
        if references is not None:
            texts = (_references(references),)
        return Suite(expected=forms, texts=texts)
    if "translate" in deeds:
        raise UserError(
            f"{first}: has translations; give --references to compare them with, or --expected"
        )
    if "score" in deeds:
        return Suite(texts=(Text(first.stem, first, hash_file(first), list),))
    return Suite(sets=(TestSet(first.stem, first),))


def _references(path: Path) -> Text:
    file = read_references(path)

    def load() -> list[Part]:
        return [
            Part(name, source=[""] * len(document), gold=list(document))
            for name, document in zip(file.names, file.text.documents, strict=True)
        ]

    remark = boundary_remark(path, map(len, file.text.documents))
    return Text(path.name, path, hash_file(path), load, remark)


def write_report(report: Report, output: Path) -> None:
    """Write Markdown, JSON, the page and the measures' files into a folder."""
    check_output(output)
    for name, text in _files(report.sections).items():
        write_text(output / name, text)
    write_text(output / MARKDOWN, report.markdown + "\n")
    write_text(output / PAGE, page(report))
    write_json(output / JSON, report.json)


def _files(sections: Sequence[Section]) -> dict[str, str]:
    return {name: text for section in sections for name, text in section.files.items()}
