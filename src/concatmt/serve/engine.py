"""The running search of one model, which orders of all clients join at any time.

The only module of the server that knows decoding. An order is a passage: its sentences come out one
after the other, each as soon as it is done, on the event loop that gave the order.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.threads import one_core
from concatmt.decoding.translation import History, Passage, Translation
from concatmt.decoding.translator import Translator

Done = Translation | BaseException | None  # None: the order is finished


@dataclass
class Order:
    """Consecutive sentences of a document, and how they are wanted."""

    sentences: Sequence[str]
    settled: Sequence[str | None] | None = None  # translations that stay as they are
    context: bool = True  # whether the sentences before serve as context
    nbest: int = 1
    history: History = field(default_factory=History)

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass
class _Running:
    """An order in work."""

    order: Order
    loop: asyncio.AbstractEventLoop
    results: asyncio.Queue[Done]
    place: int = 0
    cancelled: bool = False

    @property
    def left(self) -> int:
        return len(self.order) - self.place

    def tell(self, *done: Done) -> None:
        """Hand results over to the event loop, unless it has been closed."""
        for one in done:
            self.loop.call_soon_threadsafe(self.results.put_nowait, one)


class Engine:
    """A model and the thread that translates with it."""

    def __init__(self, loaded: LoadedModel, config: TranslateConfig) -> None:
        self.loaded, self.config = loaded, config
        self.translators: dict[tuple[bool, int], Translator] = {}
        self.window = self._translator(True, 1).context  # context sentences of a sentence
        self.waiting: deque[_Running] = deque()
        self.changed = threading.Condition()
        self.closing = False
        self.working = 0  # orders whose sentences are being translated now
        self.thread = threading.Thread(target=self._work, name="engine", daemon=True)
        self.thread.start()

    @classmethod
    def load(cls, folder: Path, config: TranslateConfig, int8: bool) -> Engine:
        """Read a model directory."""
        return cls(LoadedModel.load(folder, int8), config)

    @property
    def queued(self) -> int:
        """Sentences that are not done."""
        with self.changed:
            return sum(running.left for running in self.waiting) + self.working

    @property
    def signature(self) -> str:
        """What it takes to get these translations."""
        return str(self._translator(True, 1).signature)

    async def translate(self, order: Order) -> AsyncGenerator[Translation]:
        """The sentences of an order; leaving the iterator takes what is left off the engine."""
        running = _Running(order, asyncio.get_running_loop(), asyncio.Queue())
        if not order.sentences:
            return
        with self.changed:
            self.waiting.append(running)
            self.changed.notify()
        try:
            while (done := await running.results.get()) is not None:
                if isinstance(done, BaseException):
                    raise done
                yield done
        finally:
            running.cancelled = True

    def after(self, history: History, done: Translation) -> None:
        """Let a translated sentence be context of the next."""
        text = self.loaded.text
        if done.source.strip():
            history.push(text.source.encode(done.source), done.tokens, self.window)

    def corrected(self, source: str, text: str) -> Translation:
        """A sentence with the translation that a user gave it."""
        return Translation(source, text, tokens=self.loaded.text.target.encode(text))

    async def follow(
        self,
        document: Sequence[Translation],
        edits: Mapping[int, str],
        nbest: int = 1,
        context: bool = True,
    ) -> AsyncGenerator[tuple[int, Translation]]:
        """The sentences that corrections change: the corrected ones and those that follow.

        As `Translator.retranslate`: a sentence follows if the translation of one of its context
        sentences has changed.
        """
        history, changed = History(), 0
        config = self.config
        follows = context and config.mode == "prefix" and config.target_context == "own"
        for place, old in enumerate(document):
            new = old
            if place in edits:
                new = self.corrected(old.source, edits[place])
            elif changed and follows:
                order = Order([old.source], nbest=nbest, history=deepcopy(history))
                (new,) = [one async for one in self.translate(order)]
            if old.source.strip():
                self.after(history, new)
                changed = self.window if new.text != old.text else max(0, changed - 1)
            if new is not old:
                yield place, new

    def close(self) -> None:
        """Finish what was ordered, then end the thread and free the model."""
        with self.changed:
            self.closing = True
            self.changed.notify()

    def _translator(self, context: bool, nbest: int) -> Translator:
        """They share the model; what differs is in their settings."""
        key = (context, nbest)
        if key not in self.translators:
            changes: dict[str, object] = {"nbest": nbest}
            if not context:
                changes["context"] = 0
            config = self.config.model_copy(update=changes)
            loaded = self.loaded
            self.translators[key] = Translator(loaded.engine, loaded.text, config, loaded.identity)
        return self.translators[key]

    def _work(self) -> None:
        with one_core():
            while (batch := self._next()) is not None:
                for key in {(one.order.context, one.order.nbest) for one in batch}:
                    self._step(
                        [one for one in batch if (one.order.context, one.order.nbest) == key]
                    )
                with self.changed:
                    self.working = 0
                    # Behind those who came meanwhile: nobody waits for a long document.
                    self.waiting.extend(one for one in batch if one.left and not one.cancelled)

    def _next(self) -> list[_Running] | None:
        """The orders whose turn it is; None at the end."""
        with self.changed:
            while not self.waiting:
                if self.closing:
                    return None
                self.changed.wait()
            batch: list[_Running] = []
            while self.waiting and len(batch) < self.config.pool.windows:
                running = self.waiting.popleft()
                if not running.cancelled:
                    batch.append(running)
            self.working = len(batch)
            return batch

    def _step(self, batch: list[_Running]) -> None:
        """Translate the next sentence of each."""
        translator = self._translator(batch[0].order.context, batch[0].order.nbest)
        passages = []
        for running in batch:
            order, place = running.order, running.place
            settled = None if order.settled is None else [order.settled[place]]
            passages.append(Passage([order.sentences[place]], None, settled, order.history))
        try:
            results, _ = translator.translate_passages(passages)
        except Exception as error:
            self._fail(batch, error)
            return
        for running, (translation,) in zip(batch, results, strict=True):
            running.place += 1
            running.tell(*([translation] if running.left else [translation, None]))

    def _fail(self, batch: list[_Running], error: Exception) -> None:
        """Find out whose fault it was: nobody suffers from the order of another."""
        if len(batch) > 1:
            for running in batch:
                self._step([running])
            return
        batch[0].cancelled = True
        batch[0].tell(error)
