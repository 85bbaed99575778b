"""The engine computes what the model computes, also for models as Marian makes them."""

import pytest
import torch

from concatmt.corpus.batch import side_from_lists
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.text.vocabulary import END, PAD
from tests.unit.decoding.models import MARIAN, make_model, make_windows, teacher_forced

OPTIONS = {
    "all": MARIAN,
    "swish": {"activation": "swish"},
    "bias": {"output_bias": True},
    "start": {"start": "zero"},
    "positions": {"positions": {"first": 0, "frequencies": "half"}},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("system", ["base", "s3to3+shift5+pers", "s3to3+lrn+pse"])
def test_search_and_scoring_agree_with_teacher_forcing(name: str, system: str) -> None:
    model = make_model(system, **OPTIONS[name])
    engine = Engine(model)
    sentences = model.config.system.sentences
    windows = make_windows(6, sentences)
    config = SearchConfig(beam=3)
    for window, found in zip(windows, Search(engine, config).run(windows), strict=True):
        targets = [hypothesis.sentences for hypothesis in found]
        expected = [teacher_forced(model, list(window.source), target) for target in targets]
        for hypothesis, log_probs in zip(found, expected, strict=True):
            assert hypothesis.log_probs == pytest.approx(log_probs, abs=2e-4)
        item = ScoringItem(window.source, targets)
        (scored,) = score_items(engine, [item], PoolConfig(threads=1))
        for mine, log_probs in zip(scored, expected, strict=True):
            assert mine == pytest.approx(log_probs, abs=2e-5)


def test_int8_stays_close_to_float32_after_swish_and_with_a_bias() -> None:
    """The mean absolute difference of log-probs is 0.015; with inputs wrongly taken for positive,
    as after a ReLU, they are 0.95."""
    model = make_model("s3to3", vocabulary=200, dim=64, sharpness=1.0, **MARIAN)
    exact, rounded = Engine(model), Engine(model, int8=True)
    items = [
        ScoringItem(window.source, [window.source])
        for window in make_windows(12, 3, vocabulary=200)
    ]
    pool = PoolConfig(threads=1)
    pairs = zip(score_items(exact, items, pool), score_items(rounded, items, pool), strict=True)
    differences = [
        abs(a - b) for ours, theirs in pairs for a, b in zip(ours[0], theirs[0], strict=True)
    ]
    assert sum(differences) / len(differences) < 0.05


def test_a_zero_start_is_a_zero_vector_and_not_the_end() -> None:
    """Moving the embedding of <end> changes nothing before <end> is fed; for others it does."""
    moved = {}
    for start in ("zero", "end"):
        model = make_model("base", start=start)
        assert not model.target_embedding.weight[PAD].any()
        before = teacher_forced(model, [[5, 6]], [[7, 8]])
        with torch.no_grad():
            model.target_embedding.weight[END] += 1
        moved[start] = teacher_forced(model, [[5, 6]], [[7, 8]]) != before
    assert moved == {"zero": False, "end": True}


def test_candidates_with_a_bias_are_those_of_the_full_softmax() -> None:
    model = make_model("base", vocabulary=300, **MARIAN)
    for int8, tolerance in ((False, 1e-4), (True, 0.2)):
        engine = Engine(model, int8)
        hidden = torch.randn(5, 32, generator=torch.Generator().manual_seed(3))
        found = engine.candidates(hidden, 4)
        expected = model.log_probs(hidden)
        assert torch.allclose(found.end, expected[:, END], atol=tolerance)
        assert torch.allclose(found.scores, expected.gather(1, found.words), atol=tolerance)
        words = expected[:, 4:].topk(4, dim=1)
        assert torch.allclose(found.scores, words.values, atol=tolerance)


def test_windows_begin_at_the_position_the_architecture_names() -> None:
    """Independent of the tables: the sinusoid at 0 is zeros and then ones."""
    model = make_model("base", **MARIAN)
    side = side_from_lists([Window([[5]]).source])
    signal = model.encoding(torch.tensor([[2]]), side.segments[:, :1], torch.tensor([[1]]))
    assert signal.input[0, 0].tolist() == [0.0] * 16 + [1.0] * 16
