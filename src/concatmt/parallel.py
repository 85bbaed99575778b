"""Maps a stream of inputs over several processes, in order and in bounded memory."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from types import ModuleType
from typing import TypeVar

from concatmt.errors import UserError
from concatmt.plugins import load_plugins

A = TypeVar("A")
B = TypeVar("B")


def map_in_order(job: Callable[[A], B], inputs: Iterator[A], workers: int) -> Iterator[B]:
    """Results of `job` for each input, in order, from `workers` processes.

    At most two inputs per process are in progress, so a stream of any length is processed in
    constant memory. A single input starts no process.
    """
    head = list(islice(inputs, 2))
    if len(head) < 2 or workers == 1:
        yield from map(job, chain(head, inputs))
        return
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=load_plugins) as pool:
        waiting: deque[Future[B]] = deque()
        try:
            for item in chain(head, inputs):
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
                with _without_main():
                    waiting.append(pool.submit(job, item))  # this may start a process
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _without_main() -> Iterator[None]:
    """Start processes that do not import the main program.

    Otherwise they would rerun a script without `if __name__ == "__main__":`; nothing
    that they need comes from it.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def count_from_environment(name: str, default: str) -> int:
    """A number that a launcher such as torchrun sets in the environment."""
    value = os.environ.get(name, default)
    if not value.isdecimal():
        raise UserError(f"{name}={value}: expected a number, as torchrun sets it; unset it")
    return int(value)
