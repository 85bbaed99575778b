"""Training runs and model directories are found, named and refused as they should be."""

import fcntl
import shutil
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.models import ModelMember, find_model, languages_of, read_models
from concatmt.evaluation.subjects import Subject, parse_given
from tests.unit.evaluation.runs import make_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_runs(tmp_path_factory.mktemp("runs"))


def read(*systems: object) -> list[Subject]:
    return read_models(parse_given([str(one) for one in systems]), EvaluateConfig(), Path("out"))


def test_a_run_and_its_model_are_the_same_model(runs: dict[str, Path]) -> None:
    folder = runs["base"]
    [run, model] = (find_model(path) for path in (folder, folder / "model"))
    assert run.key == model.key
    assert any("current_nll" in record for record in run.metrics)
    assert model.metrics == ()
    assert languages_of([run, model]) == ("en", "de")
    assert [one.name for one in read(folder, f"model={folder / 'model'}")] == ["base", "model"]


def test_paths_with_commas_between_are_seeds(runs: dict[str, Path]) -> None:
    folder = runs["s3to3+cd+lrn+pers"]
    [one] = read(f"cd={folder},{folder}")
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
            read(argument)
    with pytest.raises(UserError, match="two systems are called 'base'"):
        read(base, base)


def test_a_run_that_is_being_trained_is_refused(runs: dict[str, Path]) -> None:
    folder = runs["base"]
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"is still training \(update 20\)"):
            read(folder)
    read(folder)


def test_what_a_model_did_is_kept_until_something_that_it_depends_on_changes(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    member = ModelMember(find_model(runs["base"]), "base", EvaluateConfig(), tmp_path)
    made: list[str] = []

    def keep(*depends_on: object) -> None:
        path = member.kept(
            "a.b.json", (None, *depends_on), lambda path: path.write_text("x") and None
        )
        made.append(path.name)

    for text in ("one", "one", "two"):
        keep(text)
    assert made[0] == made[1] != made[2]
    assert len(list(tmp_path.rglob("a.b.*.json"))) == 2
