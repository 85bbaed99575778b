"""Golden vectors of the authors' implementation: where they are, and how windows are read.

The full set is not part of the project; `CONCATMT_SHARED` names the folder that holds `golden/`, or
a folder `shared` beside the project or above it does. Without it, tests of it are skipped.
"""

import argparse
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from concatmt.corpus.batch import WindowBatch
from concatmt.text.vocabulary import Vocabulary

SMALL_VARIANTS = ["shift", "sin-pse-pers"]  # come with the tests
VARIANTS = ["s4to4", "s4to4-shared", "shift", "1hot-pers", "sin-pse-pers", "lrn", "lrn-pse"]


def shared_folder() -> Path:
    """The folder that holds the golden set, the paper's tables and so on; skips without it."""
    candidates = [parent / "shared" for parent in Path(__file__).resolve().parents]
    if "CONCATMT_SHARED" in os.environ:
        candidates.insert(0, Path(os.environ["CONCATMT_SHARED"]))
    for candidate in candidates:
        if (candidate / "golden").is_dir():
            return candidate
    pytest.skip("no golden vectors: set CONCATMT_SHARED to the folder that holds golden/")


def golden_folder(variant: str) -> Path:
    """The folder of one variant."""
    return shared_folder() / "golden" / variant


def read_expected(folder: Path) -> dict[str, Any]:
    """What the authors' code computed for a variant."""
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return expected


def to_batch(
    windows: Sequence[dict[str, Any]], source: Vocabulary, target: Vocabulary
) -> WindowBatch:
    """Windows of sentences whose words are separated by spaces."""
    return WindowBatch.from_lists(
        [[source.encode(sentence.split()) for sentence in w["source"]] for w in windows],
        [[target.encode(sentence.split()) for sentence in w["target"]] for w in windows],
    )


def small_folder(variant: str, workspace: Path) -> Path:
    """A variant of the set that comes with the tests, as a folder like those of the full set."""
    origin = Path(__file__).resolve().parents[2] / "data" / "golden" / variant
    folder = workspace / variant
    shutil.copytree(origin, folder)
    options = json.loads((origin / "options.json").read_text(encoding="utf-8"))
    state = {
        "args": argparse.Namespace(**options),
        "model": load_file(origin / "tensors.safetensors"),
    }
    torch.save(state, folder / "checkpoint.pt")
    return folder
