"""What all interfaces share: who may ask, which model translates, and its sentences as they come.

Does not know how requests and answers look.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from concatmt.decoding.glossary import Glossary
from concatmt.decoding.service import Request
from concatmt.decoding.translation import Translation
from concatmt.segments.segment import Segment, Translated
from concatmt.serve.access import Access, Client
from concatmt.serve.bundle import Bundle
from concatmt.serve.config import ServeConfig
from concatmt.serve.engine import Engine, Order, settle
from concatmt.serve.errors import ApiError, slow_down
from concatmt.serve.metrics import Metrics
from concatmt.serve.models import Models, Pair
from concatmt.serve.shelf import Shelf
from concatmt.serve.texts import Text

RATE_WEIGHT = 0.05  # of the newest sentence in the mean rate
FIRST_RATE = 5.0  # sentences a second, before anything is known


@dataclass
class Work:
    """What is to be translated."""

    segments: Sequence[Segment]
    before: Sequence[str] = ()  # sentences that stand before the first one
    shared: bool = False  # or before the first one of every passage
    context: bool = True
    alternatives: int = 0
    glossary: Glossary | None = None
    orders: list[tuple[int, int, Order]] = field(init=False)  # first segment, sentences before it

    def __post_init__(self) -> None:
        self.orders = list(self._orders())

    def _orders(self) -> Iterator[tuple[int, int, Order]]:
        """A passage for each run of segments; without context for each segment."""
        starts = [
            place
            for place, segment in enumerate(self.segments)
            if place == 0 or segment.gap or not self.context
        ]
        for start, end in pairwise([*starts, len(self.segments)]):
            part = self.segments[start:end]
            first = start == 0 or self.shared
            before = list(self.before) if first and self.context else []
            settled = [*(None for _ in before), *(segment.given for segment in part)]
            texts = [*before, *(segment.text for segment in part)]
            nbest = 1 + self.alternatives
            yield start, len(before), Order(texts, settled, self.context, nbest, self.glossary)


class _Orders:
    """Orders of a request, of which a few are searched at a time.

    Everything here happens on the event loop, between what the request itself does.
    """

    def __init__(
        self,
        engine: Engine,
        orders: Sequence[tuple[int, int, Order]],
        hear: Callable[[int | None, Translation], None],
    ) -> None:
        """`hear` gets numbers of segments, None for what stands before them, and translations."""
        self.engine, self.left, self.hear = engine, iter(orders), hear
        self.open: dict[int, Request] = {}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self, most: int) -> None:
        """Have so many orders searched side by side; each is followed by another."""
        for _ in range(most):
            if not self._give():
                break
        if not self.open:
            settle(self.ended, None)

    def cancel(self) -> None:
        """Take what is left off the engine."""
        self.ended.cancel()
        for request in self.open.values():
            request.cancel()

    def _give(self) -> bool:
        if (given := next(self.left, None)) is None:
            return False
        start, before, order = given

        def hear(place: int, translation: Translation) -> None:
            if not self.ended.done():
                self.hear(start + place - before if place >= before else None, translation)

        def end(error: BaseException | None) -> None:
            del self.open[start]
            if error is not None:
                settle(self.ended, error)
            elif not self.ended.done() and not self._give() and not self.open:
                settle(self.ended, None)

        self.open[start] = self.engine.give(order, hear, end)
        return True


class Service:
    """The server without its interfaces."""

    def __init__(self, config: ServeConfig, models: Models, access: Access) -> None:
        self.config, self.models, self.access = config, models, access
        self.draining = False  # what was accepted is answered, and connections are closed then
        self.waiting = 0  # sentences that were accepted and are not done
        self.rate = FIRST_RATE
        self.last_done = time.monotonic()
        self.shelves: list[Shelf[Any]] = []
        self.metrics = Metrics(
            lambda: self.waiting, lambda: models.searching, lambda: len(models.loaded)
        )

    def shelf(self) -> Shelf[Any]:
        """A place for what clients come back for."""
        limits = self.config.limits
        shelf: Shelf[Any] = Shelf(60 * limits.keep_minutes, limits.keep_documents)
        self.shelves.append(shelf)
        return shelf

    @property
    def alternatives(self) -> int:
        """Most alternatives that can be asked for."""
        return min(self.config.limits.alternatives, self.config.translate.search.beam - 1)

    def admit(self, client: Client, cost: int, sentences: int) -> None:
        """Charge a client, and refuse when too much waits already."""
        self.access.charge(client, cost)
        limit = self.config.limits.queue
        if self.waiting and self.waiting + sentences > limit:
            raise slow_down("too many sentences wait", self.waiting / self.rate)

    @contextmanager
    def accepted(self, sentences: int) -> Iterator[list[int]]:
        """Count sentences as waiting; the list holds how many still are."""
        left = [sentences]
        self.waiting += sentences
        try:
            yield left
        finally:
            self.waiting -= left[0]

    async def translate(self, pair: Pair, work: Work) -> AsyncGenerator[tuple[int, Translation]]:
        """Numbers of segments and their translations, as they are done."""
        results: asyncio.Queue[tuple[int, Translation] | None] = asyncio.Queue()

        def hear(place: int, translation: Translation) -> None:
            results.put_nowait((place, translation))

        async with self._running(pair, work, hear) as ended:
            ended.add_done_callback(lambda _: results.put_nowait(None))
            while (result := await results.get()) is not None:
                yield result
            await ended

    async def all(self, pair: Pair, work: Work) -> list[Translation]:
        """The translations of all segments, within the time for an answer."""
        done: dict[int, Translation] = {}
        async with self.in_time(), self._running(pair, work, done.__setitem__) as ended:
            await ended
        return [done[place] for place in sorted(done)]

    async def texts(
        self, pair: Pair, bundle: Bundle, translations: Sequence[Translation]
    ) -> list[str]:
        """The texts of a bundle, translated."""
        if all(isinstance(text, Text) for text in bundle.texts):
            return bundle.rebuilt([Translated(one.text) for one in translations])
        return bundle.rebuilt(await self.placed(pair, translations))

    async def placed(self, pair: Pair, translations: Sequence[Translation]) -> list[Translated]:
        """Translations for a text with tags, which go with the words they belong to."""
        async with self.models.use(pair) as engine:
            return await asyncio.to_thread(engine.align, translations)

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """End what takes too long."""
        seconds = self.config.limits.answer_seconds
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise ApiError(504, f"the translation takes longer than {seconds:g} seconds") from None

    @asynccontextmanager
    async def _running(
        self, pair: Pair, work: Work, hear: Callable[[int, Translation], None]
    ) -> AsyncIterator[asyncio.Future[None]]:
        """Have orders searched until the block is left; the future ends with the last of them.

        `hear` gets the number and translation of every segment.
        """
        count = sum(len(order) for _, _, order in work.orders)
        with self.accepted(count) as left:

            def heard(place: int | None, translation: Translation) -> None:
                left[0] -= 1
                self.waiting -= 1
                self._count(pair, translation)
                if place is not None:
                    hear(place, translation)

            async with self.models.use(pair) as engine:
                orders = _Orders(engine, work.orders, heard)
                try:
                    orders.begin(self.config.limits.share)
                    yield orders.ended
                finally:
                    orders.cancel()

    def _count(self, pair: Pair, done: Translation) -> None:
        self.metrics.count_sentence(f"{pair.source}-{pair.target}", len(done.source))
        now = time.monotonic()
        seconds = max(1e-4, now - self.last_done)
        self.last_done = now
        mean = (1 - RATE_WEIGHT) / self.rate + RATE_WEIGHT * min(seconds, 1.0)
        self.rate = 1 / mean
