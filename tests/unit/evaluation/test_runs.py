"""Training runs and model directories are found, named and refused as they should be."""

import fcntl
import shutil
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.given import parse_given
from concatmt.evaluation.runs import languages_of, read_candidates
from tests.unit.evaluation.runs import make_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_runs(tmp_path_factory.mktemp("runs"))


def test_a_run_and_its_model_are_the_same_model(runs: dict[str, Path]) -> None:
    folder = runs["base"]
    [run, model] = read_candidates(parse_given([str(folder), f"model={folder / 'model'}"]))
    assert run.members[0].key == model.members[0].key
    assert run.name == "base"
    assert any("current_nll" in record for record in run.members[0].metrics)
    assert model.members[0].metrics == ()
    assert languages_of([run, model]) == ("en", "de")


def test_paths_with_commas_between_are_seeds(runs: dict[str, Path]) -> None:
    folder = runs["s3to3+cd+lrn+pers"]
    [one] = read_candidates(parse_given([f"cd={folder},{folder}"]))
    assert [member.label for member in one.members] == ["cd #1", "cd #2"]
    assert one.members[0].sees_context


def test_what_cannot_be_compared_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    base, other = runs.values()
    unfinished = tmp_path / "unfinished"
    shutil.copytree(base, unfinished)
    shutil.rmtree(unfinished / "model")
    empty = tmp_path / "empty"
    empty.mkdir()
    cases = {
        f"{base},{other}": "given as another seed of it, of base",
        str(unfinished): r"the training is not finished \(update 20\): it has no averaged model",
        str(empty): "neither a training run nor a model directory",
        str(tmp_path / "none"): "no such folder; give training runs or model directories",
    }
    for argument, message in cases.items():
        with pytest.raises(UserError, match=message):
            read_candidates(parse_given([argument]))
    with pytest.raises(UserError, match="two systems are called 'base'"):
        read_candidates(parse_given([str(base), str(base)]))


def test_a_run_that_is_being_trained_is_refused(runs: dict[str, Path]) -> None:
    folder = runs["base"]
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"is being trained \(update 20\)"):
            read_candidates(parse_given([str(folder)]))
    read_candidates(parse_given([str(folder)]))
