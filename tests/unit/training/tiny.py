"""A tiny task for tests of training: words are translated one by one."""

from pathlib import Path
from typing import Any

import numpy as np

from concatmt.corpus.prepare import CorpusConfig, prepare
from concatmt.corpus.store import Store
from concatmt.model.config import Architecture
from concatmt.model.systems import parse_system
from concatmt.settings import parse_settings
from concatmt.text.pipeline import TextSettings
from concatmt.training.config import TrainingConfig
from concatmt.training.train import Task

STACK = {"layers": 2, "heads": 2, "feed_forward": 32}
ARCHITECTURE = {"dim": 16, "encoder": STACK, "decoder": STACK, "dropout": 0.1}
TRAINING: dict[str, Any] = {
    "tokens_per_update": 256,
    "batch": {"tokens": 128},
    "validate_every": 5,
    "max_updates": 20,
    "log_every": 5,
    "optimiser": {"learning_rate": 0.01, "warmup": 5},
}


def make_data(folder: Path, documents: int = 40, words: int = 12) -> Path:
    """A store with train and valid; the translation of `a3` is `b3`."""
    rng = np.random.default_rng(3)
    for split, count in (("train", documents), ("valid", 6)):
        texts: list[list[str]] = [[], []]
        for _ in range(count):
            for _ in range(rng.integers(2, 6)):
                ids = rng.integers(words, size=rng.integers(1, 7))
                texts[0].append(" ".join(f"a{i}" for i in ids))
                texts[1].append(" ".join(f"b{i}" for i in ids))
            texts[0].append("")
            texts[1].append("")
        for side, lines in zip(("en", "de"), texts, strict=True):
            (folder / f"{split}.{side}").write_text("\n".join(lines))
    readers = {
        split: [{"format": "text", "source": f"{split}.en", "target": f"{split}.de"}]
        for split in ("train", "valid")
    }
    corpus = parse_settings(CorpusConfig, {"root": folder, "splits": readers}, "test")
    text = {
        "languages": {"target": "de"},
        "text": {"kind": "whitespace", "vocabulary": "joint"},
    }
    prepare(corpus, parse_settings(TextSettings, text, "test"), folder / "store", workers=1)
    return folder / "store"


def make_task(data: Path, system: str = "s3to3+cd", seed: int = 1, **training: Any) -> Task:
    """A task of a second or two."""
    return Task(
        data,
        parse_system(system),
        parse_settings(Architecture, ARCHITECTURE, "test"),
        parse_settings(TrainingConfig, {**TRAINING, **training}, "test"),
        seed,
    )


def open_data(data: Path) -> Store:
    return Store.open(data)
