"""Measures for ten seconds how fast this machine prepares, trains on and translates a corpus.

A sample of the corpus is prepared; the proposed model computes some updates on it and translates
some sentences. The speeds hold for the load at that moment. Nothing is kept.
"""

import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from concatmt.config import Config
from concatmt.corpus.document import Document
from concatmt.corpus.prepare import prepare
from concatmt.corpus.windows import Windows
from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.translator import Translator
from concatmt.model.systems import parse_system
from concatmt.settings import parse_settings
from concatmt.training.forecast import Forecast
from concatmt.training.processes import Processes
from concatmt.training.run import Run
from concatmt.training.train import Task, build_model
from concatmt.training.trainer import Trainer

SENTENCES = 3_000  # of the sample that is prepared; at least as many as the vocabulary has pieces
TRANSLATED = 40


@dataclass(frozen=True, slots=True)
class Speeds:
    """What was measured on the sample."""

    prepare: float  # sentences per second
    train: float  # real target tokens per second
    translate: float  # sentences per second
    tokens: float  # real target tokens in an epoch per sentence of the corpus
    parameters: int


def measure(
    documents: Iterable[Document], languages: tuple[str, str], system: str, tree: dict[str, Any]
) -> Speeds:
    """Prepare the first documents, train and translate a little, all in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="concatmt-init-") as name:
        folder = Path(name)
        limit = max(SENTENCES, tree["text"]["size"])
        sentences = _write_sample(documents, folder, limit)
        config = _config(folder, languages, tree)
        corpus, text = config.to_prepare()
        start = time.monotonic()
        store, _ = prepare(corpus, text, folder / "store", workers=1)
        prepared = sentences / (time.monotonic() - start)
        task = Task(folder / "store", parse_system(system), config.model, config.training, 1)
        windows, valid = (
            Windows.of(store.split(split), task.system.sentences) for split in ("train", "valid")
        )
        processes = Processes.join(config.training.device)
        model = build_model(store, task)
        run = Run(folder / "run")
        forecast = Forecast.measure(
            Trainer(run, model, config.training, windows, valid, 1, processes)
        )
        # An untrained model does not know when to end; a trained one would write about as many
        # tokens as the source has.
        search = SearchConfig(length_factor=1, length_constant=1)
        model = model.to("cpu").eval()
        translator = Translator(Engine(model), store.text, TranslateConfig(search=search))
        lines = [sentence for document in _read(folder) for sentence in document["source"]][
            :TRANSLATED
        ]
        start = time.monotonic()
        translator.translate_document(lines)
        translated = len(lines) / (time.monotonic() - start)
    return Speeds(
        prepared,
        forecast.speed,
        translated,
        forecast.tokens / sentences,
        sum(parameter.numel() for parameter in model.parameters()),
    )


def _config(folder: Path, languages: tuple[str, str], tree: dict[str, Any]) -> Config:
    sample = [{"format": "jsonl", "file": str(folder / "sample.jsonl")}]
    whole = {
        **tree,
        "languages": dict(zip(("source", "target"), languages, strict=True)),
        "corpus": {"splits": {"train": sample, "valid": sample}},
    }
    return parse_settings(Config, whole, "the probe")


def _write_sample(documents: Iterable[Document], folder: Path, limit: int) -> int:
    """Write the first documents, up to `limit` sentences; returns how many sentences there are."""
    left = limit
    with (folder / "sample.jsonl").open("w", encoding="utf-8") as file:
        for document in documents:
            source, target = document.source[:left], document.target[:left]
            left -= len(source)
            file.write(json.dumps({"source": source, "target": target}) + "\n")
            if not left:
                break
    return limit - left


def _read(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / "sample.jsonl").open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in islice(file, TRANSLATED))
