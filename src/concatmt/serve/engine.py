"""The running search of one model, which orders of all clients join at any time.

The only module of the server that knows decoding. An order is a passage: its sentences come out one
after the other, each as soon as it is done, on the event loop that gave the order.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from torch import Tensor

from concatmt.decoding.alignment import WordAligner
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.engine import Engine as Inference
from concatmt.decoding.glossary import Glossary
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.service import Load, Service
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


@dataclass(frozen=True)
class _End:
    """No more sentences will come."""

    error: BaseException | None


class Engine:
    """A model at work for everybody."""

    def __init__(self, loaded: LoadedModel, config: TranslateConfig) -> None:
        self.text = loaded.text
        self.translator = Translator(loaded.engine, loaded.text, config, loaded.identity)
        self.service = Service(self.translator)
        self.aligner = WordAligner(_twin(loaded.engine), loaded.text)
        self.aligning = threading.Lock()

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

    async def translate(self, order: Order) -> AsyncGenerator[Translation]:
        """The sentences of an order; leaving the iterator takes what is left off the engine."""
        loop = asyncio.get_running_loop()
        results: asyncio.Queue[Translation | _End] = asyncio.Queue()

        def tell(result: Translation | _End) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(results.put_nowait, result)

        request = self.service.submit(
            Passage(order.sentences, None, order.settled, order.history),
            on_sentence=lambda _, translation: tell(translation),
            on_end=lambda error: tell(_End(error)),
            nbest=order.nbest,
            context=None if order.context else 0,
            glossary=order.glossary,
        )
        try:
            while not isinstance(result := await results.get(), _End):
                yield result
            if result.error is not None:
                raise result.error
        finally:
            request.cancel()

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
                (new,) = [one async for one in self.translate(order)]
            if old.source.strip():
                history.push(self.text.source.encode(old.source), new.tokens, self.window)
                changed = self.window if new.text != old.text else max(0, changed - 1)
            if new is not old:
                yield place, new

    def close(self) -> None:
        """Finish what was ordered and end the threads."""
        self.service.close()


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
