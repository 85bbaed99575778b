"""Translates independent windows in batches of similar length, on several threads.

Which windows share a batch depends on their lengths alone, and each batch runs on one thread, so
the number of threads changes only the time. Does not know documents.
"""

import math
from collections.abc import Sequence

from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.search import Search
from concatmt.decoding.term_search import TermSearch
from concatmt.decoding.threads import in_threads

WORTH_TWO_THREADS = 8  # items; of fewer, the longest takes about as long alone as all together
TERM_BEAM = 10  # of a search that aims at terms: its beam is shared among more and less of them


def translate_windows(
    engine: Engine,
    windows: Sequence[Window],
    search: SearchConfig,
    pool: PoolConfig,
    wanted: int | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each window, best first: at least `wanted`, by default the whole beam.

    All windows aim at terms, or none does.
    """
    translations: list[list[Hypothesis]] = [[] for _ in windows]
    batches = plan([window.cost for window in windows], pool)

    def run(batch: list[int]) -> list[list[Hypothesis]]:
        some = [windows[i] for i in batch]
        aimed = any(window.terms for window in some)
        searcher = term_search(engine, search) if aimed else Search(engine, search)
        return searcher.run(some, [wanted] * len(some))

    for batch, hypotheses in zip(batches, in_threads(run, batches, pool.threads), strict=True):
        for i, of_window in zip(batch, hypotheses, strict=True):
            translations[i] = of_window
    return translations


def term_search(engine: Engine, search: SearchConfig) -> Search:
    """A search for windows that aim at terms."""
    beam = max(search.beam, min(TERM_BEAM, engine.candidate_limit))
    wide = search.model_copy(update={"beam": beam})
    return Search(engine, wide, strategy=TermSearch(engine, wide))


def plan(costs: Sequence[int], pool: PoolConfig) -> list[list[int]]:
    """Which items share a batch: the longest first, so that what is left to wait for is short.

    A batch that has half of all costs is full, so that a second thread has work too.
    """
    half = sum(costs) / 2 if len(costs) >= WORTH_TWO_THREADS else math.inf
    batches: list[list[int]] = []
    room, cost = 0, 0.0  # of the last batch
    for i in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        if not room or cost >= half:
            batches.append([])
            room, cost = max(1, min(pool.windows, pool.tokens // costs[i])), 0
        batches[-1].append(i)
        room, cost = room - 1, cost + costs[i]
    return batches
