"""What is said when a model directory is not one, and how precision is signed."""

from pathlib import Path

import pytest
import torch

from concatmt.decoding.loading import LoadedModel
from concatmt.errors import UserError
from concatmt.model.directory import save_model
from concatmt.parallel import count_from_environment
from tests.unit.decoding.models import make_model, make_pipeline


def test_a_file_in_place_of_a_model_hints_at_the_order_of_arguments(tmp_path: Path) -> None:
    (tmp_path / "talk.en").write_text("Hello.")
    with pytest.raises(UserError, match="a file where a model directory is expected"):
        LoadedModel.load(tmp_path / "talk.en")


def test_a_run_without_a_model_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UserError, match="a training run that has no model yet"):
        LoadedModel.load(tmp_path)


def test_half_precision_is_signed_as_what_it_is(tmp_path: Path) -> None:
    pipeline = make_pipeline()
    model = make_model("base", len(pipeline.source), 16)
    for name, dtype in (("bfloat16", torch.bfloat16), ("float32", torch.float32)):
        save_model(tmp_path / name, model.to(dtype), lambda f: pipeline.save(f / "text"))
        assert LoadedModel.load(tmp_path / name).identity["precision"] == name
    assert LoadedModel.load(tmp_path / "float32", int8=True).identity["precision"] == "int8"


def test_numbers_of_a_launcher_must_be_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "x")
    with pytest.raises(UserError, match="WORLD_SIZE=x: expected a number"):
        count_from_environment("WORLD_SIZE", "1")
