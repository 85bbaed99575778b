"""Translates for many clients: passages from any thread join one running search.

Sentences are delivered as soon as they are done. Does not know who asks, or how.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import torch

from concatmt.decoding.clients import Cancelled, Client, Queue, Stream
from concatmt.decoding.glossary import Glossary
from concatmt.decoding.scheduler import Scheduler
from concatmt.decoding.threads import stay_on_one_core
from concatmt.decoding.translation import Passage, Report, Translation
from concatmt.decoding.translator import Translator

__all__ = ["Cancelled", "Closed", "Load", "Request", "Service"]


class Closed(RuntimeError):  # noqa: N818 - a state
    """The service accepts no more passages."""


@dataclass(frozen=True)
class Load:
    """How busy a service is."""

    rows: int  # windows that can be searched at a time
    searching: int  # windows being searched
    waiting: int  # windows waiting for a row; a waiting request counts as one
    requests: int  # requests that are not done
    steps: int  # steps of all searches since the start


class Request:
    """A passage that is being translated."""

    def __init__(self) -> None:
        self.report = Report()  # what happened so far
        self.translations: list[Translation] = []  # so far, in the order of the sentences
        self.client: Client
        self._ended = threading.Event()
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Stop: its rows are freed at the next step."""
        self.client.cancelled = True

    def result(self, timeout: float | None = None) -> list[Translation]:
        """Wait for all translations; raises what went wrong, or TimeoutError."""
        if not self._ended.wait(timeout):
            raise TimeoutError("the passage is not translated yet")
        if self._error is not None:
            raise self._error
        return self.translations

    def end(self, error: BaseException | None) -> None:
        """End the request; nothing more will come."""
        self._error = error
        self._ended.set()


class Service:
    """One model for all clients; each of its threads has a running search."""

    def __init__(self, translator: Translator) -> None:
        """The translator's `config.pool` sets rows and threads."""
        self.translator = translator
        pool = translator.config.pool
        count = pool.threads or torch.get_num_threads()
        self._queue = Queue(fair=True)
        self._lock = threading.Lock()
        self._requests: set[Request] = set()
        config = translator.config.search
        self._schedulers = [
            Scheduler(translator.engine, config, pool, self._queue) for _ in range(count)
        ]
        self._threads = [
            threading.Thread(target=_serve, args=(scheduler,), name=f"search {i}", daemon=True)
            for i, scheduler in enumerate(self._schedulers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        passage: Passage,
        on_sentence: Callable[[int, Translation], object] | None = None,
        on_end: Callable[[BaseException | None], object] | None = None,
        nbest: int | None = None,
        context: int | None = None,
        glossary: Glossary | None = None,
    ) -> Request:
        """Translate a passage; returns at once.

        `on_sentence` gets each sentence's index and translation, in order, as soon as it is final,
        `on_end` once None, Cancelled or the error. Both are called by a thread of the search
        and must be quick. `nbest` and `context`: by default those of the translator; `glossary`:
        terms in addition to its own.
        """
        translator = self.translator.with_changes(nbest, context, glossary)
        request = Request()

        def deliver(translation: Translation) -> None:
            request.translations.append(translation)
            if on_sentence is not None:
                on_sentence(len(request.translations) - 1, translation)

        def end(error: BaseException | None) -> None:
            with self._lock:
                self._requests.discard(request)
            request.end(error)
            if on_end is not None:
                on_end(error)

        stream: Stream = translator.passage_stream(passage, deliver, request.report)
        request.client = Client(stream, translator.config.nbest, end)
        with self._lock:
            if self._queue.closed:
                raise Closed("the service is closed")
            self._requests.add(request)
            self._queue.add(request.client)
        return request

    def load(self) -> Load:
        """How busy it is at the moment."""
        rows = [rows for scheduler in self._schedulers for rows in scheduler.all_rows]
        return Load(
            rows=sum(scheduler.pool.windows for scheduler in self._schedulers),
            searching=sum(len(row.owners) for row in rows),
            waiting=len(self._queue) + sum(len(row.waiting) for row in rows),
            requests=len(self._requests),
            steps=sum(row.search.steps for row in rows),
        )

    def close(self, drain: bool = True) -> None:
        """Accept no more; finish what was accepted, or cancel it without `drain`."""
        with self._lock:
            self._queue.close()
            requests = list(self._requests)
        if not drain:
            for request in requests:
                request.cancel()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(drain=error is None)


def _serve(scheduler: Scheduler) -> None:
    stay_on_one_core()
    scheduler.serve()
