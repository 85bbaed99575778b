"""Windows in batches: every thread has some, and what is searched together is always the same."""

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.corpus.batch import Side
from concatmt.decoding.batches import WORTH_TWO_THREADS, plan, translate_windows
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.model.transformer import PackedMemory
from tests.unit.decoding.models import make_model, make_windows


class Watched(Engine):
    """Notes who encodes, and how many windows."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[tuple[int, int]] = []

    def encode(self, source: Side, sentences: Any) -> PackedMemory:
        self.seen.append((threading.get_ident(), len(sentences)))
        return super().encode(source, sentences)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=300), st.integers(1, 64))
def test_two_threads_share_what_would_fit_one_batch(costs: list[int], windows: int) -> None:
    batches = plan(costs, PoolConfig(windows=windows, tokens=4096))
    assert sorted(i for batch in batches for i in batch) == list(range(len(costs)))
    assert all(len(batch) <= windows for batch in batches)
    if len(costs) >= WORTH_TWO_THREADS:
        assert len(batches) >= 2
        for batch in batches:  # without its last item, none has half of the work
            assert 2 * sum(costs[i] for i in batch[:-1]) < sum(costs)


def test_a_full_batch_is_cut_in_two_and_a_few_sentences_are_not() -> None:
    pool = PoolConfig()
    assert [len(batch) for batch in plan([20] * 64, pool)] == [32, 32]
    assert [len(batch) for batch in plan([40] * 4 + [10] * 16, pool)] == [4, 16]
    assert plan([9, 5, 7], pool) == [[0, 2, 1]]


@pytest.mark.parametrize("count", [8, 16, 64])
def test_sixty_four_windows_and_fewer_keep_two_threads_busy_with_the_same_scores(
    count: int,
) -> None:
    model, windows = make_model("s4to4"), make_windows(count, 4)
    search = SearchConfig(beam=2, length_factor=0.5, length_constant=3)
    found = []
    for threads in (1, 2, 4):
        engine = Watched(model)
        pool = PoolConfig(threads=threads)
        results = translate_windows(engine, windows, search, pool)
        found.append([[(one.tokens, one.score) for one in of_window] for of_window in results])
        assert len({thread for thread, _ in engine.seen}) == min(threads, 2)
        assert sum(size for _, size in engine.seen) == count
    assert found[0] == found[1] == found[2]
