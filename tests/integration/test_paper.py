"""A whole run of a setting, from generated data to its line of results and a table."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from concatmt.paper.comparison import compare
from concatmt.paper.printed import paper
from concatmt.paper.questions import answers
from concatmt.paper.report import write_report
from concatmt.paper.results import Results
from concatmt.paper.run import Job, carry_out, make_data, make_start
from concatmt.paper.runner import missing
from concatmt.paper.setting import Setting
from concatmt.text.vocabulary import SEPARATOR
from concatmt.training.run import Run
from tests.conftest import Command

SYSTEMS = ("s4to4", "s4to4+cd")
TINY = Setting(
    name="tiny",
    title="a tiny testbed",
    config="miniature",
    tables=("en-ru-persistent-positions",),
    overrides=(
        "model.dim=16",
        "model.encoder.feed_forward=16",
        "model.decoder.feed_forward=16",
        "training.validate_every=3",
        "training.tokens_per_update=256",
        "training.batch.tokens=256",
    ),
    dials={
        "pair": "en-ru",
        "documents": 60,
        "valid_documents": 10,
        "test_documents": 4,
        "items": 1,
        "tasks": ("tv", "d0"),
        "density": 1.0,
    },
    rates=(1e-3,),
    stages=(3, 6),
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "tiny"
    make_data(TINY, folder)
    return folder


def weights(folder: Path) -> int:
    """In the file of a model, each once."""
    return sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())


def test_runs_that_share_a_start_continue_from_it(work: Path, tmp_path: Path) -> None:
    shared = TINY.model_copy(update={"start": ("training.max_updates=3",), "stages": (3,)})
    assert make_start(shared, work)
    start = load_file(work / "start" / "model" / "model.safetensors")
    assert make_start(shared, work)  # it is there
    still = Job(shared, "s4to4+lrn", 7, 1e-12, work)  # nothing moves but in the warm-up, from 1e-7
    record = carry_out(still, Results(tmp_path / "shared"))
    assert record is not None
    assert record.signature["start"]
    found = load_file(still.folder / "model" / "model.safetensors")
    for name, tensor in start.items():
        rows = (
            [row for row in range(len(tensor)) if row != SEPARATOR] if "embedding" in name else ...
        )
        torch.testing.assert_close(found[name][rows], tensor[rows], atol=1e-6, rtol=0)
    assert found["encoding.weight"].abs().max() < 1e-6


def test_a_run_leaves_a_line_from_which_its_table_follows(work: Path, tmp_path: Path) -> None:
    results = Results(tmp_path / "tiny")
    for system in SYSTEMS:
        job = Job(TINY, system, 1, 1e-3, work)
        record = carry_out(job, results)
        assert record is not None
        assert [stage.update for stage in record.stages] == [3, 6]
        assert set(record.stages[-1].accuracy) == {"tv", "d0"}
        assert record.signature["setting"] == "tiny"
        assert "mode:redecode" in record.bleu_signature
        assert record.parameters == weights(Run(job.folder).model)
    table = compare(TINY, "en-ru-persistent-positions", paper(), results)
    assert {row.system for row in table.rows if row.seeds} == set(SYSTEMS)
    first = results.runs()[0]
    assert len(results.translations(first).sentences) == len(results.references().sentences)
    outcomes = results.outcomes(first).outcomes
    stage = {name: [o.right for o in outcomes if o.phenomenon == name] for name in ("tv", "d0")}
    assert {name: sum(v) / len(v) for name, v in stage.items()} == first.stages[-1].accuracy


def test_questions_and_report_follow_from_the_results_alone(work: Path, tmp_path: Path) -> None:
    results = Results(tmp_path)
    for system in SYSTEMS:
        for seed in (1, 2):
            carry_out(Job(TINY, system, seed, 1e-3, work), results)
    [cd] = answers(results)
    assert (cd.question.text, cd.pairs, cd.seeds) == ("Does CD help?", 1, 2)
    runs = {system: [one for one in results.runs() if one.system == system] for system in SYSTEMS}
    means = [sum(one.stages[-1].accuracy["tv"] for one in runs[name]) / 2 for name in SYSTEMS]
    assert cd.accuracy.estimate.value == pytest.approx(means[1] - means[0])
    assert cd.sentence is not None
    assert cd.words is None
    bleu = [sum(one.bleu for one in runs[name]) / 2 for name in SYSTEMS]
    assert cd.bleu.value == pytest.approx(bleu[1] - bleu[0])
    write_report(TINY, results, tmp_path)
    assert "Does CD help?" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "report.html").read_text().count("<svg") == 1  # a task that needs context


def test_stages_do_not_change_where_a_run_ends(work: Path, tmp_path: Path) -> None:
    job = Job(TINY, "s4to4+cd", 2, 1e-3, work)
    whole = TINY.model_copy(update={"stages": (6,), "name": "whole"})
    one = carry_out(job, Results(tmp_path / "a"))
    elsewhere = tmp_path / "whole"
    make_data(whole, elsewhere)
    other = carry_out(Job(whole, "s4to4+cd", 2, 1e-3, elsewhere), Results(tmp_path / "b"))
    assert one is not None
    assert other is not None
    assert one.stages[-1] == other.stages[-1]
    assert one.signature["model"] == other.signature["model"]


def test_an_interrupted_run_keeps_the_stages_that_it_had_passed(work: Path, tmp_path: Path) -> None:
    job = Job(TINY, "s4to4+cd", 3, 1e-3, work)
    whole = carry_out(job, Results(tmp_path / "a"))
    again = carry_out(job, Results(tmp_path / "b"))  # as after a kill in its last stage
    assert whole is not None
    assert again is not None
    assert again.stages == whole.stages


def test_a_deleted_line_is_the_only_run_that_is_missing(work: Path, tmp_path: Path) -> None:
    results = Results(tmp_path)
    for system in SYSTEMS:
        carry_out(Job(TINY, system, 1, 1e-3, work), results)
    path = tmp_path / "runs.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{x}\n" for x in lines if json.loads(x)["system"] == "s4to4"))
    left = missing(TINY, SYSTEMS, work, results)
    assert [job.system for job in left] == ["s4to4+cd"]


def test_the_command_shows_a_plan_and_refuses_what_it_does_not_know(concatmt: Command) -> None:
    planned = concatmt("paper", "en-ru-cd", "--setting", "testbed-en-ru", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.count("concatmt paper run ") == 14
    refused = concatmt("paper", "en-de-cd", "--setting", "testbed-en-ru", "--dry-run")
    assert refused.returncode == 2
    assert "no table of testbed-en-ru" in refused.stderr
    refused = concatmt("paper", "run", "--setting", "testbed-en-ru")
    assert refused.returncode == 2
    assert "--system: give the system" in refused.stderr
