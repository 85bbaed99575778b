"""Connections of clients that are slow on purpose: each has a deadline for the head of a request.

The web server itself waits for ever for a head that comes byte by byte. Does not know requests.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ABORT = "concatmt.abort"  # in the scope: drops the connection, with what has not been sent


class PatientProtocol(H11Protocol):
    """HTTP/1.1, for a limited time."""

    head_seconds = 20.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self.deadline: asyncio.TimerHandle | None = None
        application = self.app

        async def with_abort(scope: Any, receive: Any, send: Any) -> None:
            scope["extensions"] = {**scope.get("extensions", {}), ABORT: transport.abort}
            await application(scope, receive, send)

        self.app = with_abort
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request."""
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        """The next request may come."""
        super().on_response_complete()
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        """Start the clock when a head is awaited, stop it when it is there."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self.deadline is None:
            self.deadline = self.loop.call_later(self.head_seconds, self._hang_up)

    def _stop_watching(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _hang_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()


def allow_many_connections() -> None:
    """Raise the limit of open files as far as the system lets us: slow clients hold connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
