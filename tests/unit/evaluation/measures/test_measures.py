"""Measures are found by name, and a new one is one file."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation import measures as package
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.evaluate import evaluate_files, write_report
from concatmt.evaluation.findings import Section, Table
from concatmt.evaluation.measures import measures, register
from concatmt.evaluation.subjects import Subject, members_of
from concatmt.evaluation.suite import Suite


class LengthRatio:
    name = "length-ratio"
    need = "texts"
    deed = "translate"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        found = {}
        for text in suite.texts:
            words = len(" ".join(text.references.sentences).split())
            for member in members_of(subjects):
                ours = " ".join(member.translate(text).text.sentences).split()
                found[member.label] = len(ours) / words
        rows = [(name, f"{ratio:.3f}") for name, ratio in found.items()]
        return Section(self.name, "Length", [Table(("system", "ratio"), rows)], found)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "_REGISTERED", dict(package._REGISTERED))
    register(LengthRatio())


@pytest.mark.usefixtures("registered")
def test_a_measure_of_somebody_else_is_in_text_page_and_json(tmp_path: Path) -> None:
    (tmp_path / "out.de").write_text("a b\n\nc\n", "utf-8")
    (tmp_path / "test.de").write_text("a b\n\nc d\n", "utf-8")
    config = EvaluateConfig(measures=("length-ratio",))
    report = evaluate_files([str(tmp_path / "out.de")], config, tmp_path / "test.de")
    write_report(report, tmp_path / "report")
    assert "| out    | 0.750 |" in (tmp_path / "report" / "evaluation.md").read_text("utf-8")
    assert report.json["length_ratio"] == {"out": 0.75}
    assert ">0.750</td>" in (tmp_path / "report" / "evaluation.html").read_text("utf-8")


@pytest.mark.usefixtures("registered")
def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="two measures are called 'length-ratio'"):
        register(LengthRatio())


def test_a_name_that_is_close_is_suggested() -> None:
    assert [one.name for one in measures(["quality", "contrastive"])] == ["contrastive", "quality"]
    with pytest.raises(UserError, match="--measures qualty: no such measure.*'quality'"):
        measures(["qualty"])
