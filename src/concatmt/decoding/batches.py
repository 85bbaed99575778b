"""Windows that do not depend on each other, in batches: like lengths together, on several threads.

Which windows share a batch depends on their lengths alone, and each batch runs on one thread, so
the number of threads changes nothing but the time. Does not know documents.
"""

from collections.abc import Sequence

from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.search import Search
from concatmt.decoding.term_search import TermSearch
from concatmt.decoding.threads import in_threads


def translate_windows(
    engine: Engine,
    windows: Sequence[Window],
    search: SearchConfig,
    pool: PoolConfig,
    wanted: int | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each window, best first: at least `wanted`, by default the whole beam."""
    translations: list[list[Hypothesis]] = [[] for _ in windows]
    batches = plan([window.cost for window in windows], pool)

    def run(batch: list[int]) -> list[list[Hypothesis]]:
        some = [windows[i] for i in batch]
        strategy = TermSearch(engine, search) if any(window.terms for window in some) else None
        return Search(engine, search, strategy=strategy).run(some, [wanted] * len(some))

    for batch, hypotheses in zip(batches, in_threads(run, batches, pool.threads), strict=True):
        for i, of_window in zip(batch, hypotheses, strict=True):
            translations[i] = of_window
    return translations


def plan(costs: Sequence[int], pool: PoolConfig) -> list[list[int]]:
    """Which items share a batch: the longest first, so that what is left to wait for is short."""
    batches: list[list[int]] = []
    for i in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        room = max(1, min(pool.windows, pool.tokens // costs[batches[-1][0]])) if batches else 0
        if not batches or len(batches[-1]) >= room:
            batches.append([])
        batches[-1].append(i)
    return batches
