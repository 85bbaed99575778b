"""What the routes have in common: who the client is, what the log says of a request."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import quote

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from concatmt.serve import logs
from concatmt.serve.access import Client
from concatmt.serve.models import Pair
from concatmt.serve.service import Service


class PlainRoute(APIRoute):
    """A route whose function reads the request itself, and is called without further ado.

    FastAPI would look for parameters and dependencies in every request, which takes longer than
    all that we do with a short text.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers requests."""
        answer: Callable[..., Coroutine[Any, Any, Response]] = self.endpoint

        async def handle(request: Request) -> Response:
            return await answer(request, **request.path_params)

        return handle


def client_of(service: Service, request: Request, key: str) -> Client:
    """Who asks, if the key is right."""
    address = request.client.host if request.client else "unknown"
    if service.config.forwarded:
        # The last entry is what our own proxy saw; those before it anyone can write.
        forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        address = forwarded or address
    return service.access.client(key, address)


def note(request: Request, client: Client, pair: Pair, sentences: int, characters: int) -> None:
    """Add to the line of the log that is written at the end of the request."""
    request.state.log = {
        "client": client.name if client.name.startswith("key ") else "",
        "pair": f"{pair.source}-{pair.target}",
        "sentences": sentences,
        "characters": characters,
    }


def note_texts(service: Service, texts: Sequence[str], translations: Sequence[str]) -> None:
    """Only where the operator wants it."""
    if service.config.log_texts:
        logs.event("texts", texts=list(texts), translations=list(translations))


def content_disposition(name: str) -> str:
    """To be saved under a name, which may hold any letter."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
