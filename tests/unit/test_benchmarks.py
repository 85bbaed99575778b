"""What the benchmarks compute by themselves: weights for other engines, fits and tables."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from concatmt.conversion.marian import import_marian
from concatmt.text.sentence_piece import SentencePieceCodec
from concatmt.text.vocabulary import END, UNK
from tests.unit.decoding.models import MARIAN, make_model, make_pipeline

FOLDER = Path(__file__).parents[2] / "benchmarks"
POSITIONS = {"first": 0, "frequencies": "half-1"}


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))

    def named(name: str) -> ModuleType:
        return importlib.import_module(name)

    return named


def test_what_is_written_for_marian_is_read_back_as_the_same_model(
    benchmark: Any, tmp_path: Path
) -> None:
    settings = {**MARIAN, "positions": POSITIONS, "embeddings": "shared"}
    model = make_model("base", 60, **settings)
    benchmark("marian_npz").write_marian(model, tmp_path, endless=False)
    codec = make_pipeline().source
    assert isinstance(codec, SentencePieceCodec)
    (tmp_path / "joint.spm").write_bytes(codec.model)
    (tmp_path / "vocabulary.yml").rename(tmp_path / "model.vocab.yml")
    again = import_marian(tmp_path).model
    ours, theirs = dict(model.named_parameters()), dict(again.named_parameters())
    blocks = [name for name in ours if name.startswith(("encoder.", "decoder."))]
    assert len(blocks) == len([name for name in theirs if name.startswith(("encoder", "decoder"))])
    for name in blocks:
        assert torch.equal(ours[name], theirs[name]), name
    # As ordinary words padding and separator come behind the specials of the import.
    for name in ("source_embedding.weight", "output.bias"):
        assert torch.equal(ours[name][4:], theirs[name][6:])
        assert torch.equal(ours[name][[UNK, END]], theirs[name][[UNK, END]])
    mine, its = model.config.architecture, again.config.architecture
    assert mine.model_copy(update={"dropout": its.dropout}) == its


def test_a_power_is_found_again(benchmark: Any) -> None:
    exponent = benchmark("growth").exponent
    assert exponent([10, 40, 160], [3.0, 12.0, 48.0]) == pytest.approx(1)
    assert exponent([1, 2, 4], [5.0, 20.0, 80.0]) == pytest.approx(2)


def test_tables_show_the_median_and_every_round(benchmark: Any) -> None:
    bench = benchmark("bench")
    assert bench.rounds_of([0.9, 1.3, 1.0]) == "1.00 (0.90, 1.30, 1.00)"
    assert bench.rounds_of([1.0, 2.0], 1) == "1.5 (1.0, 2.0)"
    results = {
        "torch": "2",
        "small": {
            "windows": 12,
            "ratios_to_plain_windows": [4.0, 4.2, 3.9],
            "ratios_to_padded_windows": [3.0],
            "ratios_to_packed_windows": [2.0],
        },
    }
    assert bench.score_table(results) == [
        "| size | windows | to plain | to padded | to packed |",
        "| --- | --- | --- | --- | --- |",
        "| small | 12 | 4.00 (4.00, 4.20, 3.90) | 3.00 | 2.00 |",
    ]


def test_a_busy_machine_is_told_beside_the_figures(benchmark: Any) -> None:
    bench = benchmark("bench")
    step = bench.Step("score", "Scoring", ["score.py"], lambda _: ["table"], "decode-speed")
    told = [
        bench.page("Speed", [(step, {"load": load, "command": "python score.py"})])
        for load in (0.2, 3.1)
    ]
    assert ["provisional" in text for text in told] == [False, True]
    assert all("table" in text and "    python score.py" in text for text in told)
