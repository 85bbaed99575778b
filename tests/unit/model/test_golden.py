"""Parity with the authors' implementation, on its own numbers (see golden.py)."""

from pathlib import Path
from typing import Any

import pytest
import torch

from concatmt.conversion.fairseq import import_checkpoint
from concatmt.conversion.fairseq_dictionary import Dictionary
from concatmt.corpus.batch import WindowBatch
from concatmt.model.loss import LossConfig, discount_weights, target_log_probs, window_loss
from concatmt.model.transformer import Transformer
from tests.unit.model.golden import (
    SMALL_VARIANTS,
    VARIANTS,
    golden_folder,
    read_expected,
    small_folder,
    to_batch,
)

Golden = tuple[Path, dict[str, Any], Transformer, WindowBatch]


def read(folder: Path) -> Golden:
    expected = read_expected(folder)
    model, source, target = import_checkpoint(
        folder / "checkpoint.pt", folder / "dict.src.txt", folder / "dict.tgt.txt"
    )
    return folder, expected, model, to_batch(expected["windows"], source, target)


@pytest.fixture(params=[*(f"small:{v}" for v in SMALL_VARIANTS), *VARIANTS], scope="module")
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Golden:
    variant = request.param
    if variant.startswith("small:"):
        return read(small_folder(variant.removeprefix("small:"), tmp_path_factory.mktemp("small")))
    return read(golden_folder(variant))


def test_log_probs_of_all_target_tokens_agree(golden: Golden) -> None:
    _, expected, model, batch = golden
    with torch.no_grad():
        ours = target_log_probs(model(batch), model.output.weight, batch.target)
    for row, window in zip(ours, expected["windows"], strict=True):
        theirs = torch.tensor(window["target_log_probs"])
        assert (row[: len(theirs)] - theirs).abs().max() < 1e-4
        assert abs(float(row.sum()) / len(theirs) - window["mean_log_prob"]) < 1e-4


def test_the_whole_distribution_agrees_where_the_end_is_predicted(golden: Golden) -> None:
    folder, expected, model, batch = golden
    order = Dictionary.load(folder / "dict.tgt.txt").with_window_end(markup=False).order()
    with torch.no_grad():
        hidden = model(batch)
        for row, window in enumerate(expected["windows"]):
            ours = model.log_probs(hidden[row, len(window["target_log_probs"]) - 1])
            theirs = torch.tensor(window["last_position_log_probs"])[order]
            assert (ours - theirs).abs().max() < 1e-4


def test_segments_and_loss_weights_agree(golden: Golden) -> None:
    _, expected, _, batch = golden
    weights = discount_weights(batch.target, 0.01)
    shifted = batch.target.shifted_right()
    for row, window in enumerate(expected["windows"]):
        source, target = len(window["source_segments"]), len(window["decoder_segments"])
        assert batch.source.segments[row, :source].tolist() == window["source_segments"]
        assert shifted.segments[row, :target].tolist() == window["decoder_segments"]
        assert weights[row, :target].tolist() == pytest.approx(window["loss_weights"], abs=1e-6)


def test_sums_of_the_discounted_and_the_plain_loss_agree(golden: Golden) -> None:
    _, expected, model, batch = golden
    if "tokens" not in expected:
        pytest.skip("sums are over the full set of windows")
    config = LossConfig(label_smoothing=expected["label_smoothing"])
    with torch.no_grad():
        hidden = model(batch)
        discounted, plain = (
            window_loss(
                hidden,
                model.output.weight,
                batch.target,
                discount_weights(batch.target, cd),
                config,
            )
            for cd in (expected["context_discount"], 1.0)
        )
    nll = float(plain.current.nll + plain.context.nll)
    assert float(discounted.total) == pytest.approx(expected["discounted_loss_sum"], rel=1e-4)
    assert float(plain.total) == pytest.approx(expected["plain_loss_sum"], rel=1e-4)
    assert nll == pytest.approx(expected["nll_sum"], rel=1e-4)
    assert int(plain.normaliser) == expected["tokens"]
