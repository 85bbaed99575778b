"""What happens around every request: limits of size and time, headers, log, figures.

An ASGI middleware. When a client hangs up, the work for it is cancelled. Does not know what is
asked for.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from concatmt.serve import logs
from concatmt.serve.connections import ABORT
from concatmt.serve.errors import ApiError
from concatmt.serve.service import Service

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::\d+)?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LINGER_SECONDS = 1.0  # in which a refused client may send the rest, or it would not read why
HUNG_UP = 499  # in log and figures: nobody is there to be told
SECURITY = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none';"
    " base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Lets requests through to the application."""

    def __init__(self, app: App, service: Service) -> None:
        self.app, self.service, self.metrics = app, service, service.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = _Request(self.service, scope, receive, send)
        begin = time.perf_counter()
        with self.metrics.running.track_inprogress():
            await request.run(self.app)
        seconds = time.perf_counter() - begin
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in ("GET", "POST", "PATCH", "DELETE") else "?"
        self.metrics.requests.labels(route, method, request.status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        if request.status == HUNG_UP:
            self.metrics.hang_ups.inc()
        logs.event(
            "request",
            id=request.id,
            method=method,
            route=route,
            status=request.status,
            ms=round(1000 * seconds, 1),
            **scope.get("state", {}).get("log", {}),
        )


class _Request:
    """One request on its way."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        self.service, self.config = service, service.config
        self.scope, self._receive, self._send = scope, receive, send
        self.headers = Headers(scope=scope)
        given = self.headers.get("x-request-id", "")
        self.id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = self.id
        self.status = 0
        self.has_body = "transfer-encoding" in self.headers or self._length() != "0"
        self.size = 0  # bytes of the body so far
        self.complete = False  # whether the body is there
        self.answered = False
        self.deadline = time.monotonic() + self.config.limits.client_seconds
        self.gone = asyncio.Event()
        self.hung_up = False  # and the work for it was cancelled
        self.watch: asyncio.Task[None] | None = None
        self.work: asyncio.Task[Any] | None = None

    async def run(self, app: App) -> None:
        """Until the answer is sent or the client has gone."""
        try:
            self._check_origin()
            self._check_size(int(self._length()))
        except ApiError as error:
            await self._refuse(error)
            return
        self.work = asyncio.current_task()
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            if not self.hung_up or self.work is None or self.work.uncancel():
                raise
            self.status = HUNG_UP
        except ApiError as error:
            await self._refuse(error)
        except TimeoutError:
            self._abort()
        except Exception:
            logs.LOGGER.exception("failed", extra={"fields": {"id": self.id}})
            if not self.status:
                await self._refuse(ApiError(500, f"internal error; request {self.id}"))
            else:
                self._abort()
        finally:
            self.answered = True
            if self.watch is not None:
                self.watch.cancel()

    async def receive(self) -> Message:
        """As the application's `receive`, within limits."""
        if self.complete:
            await self.gone.wait()
            return {"type": "http.disconnect"}
        left = self.deadline - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)):
                message = await self._receive()
        except TimeoutError:
            raise ApiError(408, "the request came too slowly") from None
        if message["type"] == "http.disconnect":
            self.gone.set()
            return message
        self.size += len(message.get("body", b""))
        self._check_size(self.size)
        if not message.get("more_body"):
            self.complete = True
            self.watch = asyncio.ensure_future(self._wait_for_hang_up())
        return message

    async def send(self, message: Message) -> None:
        """As the application's `send`, with our headers; a client that takes nothing is left."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["x-request-id"] = self.id
            if self.has_body and not self.complete:
                headers["connection"] = "close"
                with suppress(TimeoutError):
                    async with asyncio.timeout(LINGER_SECONDS):
                        await self._discard()
            elif self.service.draining:
                headers["connection"] = "close"
            for name, value in SECURITY.items():
                headers.setdefault(name, value)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.answered = True
        async with asyncio.timeout(self.config.limits.client_seconds):
            await self._send(message)

    def _length(self) -> str:
        """What the request says of its body; the web server has checked that it is a number."""
        return self.headers.get("content-length") or "0"

    async def _wait_for_hang_up(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.answered:
            self.gone.set()
            if self.work is not None:
                self.hung_up = self.work.cancel()

    def _check_size(self, size: int) -> None:
        most = self.config.limits.body
        if size > most:
            raise ApiError(413, f"the request is larger than {most:,} bytes")

    def _check_origin(self) -> None:
        """Pages of others must not use this server by way of a visitor's browser."""
        host = self.headers.get("host", "")
        match = HOST.fullmatch(host)
        name = (match["v6"] or match["name"]).lower() if match else ""
        allowed = self.config.hosts or (LOOPBACK if self.config.host in LOOPBACK else ())
        if allowed and name not in allowed:
            raise ApiError(400, "the Host of the request is not a name of this server; see --hosts")
        origin = self.headers.get("origin")
        if origin is None or "*" in self.config.cors or origin in self.config.cors:
            return
        if origin.partition("://")[2] != host:
            raise ApiError(403, "pages of other origins may not call this server; see --cors")

    async def _refuse(self, error: ApiError) -> None:
        """Answer without the application."""
        if self.status:
            self._abort()
            return
        response = JSONResponse({"error": error.message}, error.status)
        await response(self.scope, self._receive, self.send)

    async def _discard(self) -> None:
        """Read what is left of the body, up to the limit of another."""
        most = self.size + self.config.limits.body
        while self.has_body and not self.complete and self.size <= most:
            message = await self._receive()
            self.size += len(message.get("body", b""))
            self.complete = not message.get("more_body")

    def _abort(self) -> None:
        """Drop the connection: the client must see that the answer is not whole."""
        abort = self.scope.get("extensions", {}).get(ABORT)
        if abort is not None:
            abort()
