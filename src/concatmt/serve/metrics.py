"""Figures for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.01, 0.03, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)


class Metrics:
    """Counters of one server."""

    def __init__(
        self, queued: Callable[[], int], searching: Callable[[], int], models: Callable[[], int]
    ) -> None:
        """What is given is asked when the figures are read."""
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter(
            "concatmt_requests", "Requests.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "concatmt_request_seconds",
            "Time to the end of the answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self.running = Gauge("concatmt_requests_running", "Requests in work.", registry=registry)
        self.sentences = Counter(
            "concatmt_sentences", "Sentences translated.", ["pair"], registry=registry
        )
        self.characters = Counter(
            "concatmt_characters", "Characters of these.", ["pair"], registry=registry
        )
        self._of_pairs: dict[str, tuple[Counter, Counter]] = {}
        self.hang_ups = Counter(
            "concatmt_hang_ups", "Clients that left before the answer.", registry=registry
        )
        waiting = Gauge("concatmt_sentences_waiting", "Accepted, not done.", registry=registry)
        waiting.set_function(queued)
        rows = Gauge("concatmt_rows_searching", "Of the running searches.", registry=registry)
        rows.set_function(searching)
        loaded = Gauge("concatmt_models_loaded", "Models in memory.", registry=registry)
        loaded.set_function(models)

    def count_sentence(self, pair: str, characters: int) -> None:
        """A sentence is done; called for every one, so what has a label is looked up once."""
        if pair not in self._of_pairs:
            self._of_pairs[pair] = self.sentences.labels(pair), self.characters.labels(pair)
        sentences, of_characters = self._of_pairs[pair]
        sentences.inc()
        of_characters.inc(characters)

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self.registry)
