"""Work on a stream of inputs with several processes, results in order, memory bounded."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from typing import TypeVar

from concatmt.errors import UserError

A = TypeVar("A")
B = TypeVar("B")


def map_in_order(job: Callable[[A], B], inputs: Iterator[A], workers: int) -> Iterator[B]:
    """Results of `job` for each input, in order, from `workers` processes.

    At most two inputs per process are under way, so a stream of any length is worked on in
    constant memory. A single input does not start any process.
    """
    head = list(islice(inputs, 2))
    if len(head) < 2 or workers == 1:
        yield from map(job, chain(head, inputs))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[B]] = deque()
        try:
            for item in chain(head, inputs):
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(job, item))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def count_from_environment(name: str, default: str) -> int:
    """A number that a launcher such as torchrun tells in the environment."""
    value = os.environ.get(name, default)
    if not value.isdecimal():
        raise UserError(f"{name}={value}: expected a number, as torchrun sets it; unset it")
    return int(value)
