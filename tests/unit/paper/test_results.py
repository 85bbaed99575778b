"""Results of runs: what is written comes back, tables follow from it, what is missing is seen."""

import json
from pathlib import Path
from typing import Any

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Difference
from concatmt.evaluation.resampling import Estimate
from concatmt.paper.commands import Request, corpus_table, list_tables
from concatmt.paper.comparison import (
    chosen_runs,
    compare,
    reference_row,
    render_comparison,
    verdict,
)
from concatmt.paper.printed import paper
from concatmt.paper.results import Results, RunRecord, Stage
from concatmt.paper.runner import missing, plan, systems_of
from concatmt.paper.setting import SETTINGS, setting

TESTBED = SETTINGS["testbed-en-ru"]
ITEMS = 60


def record(system: str, seed: int = 1, rate: float = 4e-3, loss: float = 0.1) -> RunRecord:
    stage = Stage(update=100, valid_current=loss, valid_context=1.0, accuracy={"tv": 0.5})
    signature: dict[str, Any] = {
        "system": system,
        "K": 1 if system == "base" else 4,
        "target_context": "none" if system == "base" else "gold",
        "score": "mean",
        "version": "0",
    }
    return RunRecord(
        system=system,
        seed=seed,
        rate=rate,
        signature=signature,
        parameters=1,
        stages=(stage,),
        bleu=90.0 + seed,
        bleu_signature="-",
        seconds=1.0,
        command="-",
    )


def items(right: int) -> list[dict[str, Any]]:
    """The first `right` of the items are right; two in three need context."""
    return [
        {
            "id": f"i{n}",
            "set": "set",
            "phenomenon": ("tv", "vp", "far")[n % 3],
            "distance": 1 + n % 2,
            "verdict": float(n < right),
            "scores": [-1.23456, -2.0],
            "text": "not kept",
        }
        for n in range(ITEMS)
    ]


def fill(folder: Path, right: dict[str, int], seeds: int = 2) -> Results:
    results = Results(folder / TESTBED.name)
    results.add_references([["a", "b"], ["c"]])
    for system, count in right.items():
        for seed in range(1, seeds + 1):
            results.add(record(system, seed), items(count), [["a", "b"], [""]])
    return results


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    results = fill(tmp_path, {"s4to4+cd": 30})
    first, second = results.runs()
    assert (first.seed, second.seed) == (1, 2)
    outcomes = results.outcomes(first).outcomes
    assert [one.right for one in outcomes] == [1.0] * 30 + [0.0] * 30
    assert outcomes[4].phenomenon == "vp"
    assert outcomes[4].options == 2
    assert results.translations(first).documents == (("a", "b"), ("",))
    assert results.references().documents == (("a", "b"), ("c",))


def test_a_run_that_is_done_again_replaces_its_line_and_the_same_files_have_the_same_bytes(
    tmp_path: Path,
) -> None:
    results = fill(tmp_path, {"s4to4": 30, "s4to4+cd": 40})
    before = {p: p.read_bytes() for p in results.folder.rglob("*.gz")}
    results.add(record("s4to4", 1), items(30), [["a", "b"], [""]])
    assert {p: p.read_bytes() for p in results.folder.rglob("*.gz")} == before
    assert sorted((r.system, r.seed) for r in results.runs()) == [
        *(("s4to4", 1), ("s4to4", 2)),
        *(("s4to4+cd", 1), ("s4to4+cd", 2)),
    ]


def test_only_what_has_no_line_is_missing(tmp_path: Path) -> None:
    systems = systems_of(TESTBED, "en-ru-persistent-positions", paper())
    assert len(systems) == 5
    results = Results(tmp_path)
    assert [(j.system, j.seed) for j in missing(TESTBED, systems, tmp_path, results)] == [
        (system, 1) for system in systems
    ]
    for system in systems:
        for seed in (1, 2):
            results.add(record(system, seed), items(1), [])
    left = missing(TESTBED, systems, tmp_path, results, seeds=2)
    assert left == []
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["system"] != "s4to4+pers"]
    (tmp_path / "runs.jsonl").write_text("\n".join(kept) + "\n")
    left = missing(TESTBED, systems, tmp_path, results, seeds=2)
    assert [(job.system, job.seed) for job in left] == [("s4to4+pers", 1)]


def test_headline_systems_have_more_seeds_and_the_others_the_best_rate(tmp_path: Path) -> None:
    real = setting("en-ru-opensubtitles").model_copy(update={"seeds": 2, "headline_seeds": 3})
    results = Results(tmp_path)
    for system in ("s4to4+cd", "s4to4+cd+sin"):
        for rate in real.rates:
            results.add(record(system, 1, rate, loss=abs(rate - 9e-4)), items(1), [])
    left = missing(real, ["s4to4+cd", "s4to4+cd+sin"], tmp_path, results)
    assert [(j.system, j.seed, j.rate) for j in left] == [
        *(("s4to4+cd", 2, 9e-4), ("s4to4+cd+sin", 2, 9e-4)),
        ("s4to4+cd", 3, 9e-4),
    ]
    assert {run.rate for run in chosen_runs(results.runs())["s4to4+cd"]} == {9e-4}


