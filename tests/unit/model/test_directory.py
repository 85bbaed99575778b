"""Model directories: a round trip is exact, and what is not intact is refused in one line."""

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from concatmt.errors import UserError
from concatmt.files import hash_file, hash_text
from concatmt.model.directory import CONFIG, WEIGHTS, load_config, load_model, save_model
from tests.unit.model.small_models import build, log_probs, random_batch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", build("s4to4+cd+lrn+pers"))
    return tmp_path / "model"


@pytest.mark.parametrize("embeddings", ["separate", "decoder-tied", "shared"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_model_comes_back_with_the_same_outputs_and_the_same_sharing(
    embeddings: str, norm: str, tmp_path: Path
) -> None:
    model = build("s4to4+lrn+pse", embeddings=embeddings, norm=norm)
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model")
    batch = random_batch(model)
    assert torch.equal(log_probs(again, batch), log_probs(model, batch))
    assert again.config == model.config
    names = [name for name, _ in model.named_parameters()]
    assert [name for name, _ in again.named_parameters()] == names
    assert all(parameter.requires_grad for parameter in again.parameters())


def test_loading_draws_no_random_numbers(folder: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_model(folder)
    assert torch.equal(torch.rand(3), expected)


def test_a_directory_states_its_system_and_versions_and_can_be_moved(folder: Path) -> None:
    manifest = json.loads((folder / CONFIG).read_text())
    assert manifest["system"] == "s4to4+cd+lrn+pers"
    assert manifest["format"] == 1
    assert manifest["weights_sha256"] == hash_file(folder / WEIGHTS)
    assert (folder / WEIGHTS).stat().st_mode == (folder / CONFIG).stat().st_mode
    load_model(folder.rename(folder.with_name("elsewhere")))


def test_text_files_are_written_along_or_nothing_is(tmp_path: Path) -> None:
    save_model(tmp_path / "a", build("base"), lambda f: (f / "source.vocab").touch())
    assert (tmp_path / "a" / "source.vocab").exists()

    def fail(folder: Path) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        save_model(tmp_path / "b", build("base"), fail)
    assert [f.name for f in tmp_path.iterdir()] == ["a"]


def rewrite(folder: Path, **changes: object) -> None:
    """Change the manifest and give it a hash that fits."""
    manifest = json.loads((folder / CONFIG).read_text()) | changes
    manifest.pop("config_sha256")
    digest = hash_text(json.dumps(manifest, sort_keys=True, ensure_ascii=False))
    (folder / CONFIG).write_text(json.dumps({**manifest, "config_sha256": digest}))


def test_a_newer_format_is_refused(folder: Path) -> None:
    rewrite(folder, format=2, concatmt="9.1")
    with pytest.raises(UserError, match=r"written by concatmt 9\.1"):
        load_model(folder)


def test_a_truncated_or_altered_file_of_weights_is_refused(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    for damaged in (content[:-10], content[:-1] + b"x", b""):
        (folder / WEIGHTS).write_bytes(damaged)
        with pytest.raises(UserError, match="truncated or altered"):
            load_model(folder)


def test_a_damaged_file_of_weights_whose_hash_fits_is_refused(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(b"not weights")
    rewrite(folder, weights_sha256=hash_file(folder / WEIGHTS))
    with pytest.raises(UserError, match="damaged"):
        load_model(folder)


def test_an_altered_configuration_is_refused(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('"persistent": true', '"persistent": false'))
    with pytest.raises(UserError, match="altered"):
        load_config(folder)
    (folder / CONFIG).write_text(text[:40])
    with pytest.raises(UserError, match="not valid JSON"):
        load_config(folder)
    (folder / CONFIG).write_text("[]")
    with pytest.raises(UserError, match="has no format"):
        load_config(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("encoding.weight"), "'encoding.weight' is missing"),
        (lambda t: t.update({"encoding.weight": torch.zeros(3, 16)}), r"shape \(3, 16\)"),
        (lambda t: t.update({"extra": torch.zeros(1)}), "'extra' that the model lacks"),
    ],
)
def test_tensors_that_are_missing_misshapen_or_unknown_are_refused(
    folder: Path, change: object, reason: str
) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)  # type: ignore[operator]
    save_file(tensors, folder / WEIGHTS)
    rewrite(folder, weights_sha256=hash_file(folder / WEIGHTS))
    with pytest.raises(UserError, match=reason):
        load_model(folder)


def test_anything_but_a_model_directory_is_reported(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such model directory"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(UserError, match="not a model directory"):
        load_model(tmp_path)
    (folder / WEIGHTS).unlink()
    with pytest.raises(UserError, match=f"no {WEIGHTS}"):
        load_model(folder)


def rehashed(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest whose own hash fits."""
    manifest.pop("config_sha256", None)
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=False)
    (folder / CONFIG).write_text(json.dumps({**manifest, "config_sha256": hash_text(text)}))


def test_text_that_decides_a_translation_is_hashed(tmp_path: Path) -> None:
    def write(inside: Path) -> None:
        (inside / "text").mkdir()
        (inside / "text" / "source.vocab").write_text("a\nb\n")

    save_model(tmp_path / "model", build("base"), write)
    load_model(tmp_path / "model")
    (tmp_path / "model" / "text" / "source.vocab").write_text("b\na\n")
    with pytest.raises(UserError, match="source.vocab: truncated or altered"):
        load_model(tmp_path / "model")


def test_directories_from_before_text_was_hashed_still_open(folder: Path) -> None:
    before = load_model(folder).state_dict()
    manifest = json.loads((folder / CONFIG).read_text())
    del manifest["text_sha256"]
    rehashed(folder, manifest)
    after = load_model(folder).state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], before[name]) for name in before)


@pytest.mark.parametrize(
    ("side", "key", "value", "message"),
    [
        ("encoder", "layers", 100_000, "too few for the"),
        (None, "dim", 20_000, "has shape"),
    ],
)
def test_sizes_that_do_not_fit_the_weights_cost_no_memory(
    folder: Path, side: str | None, key: str, value: int, message: str
) -> None:
    manifest = json.loads((folder / CONFIG).read_text())
    architecture = manifest["model"]["architecture"]
    (architecture[side] if side else architecture)[key] = value
    rehashed(folder, manifest)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=message):
        load_model(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensor: tensor.fill_(float("nan")), "not finite"),
        (lambda tensor: tensor.fill_(float("inf")), "not finite"),
        (lambda tensor: tensor.to(torch.int32), "of type torch.int32"),
    ],
)
def test_weights_that_are_no_numbers_are_refused(
    folder: Path, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    tensors = load_file(folder / WEIGHTS)
    name = "encoder.0.feed_forward_in.weight"
    save_file({**tensors, name: change(tensors[name].clone())}, folder / WEIGHTS)
    manifest = json.loads((folder / CONFIG).read_text())
    manifest["weights_sha256"] = hash_file(folder / WEIGHTS)
    rehashed(folder, manifest)
    with pytest.raises(UserError, match=message):
        load_model(folder)
