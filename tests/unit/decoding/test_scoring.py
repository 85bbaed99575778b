"""Scores of given translations against whole windows, and the rules for verdicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.decoding.config import PoolConfig
from concatmt.decoding.contrast import verdict
from concatmt.decoding.engine import Engine
from concatmt.decoding.scoring import ScoringItem, Tree, score_items, sums_of
from tests.unit.decoding.models import SYSTEMS, make_model, make_windows, teacher_forced


def items_with_shared_contexts(sentences: int) -> list[ScoringItem]:
    """Each with four candidates: two share a beginning, two are equal; sources come twice."""
    items = []
    for i, window in enumerate(make_windows(8, sentences)):
        context = [list(s) for s in make_windows(1, 1, seed=i)[0].source] * len(window.source)
        words = list(make_windows(1, 1, seed=100 + i)[0].source[0])
        candidates = [words, [*words, 7], [9, *words], words]
        other = [[5], *context[1:-1]][: len(window.source) - 1]
        items.append(ScoringItem(window.source, [[*context[:-1], c] for c in candidates]))
        items.append(ScoringItem(window.source, [[*other, c] for c in candidates[:2]]))
    return items


@pytest.mark.parametrize("system", SYSTEMS)
def test_shared_beginnings_score_as_whole_windows_do(system: str) -> None:
    model = make_model(system)
    items = items_with_shared_contexts(model.config.system.sentences)
    for windows in (1, 5):
        found = score_items(Engine(model), items, PoolConfig(windows=windows, threads=windows))
        for item, of_item in zip(items, found, strict=True):
            for target, log_probs in zip(item.targets, of_item, strict=True):
                wanted = teacher_forced(
                    model, [list(s) for s in item.source], [list(s) for s in target]
                )
                assert log_probs == pytest.approx(wanted, abs=2e-5)


def test_equal_candidates_score_equally_to_the_bit() -> None:
    model = make_model("s4to4")
    for of_item in score_items(Engine(model), items_with_shared_contexts(4), PoolConfig())[::2]:
        assert of_item[0] == of_item[3]


def test_a_model_of_double_precision_can_score() -> None:
    items = items_with_shared_contexts(4)
    single = score_items(Engine(make_model("s4to4+lrn+pse")), items, PoolConfig())
    double = score_items(Engine(make_model("s4to4+lrn+pse").double()), items, PoolConfig())
    for few, more in zip(single, double, strict=True):
        for a, b in zip(few, more, strict=True):
            assert a == pytest.approx(b, abs=2e-5)


def test_the_current_sentence_alone_scores_as_it_does_within_the_window() -> None:
    engine = Engine(make_model("s4to4+sin+pers"))
    items = items_with_shared_contexts(4)
    everything = score_items(engine, items, PoolConfig())
    current = score_items(engine, items, PoolConfig(), current_only=True)
    for item, whole, last in zip(items, everything, current, strict=True):
        for target, a, b in zip(item.targets, whole, last, strict=True):
            assert a[-len(target[-1]) - 1 :] == pytest.approx(b, abs=1e-5)


def test_a_shared_beginning_is_computed_once() -> None:
    tree = Tree(ScoringItem([[4], [5]], [[[6, 7], [8, 9]], [[6, 7], [8, 10]]]))
    # <end> 6 7 </s> 8, then 9 and 10 apart.
    assert len(tree.tokens) == 7


def test_sums_are_over_the_window_or_the_current_sentence() -> None:
    sums = sums_of([-1.0, -2.0, -3.0, -4.0, -5.0], [[6], [8, 9]])  # 6 </s> 8 9 <end>
    assert (sums.window, sums.window_tokens, sums.current, sums.current_tokens) == (-15, 5, -12, 3)
    assert sums.value("mean", "window") == -3
    assert sums.value("sum", "current") == -12


@pytest.mark.parametrize(
    ("scores", "correct", "split", "first", "wrong"),
    [
        ([-1, -2], 0, 1, 1, 1),
        ([-2, -1], 0, 0, 0, 0),
        ([-1, -1], 0, 0.5, 1, 0),
        ([-1, -1], 1, 0.5, 0, 0),
        ([-3, -1, -1, -1], 2, 1 / 3, 0, 0),
    ],
)
def test_ties_are_split_or_decided_by_the_authors_rules(
    scores: list[float], correct: int, split: float, first: float, wrong: float
) -> None:
    assert verdict(scores, correct, "split") == split
    assert verdict(scores, correct, "first") == first
    assert verdict(scores, correct, "wrong") == wrong


@given(st.integers(2, 9))
def test_a_constant_scorer_is_at_chance_when_ties_are_split(candidates: int) -> None:
    verdicts = [verdict([0.0] * candidates, c, "split") for c in range(candidates)]
    assert sum(verdicts) / candidates == pytest.approx(1 / candidates)
