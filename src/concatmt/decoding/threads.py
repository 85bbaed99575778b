"""Runs work on several threads, each of which computes on one core.

torch spreads every operation over the cores; with a batch on each core, threads would wait for each
other longer than they work.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

S = TypeVar("S")
T = TypeVar("T")
_LOCK = threading.Lock()


def in_threads(job: Callable[[S], T], items: Sequence[S], threads: int) -> Iterator[T]:
    """Results of `job` for each item, in order; `threads` 0: one for each core."""
    threads = min(threads or torch.get_num_threads(), len(items))
    if threads < 2:
        with one_core():
            yield from map(job, items)
        return
    with ThreadPoolExecutor(threads, initializer=stay_on_one_core) as workers:
        yield from workers.map(job, items)


@contextmanager
def one_core() -> Iterator[None]:
    """Compute on this thread only, inside the block."""
    before = torch.get_num_threads()
    _set_own(1)
    try:
        yield
    finally:
        _set_own(before)


def stay_on_one_core() -> None:
    """Compute on this thread only, from now on: for worker threads."""
    _set_own(1)


def _set_own(count: int) -> None:
    """Set the number of threads that torch uses for operations of this thread.

    torch keeps a number per thread, but new threads start with the last one that was set:
    so restore that.
    """
    if torch.get_num_threads() == count:
        return
    with _LOCK, ThreadPoolExecutor(1) as fresh:
        usual = fresh.submit(torch.get_num_threads).result()
        torch.set_num_threads(count)
        fresh.submit(torch.set_num_threads, usual).result()
