"""What the engines of benchmarks/decode.py translate: a model and its windows.

Random models have Marian's positions and start, so that every peer can run them. Random weights end
no translation, so each has exactly as many tokens as its source. A model that was converted from
OPUS-MT translates lines of real text and ends them itself.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from concatmt.conversion.hugging_face import import_hugging_face
from concatmt.decoding.boundaries import Allowed, Free
from concatmt.decoding.hypotheses import Window
from concatmt.errors import UserError
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.encodings import PositionConfig
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer

VOCABULARY = {"small": 8000, "base": 32000, "tiny": 8000}
SENTENCE = 9  # tokens of each of the four sentences, without its boundary
LENGTH = 4 * (SENTENCE + 1)  # tokens of a translation, the last of them <end>


class Case(NamedTuple):
    """A model and what it translates; `exact`: all translations have `LENGTH` tokens."""

    name: str
    model: Transformer
    windows: list[Window]
    exact: bool


def random_case(size: str, windows: int) -> Case:
    """Random weights and random windows."""
    return Case(size, build(size), make_windows(windows, VOCABULARY[size]), exact=True)


def real_case(folder: Path, text: Path, windows: int) -> Case:
    """A directory of OPUS-MT, as Hugging Face has them, and the first lines of a text."""
    # The frequencies with which Marian trained it; each line is a window.
    imported = import_hugging_face(folder, positions="marian")
    with text.open(encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()][:windows]
    if not lines:
        raise UserError(f"{text}: has no lines")
    encoded = [Window([imported.text.source.encode(line)]) for line in lines]
    return Case(folder.name, imported.model, encoded, exact=False)


def build(size: str) -> Transformer:
    """A model with sharp random distributions."""
    torch.manual_seed(1)
    count = VOCABULARY[size]
    marian = {
        "positions": PositionConfig(first=0, frequencies="half-1"),
        "output_bias": True,
        "start": "zero",
        "norm_epsilon": 1e-6,
    }
    config = ModelConfig(
        architecture=SIZES[size].model_copy(update=marian),
        system=parse_system("s4to4"),
        source_vocabulary=count,
        target_vocabulary=count,
    )
    return Transformer(config).eval()


def make_windows(count: int, vocabulary: int) -> list[Window]:
    """Windows of four sentences."""
    random = np.random.default_rng(1)
    drawn = random.integers(4, vocabulary, (count, 4, SENTENCE)).tolist()
    return [Window(window) for window in drawn]


class Exactly(Free):
    """Translations of exactly `limits` tokens: <end> comes then, and not before."""

    def allowed(self) -> Allowed:
        full = self.words + self.separators >= self.limits
        return Allowed(~full, ~full, full)
