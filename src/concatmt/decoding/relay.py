"""Windows that depend on each other's translations, searched side by side in one batch.

A stream gives windows one after the other and is told the translations of each before it gives the
next, as a document does. When a window is done the next one of its stream takes its place in the
batch, at whatever step the others are, so that nobody waits for the longest. When a stream ends
another begins. Does not know documents.
"""

from collections import deque
from collections.abc import Generator, Iterable

from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.pool import search_method, translate_windows

Stream = Generator[Window, list[Hypothesis], None]


class Relay:
    """Runs streams to their ends; what is found is theirs."""

    def __init__(
        self,
        engine: Engine,
        streams: Iterable[Stream],
        search: SearchConfig,
        pool: PoolConfig,
        wanted: int | None = None,
    ) -> None:
        """`pool.windows` of them at a time; `wanted` as in `Search`."""
        self.engine, self.search, self.pool, self.wanted = engine, search, pool, wanted
        # Who gives the next window, and what it is told first.
        self.queue: deque[tuple[Stream, list[Hypothesis] | None]] = deque(
            (stream, None) for stream in streams
        )
        # All windows of a batch get the room of the longest. One that is far longer than the budget
        # foresees waits until the others are done.
        self.longest = max(1, 2 * pool.tokens // pool.windows)
        self.long: list[tuple[Stream, Window]] = []
        self.givers: list[Stream] = []  # of each window in the search, by its number

    def run(self) -> None:
        """Until no stream has any more windows."""
        while True:
            self._search()
            if not self.long:
                return
            streams, windows = zip(*self.long, strict=True)
            self.long = []
            found = translate_windows(self.engine, windows, self.search, self.pool, self.wanted)
            self.queue.extend(zip(streams, found, strict=True))

    def _search(self) -> None:
        """All windows but the long ones and those that come after them."""
        self.givers = []
        first: list[Window] = []
        while len(first) < self.pool.windows and (window := self._next()) is not None:
            first.append(window)
        if first:
            method = search_method(self.search)
            method(self.engine, first, self.search, self.wanted, self._follow).run()

    def _follow(self, number: int, found: list[Hypothesis]) -> Window | None:
        """The window that takes the place of one that is done."""
        self.queue.appendleft((self.givers[number], found))
        return self._next()

    def _next(self) -> Window | None:
        while self.queue:
            stream, found = self.queue.popleft()
            try:
                window = next(stream) if found is None else stream.send(found)
            except StopIteration:
                continue
            if window.cost <= self.longest:
                self.givers.append(stream)
                return window
            self.long.append((stream, window))
        return None
