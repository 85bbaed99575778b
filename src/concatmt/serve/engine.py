"""The running search of one model, which orders of all clients join at any time.

The only module of the server that knows decoding. An order is a passage: its sentences come out one
after the other, each as soon as it is done, on the event loop that gave the order.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from torch import Tensor

from concatmt.decoding.alignment import WordAligner
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.engine import Engine as Inference
from concatmt.decoding.glossary import Glossary
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.service import Load, Request, Service
from concatmt.decoding.translation import History, Passage, Translation
from concatmt.decoding.translator import Translator
from concatmt.segments.segment import Translated


@dataclass
class Order:
    """Consecutive sentences of a document, and how they are wanted."""

    sentences: Sequence[str]
    settled: Sequence[str | None] | None = None  # translations that stay as they are
    context: bool = True  # whether the sentences before serve as context
    nbest: int = 1
    glossary: Glossary | None = None
    history: History = field(default_factory=History)

    def __len__(self) -> int:
        return len(self.sentences)


class Mailbox:
    """Hands what the threads of a search have done to the event loop, all that is there at once.

    To wake the loop for every sentence would cost more than the search of a small model.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._calls: deque[Callable[[], None]] = deque()
        self._woken = False

    def post(self, call: Callable[[], None]) -> None:
        """Have something called by the loop; from any thread."""
        self._calls.append(call)
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self.loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._woken = False  # first: what is posted from now on may come too late for this time
        while self._calls:
            self._calls.popleft()()


class Engine:
    """A model at work for everybody."""

    def __init__(self, loaded: LoadedModel, config: TranslateConfig) -> None:
        self.text = loaded.text
        self.translator = Translator(loaded.engine, loaded.text, config, loaded.identity)
        self.service = Service(self.translator)
        self.aligner = WordAligner(_twin(loaded.engine), loaded.text)
        self.aligning = threading.Lock()
        self.mailbox: Mailbox | None = None

    @classmethod
    def load(cls, folder: Path, config: TranslateConfig, int8: bool) -> Engine:
        """Read a model directory."""
        return cls(LoadedModel.load(folder, int8), config)

    @property
    def window(self) -> int:
        """Context sentences of a sentence."""
        return self.translator.context

    @property
    def signature(self) -> str:
        """What it takes to get these translations."""
        return str(self.translator.signature)

    @property
    def load_now(self) -> Load:
        """How busy it is."""
        return self.service.load()

    def give(
        self,
        order: Order,
        on_sentence: Callable[[int, Translation], None],
        on_end: Callable[[BaseException | None], None],
    ) -> Request:
        """Have an order translated. Both are called on the running loop: `on_sentence` with the
        place and translation of every sentence, `on_end` with None or what went wrong.
        """
        loop = asyncio.get_running_loop()
        if self.mailbox is None or self.mailbox.loop is not loop:
            self.mailbox = Mailbox(loop)
        post = self.mailbox.post
        return self.service.submit(
            Passage(order.sentences, None, order.settled, order.history),
            on_sentence=lambda place, translation: post(partial(on_sentence, place, translation)),
            on_end=lambda error: post(partial(on_end, error)),
            nbest=order.nbest,
            context=None if order.context else 0,
            glossary=order.glossary,
        )

    async def translate(self, order: Order) -> list[Translation]:
        """All sentences of an order."""
        done: list[Translation] = []
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        request = self.give(
            order, lambda _, translation: done.append(translation), partial(settle, ended)
        )
        try:
            await ended
        finally:
            request.cancel()
        return done

    def align(self, translations: Sequence[Translation]) -> list[Translated]:
        """Translations with the words that belong together, for those who place tags by them."""
        with self.aligning:
            links = self.aligner.align([(one.source, one.text) for one in translations])
        return [
            Translated(one.text, of_sentence)
            for one, of_sentence in zip(translations, links, strict=True)
        ]

    async def follow(
        self,
        document: Sequence[Translation],
        edits: Mapping[int, str],
        like: Order,
    ) -> AsyncGenerator[tuple[int, Translation]]:
        """The sentences that corrections change: the corrected ones and those that follow.

        As `Translator.retranslate`: a sentence follows if the translation of one of its context
        sentences has changed. `like`: how they are wanted.
        """
        history, changed = History(), 0
        config = self.translator.config
        follows = like.context and config.mode == "prefix" and config.target_context == "own"
        for place, old in enumerate(document):
            new = old
            if place in edits:
                tokens = self.text.target.encode(edits[place])
                new = Translation(old.source, edits[place], tokens=tokens)
            elif changed and follows:
                order = replace(
                    like, sentences=[old.source], settled=None, history=deepcopy(history)
                )
                (new,) = await self.translate(order)
            if old.source.strip():
                history.push(self.text.source.encode(old.source), new.tokens, self.window)
                changed = self.window if new.text != old.text else max(0, changed - 1)
            if new is not old:
                yield place, new

    def close(self) -> None:
        """Finish what was ordered and end the threads."""
        self.service.close()


def settle(future: asyncio.Future[None], error: BaseException | None) -> None:
    """End a future, unless it has ended already."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


def _twin(engine: Inference) -> Inference:
    """The same weights in other modules.

    Attention is observed while words are aligned, and the running search must not be seen by that.
    """
    shared = {
        id(value): value
        for module in engine.model.modules()
        for store in (vars(module), module._parameters, module._buffers)
        for value in store.values()
        if isinstance(value, Tensor)
    }
    twin = copy.copy(engine)
    twin.model = copy.deepcopy(engine.model, memo=dict(shared))
    return twin
