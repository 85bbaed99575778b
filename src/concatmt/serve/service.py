"""What all interfaces share: who may ask, which model translates, and its sentences as they come.

Does not know how requests and answers look.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from concatmt.decoding.glossary import Glossary
from concatmt.decoding.translation import Translation
from concatmt.segments.segment import Segment, Translated
from concatmt.serve.access import Access, Client
from concatmt.serve.bundle import Bundle
from concatmt.serve.config import ServeConfig
from concatmt.serve.engine import Engine, Order
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
        """Numbers of segments and their translations, as they are done.

        Passages run side by side, as many as a request's share allows.
        """
        count = sum(len(order) for _, _, order in work.orders)
        results: asyncio.Queue[tuple[int, Translation] | BaseException | None] = asyncio.Queue()
        orders = iter(work.orders)
        with self.accepted(count) as left:
            async with self.models.use(pair) as engine:
                workers = [
                    asyncio.create_task(self._work(engine, orders, results))
                    for _ in range(min(self.config.limits.share, len(work.orders)))
                ]
                running = len(workers)
                try:
                    while running:
                        done = await results.get()
                        if isinstance(done, BaseException):
                            raise done
                        if done is None:
                            running -= 1
                            continue
                        left[0] -= 1
                        self.waiting -= 1
                        self._count(pair, done[1])
                        if done[0] >= 0:
                            yield done
                finally:
                    for worker in workers:
                        worker.cancel()
                    await asyncio.gather(*workers, return_exceptions=True)

    async def all(self, pair: Pair, work: Work) -> list[Translation]:
        """The translations of all segments, within the time for an answer."""
        done: list[Translation | None] = [None] * len(work.segments)
        async with self.in_time():
            async for place, translation in self.translate(pair, work):
                done[place] = translation
        return [one for one in done if one is not None]

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

    async def _work(
        self,
        engine: Engine,
        orders: Iterator[tuple[int, int, Order]],
        results: asyncio.Queue[tuple[int, Translation] | BaseException | None],
    ) -> None:
        """Translate orders until there are none left; what stands before is told as number -1."""
        try:
            for start, before, order in orders:
                place = start - before
                async for translation in engine.translate(order):
                    results.put_nowait((place if place >= start else -1, translation))
                    place += 1
        except Exception as error:
            results.put_nowait(error)
        results.put_nowait(None)

    def _count(self, pair: Pair, done: Translation) -> None:
        name = f"{pair.source}-{pair.target}"
        self.metrics.sentences.labels(name).inc()
        self.metrics.characters.labels(name).inc(len(done.source))
        now = time.monotonic()
        seconds = max(1e-4, now - self.last_done)
        self.last_done = now
        mean = (1 - RATE_WEIGHT) / self.rate + RATE_WEIGHT * min(seconds, 1.0)
        self.rate = 1 / mean