def test_a_table_has_the_papers_figures_ours_and_a_verdict(tmp_path: Path) -> None:
    right = {"base": 15, "s4to4": 20, "s4to4+cd": 30, "s4to4+cd+shift+pers": 57}
    results = fill(tmp_path, right)
    found = compare(TESTBED, "en-ru-cd", paper(), results)
    rows = {row.system: row for row in found.rows}
    assert found.reference == "s4to4+cd"
    assert found.items == 40  # without `far`
    gain = rows["s4to4+cd+shift+pers"].gain
    assert gain is not None
    assert gain.estimate.value == pytest.approx(18 / 40)
    assert rows["s4to4+cd+shift+pers"].verdict == "same direction"
    assert rows["s4to4+cd+shift+pers"].bleu == pytest.approx((91.5, 0.7071), abs=1e-3)
    assert rows["s4to4+cd+lrn"].seeds == 0
    text = render_comparison(found)
    assert "| s4to4+cd+lrn " in text


def test_a_table_without_its_reference_is_refused(tmp_path: Path) -> None:
    results = fill(tmp_path, {"base": 15})
    with pytest.raises(UserError, match=r"no run of s4to4\+cd"):
        compare(TESTBED, "en-ru-cd", paper(), results)


def test_every_table_has_a_reference_and_every_setting_its_systems() -> None:
    """After the paper: tables of systems with context discount compare with s4to4+cd, those
    without with s4to4, that of segment dimensions with the default of 4."""
    expected = {
        **dict.fromkeys(("en-ru", "en-ru-details"), "s4to4"),
        "en-ru-pse-128": "s4to4+cd+lrn+pers+pse",
        "benchmark-en-ru": "s4to4+cd+shift+pers",
    }
    for name in {name for one in SETTINGS.values() for name in one.tables}:
        assert reference_row(paper().tables[name]) == expected.get(name, "s4to4+cd"), name
    assert len(systems_of(TESTBED, None, paper())) == 32
    assert len(systems_of(SETTINGS["testbed-en-de"], None, paper())) == 11
    assert len(systems_of(SETTINGS["en-de-high-resource"], None, paper())) == 6


@pytest.mark.parametrize(
    ("of_paper", "ours", "adjusted", "expected"),
    [
        (1.0, 0.1, 0.01, "same direction"),
        (-1.0, 0.1, 0.01, "opposite"),
        (1.0, 0.1, 0.2, "not distinguishable"),
        (0.0, 0.1, 0.01, "not distinguishable"),
    ],
)
def test_a_verdict_needs_a_gain_that_survives(
    of_paper: float, ours: float, adjusted: float, expected: str
) -> None:
    gain = Difference(Estimate(ours, ours - 0.01, ours + 0.01), 0.001, adjusted)
    assert verdict(of_paper, gain) == expected


def test_the_plan_of_a_real_setting_has_its_commands_and_its_cost(tmp_path: Path) -> None:
    real = setting("en-ru-opensubtitles")
    lines = plan(real, systems_of(real, None, paper()), tmp_path, Results(tmp_path), None)
    commands = [line for line in lines if not line.startswith("#")]
    assert len(commands) == 1 + 32 * 4
    assert commands[0].startswith("concatmt prepare en-ru-opensubtitles --output ")
    assert any("hours of one A100" in line for line in lines)


def test_a_plan_does_not_count_runs_that_are_done(tmp_path: Path) -> None:
    three = TESTBED.model_copy(update={"seeds": 3, "headline_seeds": 3})
    systems = ["base", "s4to4"]
    results = Results(tmp_path)

    def heads() -> list[str]:
        lines = plan(three, systems, tmp_path, results, None)
        return [line.partition("(")[0] for line in lines if line.startswith("# ")]

    whole = f"# {three.title}: 2 systems"
    assert heads()[0] == f"{whole}, 2 runs to start with "
    assert heads()[1].startswith("# then 4 runs with other seeds")
    results.add(record("base", 1), items(1), [])
    assert heads()[0] == f"{whole}, 3 runs to start with "  # two other seeds, and s4to4
    assert heads()[1].startswith("# then 2 runs with other seeds")
    for system in systems:
        for seed in (1, 2, 3):
            results.add(record(system, seed), items(1), [])
    assert heads() == [f"{whole}, 0 runs to start with "]


def test_unknown_tables_and_settings_are_reported(tmp_path: Path) -> None:
    def request(table: str, where: str) -> Request:
        return Request(table, where, None, "local", 1, {}, tmp_path, tmp_path)

    with pytest.raises(UserError, match="did you mean 'en-ru-cd'"):
        request("en-ru-cdd", "testbed-en-ru").plan()
    with pytest.raises(UserError, match="did you mean 'testbed-en-ru'"):
        request("en-ru-cd", "testbed-enru").plan()


def test_a_line_that_is_not_a_result_is_reported(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match=r"runs.jsonl, line 1: not a result"):
        Results(tmp_path).runs()


def test_the_corpus_table_has_the_papers_rows_and_the_list_every_table(tmp_path: Path) -> None:
    assert corpus_table(tmp_path).count("| paper |") == 7
    listed = list_tables()
    assert all(f"| {name} " in listed for name in (*paper().tables, "corpora", "pca"))
