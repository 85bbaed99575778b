"""The paper's figures, and what is wrong with them."""

import json
import re
from pathlib import Path

import pytest

from concatmt.model.systems import parse_system, system_name
from concatmt.paper.printed import paper
from concatmt.paper.self_check import inconsistencies, recompute
from tests.conftest import Command

DETAILS = {"en-ru-details": 28, "en-de-details": 11, "en-de-high-resource-details": 6}


def test_all_aggregates_of_all_rows_follow_from_their_parts_within_a_hundredth() -> None:
    checked = list(recompute(paper()))
    assert {t: len(paper().tables[t].rows) for t in DETAILS} == DETAILS
    assert len(checked) == 28 * 2 + 17 * 3 + 3
    assert all(abs(one.printed - one.computed) <= 0.01 for one in checked)


def test_a_wrong_aggregate_would_be_found() -> None:
    damaged = json.loads(paper().model_dump_json())
    damaged["tables"]["en-ru-details"]["rows"]["s4to4"][4] = 72.20  # is 72.02
    found = inconsistencies(type(paper()).model_validate(damaged))
    assert any("s4to4: Voita is printed as 72.20, but its parts give 72.02" in s for s in found)
    assert any(s.startswith("en-ru: the column Voita is none of its columns") for s in found)


# Worked out by hand from the printed tables; the count of cut-off figures is an independent
# recomputation of tab:se:discdetails_de.
@pytest.mark.parametrize(
    "expected",
    [
        r"en-de-high-resource: the column CP is CP_d>0 .* not CP \(82.24 for 82.54, 80.45 for"
        r" 80.70, 80.85 for 81.50, 79.82 for 80.48\)",
        r"\+7.93 accuracy points .* \+7.46.*CP_d>0 \+7.93 \(holds\).* CP \+7.76$",
        r"slightly benefits .* -0.22.*CP_d>0 \+0.08 \(holds\)",
        r"more than two accuracy points .* \+1.18",
        r"Consistent improvements .*: s4to4\+cd\+sin\+pers Voita -0.02$",
        r"formula of Voita_avg .* no column d=1, d=2, d=3, d=4$",
        r"formula of CP_avg .* no column d=4$",
        r"benchmark-en-de: 82.54 is bold, but the best is 82.60",
        r"order of magnitude.*: 30 times",
        r"IWSLT17: the shift 21 is the mean length in words \(20.8\)",
        r"en-de-details: 24 accuracies are cut off",
        r"en-de-high-resource-details: 18 accuracies are cut off",
    ],
)
def test_the_known_inconsistencies_are_found(expected: str) -> None:
    assert [s for s in inconsistencies(paper()) if re.search(expected, s)]


def test_nothing_else_is_reported() -> None:
    assert len(inconsistencies(paper())) == 14


def test_systems_are_named_as_concatmt_names_them() -> None:
    for name, table in paper().tables.items():
        for system in table.rows:
            if not name.startswith("benchmark") or system.startswith("s4"):
                assert system_name(parse_system(system)) == system


def test_the_figures_are_those_of_the_paper(shared: Path) -> None:
    given = json.loads((shared / "paper" / "tables.json").read_text("utf-8"))
    ours = {name: [list(row) for row in t.rows.values()] for name, t in paper().tables.items()}
    ours["en-de-details"] += ours.pop("en-de-high-resource-details")
    for name, rows in ours.items():
        assert rows == [list(row["metrics"].values()) for row in given[name]["rows"]], name


def test_the_command_prints_recomputed_aggregates_and_inconsistencies(concatmt: Command) -> None:
    done = concatmt("paper", "check")
    assert done.returncode == 0, done.stderr
    assert re.search(r"en-ru-details +\| Voita_avg +\| 28 +\| 28 ", done.stdout)
    assert "14. High: the shift 27" in done.stdout
