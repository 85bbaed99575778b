"""A pool of windows, translated in batches: like lengths together, batches on several threads.

Which windows share a batch depends on their lengths alone, and each batch runs on one thread, so
the number of threads changes nothing but the time. Does not know documents.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.sampling import Sampling
from concatmt.decoding.search import Search

T = TypeVar("T")


def translate_windows(
    engine: Engine,
    windows: Sequence[Window],
    search: SearchConfig,
    pool: PoolConfig,
    wanted: int | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each window, best first: at least `wanted`, by default the whole beam."""
    method = search_method(search)
    found: list[list[Hypothesis]] = [[] for _ in windows]
    batches = plan([window.cost for window in windows], pool)

    def run(batch: list[int]) -> list[list[Hypothesis]]:
        return method(engine, [windows[i] for i in batch], search, wanted).run()

    for batch, hypotheses in zip(batches, in_threads(run, batches, pool.threads), strict=True):
        for i, of_window in zip(batch, hypotheses, strict=True):
            found[i] = of_window
    return found


def search_method(search: SearchConfig) -> type[Search]:
    """Searching or drawing."""
    return Sampling if search.sample else Search


def plan(costs: Sequence[int], pool: PoolConfig) -> list[list[int]]:
    """Which items share a batch: the longest first, so that what is left to wait for is short."""
    batches: list[list[int]] = []
    for i in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        room = max(1, min(pool.windows, pool.tokens // costs[batches[-1][0]])) if batches else 0
        if not batches or len(batches[-1]) >= room:
            batches.append([])
        batches[-1].append(i)
    return batches


def in_threads(
    job: Callable[[list[int]], T], batches: list[list[int]], threads: int
) -> Iterator[T]:
    """Results of `job` for each batch, in order."""
    threads = threads or torch.get_num_threads()
    with one_thread_each():
        if threads == 1 or len(batches) < 2:
            yield from map(job, batches)
            return
        with ThreadPoolExecutor(threads) as workers:
            yield from workers.map(job, batches)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let every operation of torch run on the thread that calls it, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
