"""Laws of batch plans: everything once, within the budget, the same for all processes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.corpus.batches import BatchConfig, BatchStream, plan_batches
from concatmt.corpus.windows import Windows
from concatmt.errors import UserError
from tests.unit.corpus.corpora import make_store


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Windows:
    rng = np.random.default_rng(1)

    def sentence() -> str:
        return " ".join(rng.choice(list("abcdef"), size=rng.integers(1, 12)))

    corpus = [[(sentence(), sentence()) for _ in range(rng.integers(1, 9))] for _ in range(80)]
    store = make_store(tmp_path_factory.mktemp("batches"), corpus)
    return Windows.of(store.split("train"), 4)


CONFIG = BatchConfig(tokens=256)


@given(seed=st.integers(0, 99), epoch=st.integers(0, 9), multiple=st.integers(1, 6))
def test_every_window_comes_once_and_no_batch_exceeds_the_budget(
    windows: Windows, seed: int, epoch: int, multiple: int
) -> None:
    plan = plan_batches(windows, CONFIG, seed, epoch, multiple_of=multiple)
    assert len(plan) % multiple == 0
    assert sorted(plan.rows.tolist()) == list(range(len(windows)))
    for i in range(len(plan)):
        batch = windows.batch(plan[i])
        assert max(batch.source.tokens.numel(), batch.target.tokens.numel()) <= 256


def test_a_plan_depends_on_seed_and_epoch_only(windows: Windows) -> None:
    def rows(seed: int, epoch: int) -> list[int]:
        return list(plan_batches(windows, CONFIG, seed, epoch).rows)

    assert rows(1, 2) == rows(1, 2)
    assert rows(1, 2) != rows(1, 3)
    assert rows(1, 2) != rows(2, 2)


def test_windows_in_a_batch_have_like_lengths(windows: Windows) -> None:
    plan = plan_batches(windows, CONFIG, 0, 0)
    batches = [windows.batch(plan[i]) for i in range(len(plan))]
    real = sum(batch.target.token_count + batch.source.token_count for batch in batches)
    padded = sum(batch.target.tokens.numel() + batch.source.tokens.numel() for batch in batches)
    shuffled = np.random.default_rng(0).permutation(len(windows))
    parts = np.array_split(shuffled, len(plan))
    random = sum(windows.batch(p).target.tokens.numel() for p in parts) * 2
    assert padded - real < (random - real) / 3


@pytest.mark.parametrize("world", [1, 2, 3])
def test_processes_share_an_epoch_without_overlap(windows: Windows, world: int) -> None:
    streams = [BatchStream(windows, CONFIG, 5, rank=r, world=world) for r in range(world)]
    assert len({len(stream) for stream in streams}) == 1
    taken = [stream.plan[i * world + stream.rank] for stream in streams for i in range(len(stream))]
    assert sorted(np.concatenate(taken).tolist()) == list(range(len(windows)))


@given(stop=st.integers(0, 60))
def test_a_stream_resumes_at_any_batch(windows: Windows, stop: int) -> None:
    def tokens(stream: BatchStream, count: int) -> list[list[int]]:
        taken: list[list[int]] = []
        while len(taken) < count:
            for batch in stream.epoch_batches():
                taken.append(batch.target.tokens.flatten().tolist())
                if len(taken) == count:
                    break
        return taken

    whole = tokens(BatchStream(windows, CONFIG, 7), 64)
    first = BatchStream(windows, CONFIG, 7)
    head = tokens(first, stop)
    second = BatchStream(windows, CONFIG, 0)
    second.restore(first.state())
    assert head + tokens(second, 64 - stop) == whole


def test_a_window_beyond_the_budget_is_reported_or_skipped(windows: Windows) -> None:
    source, target = windows.lengths()
    too_long = int((np.maximum(source, target) > 30).sum())
    with pytest.raises(UserError, match=f"{too_long} windows have more than 30 tokens"):
        plan_batches(windows, BatchConfig(tokens=30), 0, 0)
    plan = plan_batches(windows, BatchConfig(tokens=30, too_long="skip"), 0, 0)
    assert (plan.skipped, len(plan.rows)) == (too_long, len(windows) - too_long)


def test_too_few_windows_for_the_processes_is_reported(windows: Windows) -> None:
    with pytest.raises(UserError, match="windows are too few for"):
        plan_batches(windows, CONFIG, 0, 0, multiple_of=100_000)
