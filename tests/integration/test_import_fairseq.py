"""`concatmt convert` from the command line, on a checkpoint of the authors' code."""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from concatmt.model.directory import load_model
from concatmt.text.pipeline import TextPipeline

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "shift"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for side in ("src", "tgt"):
        shutil.copy(GOLDEN / f"dict.{side}.txt", tmp_path)
    options = json.loads((GOLDEN / "options.json").read_text(encoding="utf-8"))
    write(tmp_path, options)
    return tmp_path


def write(folder: Path, options: dict[str, object]) -> None:
    tensors = load_file(GOLDEN / "tensors.safetensors")
    torch.save({"args": argparse.Namespace(**options), "model": tensors}, folder / "checkpoint.pt")


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable, "-m", "concatmt", "convert", "checkpoint.pt",
        "--source-dict", "dict.src.txt", "--target-dict", "dict.tgt.txt", "--output", "model",
    ]  # fmt: skip
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_checkpoint_becomes_a_model_directory(workspace: Path) -> None:
    done = run(workspace)
    assert done.returncode == 0, done.stderr
    assert "model: s4to4+cd+shift8, " in done.stdout
    model = load_model(workspace / "model")
    assert model.config.shift == 8
    text = TextPipeline.load(workspace / "model" / "text")
    for codec in (text.source, text.target):
        assert len(codec) == model.config.source_vocabulary == 49
        assert codec.vocabulary.symbols[4:6] == ["<s>", "w0"]
        assert codec.decode(codec.encode("w0 w3")) == "w0 w3"
    assert run(workspace).returncode == 0  # again: the old directory is replaced


def test_a_refusal_is_one_line_and_leaves_nothing_behind(workspace: Path) -> None:
    options = json.loads((GOLDEN / "options.json").read_text(encoding="utf-8"))
    write(workspace, {**options, "position_shift": -1})
    done = run(workspace)
    assert done.returncode == 2
    assert done.stderr.startswith("concatmt: error: checkpoint.pt: position_shift = -1")
    assert done.stderr.count("\n") == 1
    assert not (workspace / "model").exists()


def test_a_folder_that_is_not_a_model_is_not_overwritten(workspace: Path) -> None:
    (workspace / "model").mkdir()
    (workspace / "model" / "thesis.tex").write_text("mine")
    done = run(workspace)
    assert done.returncode == 2
    assert "choose another output" in done.stderr
    assert (workspace / "model" / "thesis.tex").read_text() == "mine"
