"""The web application: all interfaces, and what is done with errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from starlette.responses import JSONResponse, Response

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.heap import Heap
from concatmt.serve import deepl, documents, libretranslate, schemas
from concatmt.serve.errors import ApiError
from concatmt.serve.fields import header_key
from concatmt.serve.guard import App, Guard
from concatmt.serve.page import router as page_router
from concatmt.serve.service import Service
from concatmt.serve.web import client_of

SWEEP_SECONDS = 30
CORS_SECONDS = 1_728_000  # LibreTranslate's


def make_app(service: Service) -> App:
    """The application with everything around it."""
    # Else an uploaded file of more than a megabyte would go to a disk.
    most = max(MultiPartParser.spool_max_size, service.config.limits.body)
    MultiPartParser.spool_max_size = most
    app = FastAPI(
        title="concatmt",
        version=__version__,
        description="Translation of documents: LibreTranslate's interface, DeepL's, and our own.",
        lifespan=_lifespan(service),
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
    )
    for module in (libretranslate, deepl, documents):
        # As `include_router`, without another router on the way of every request.
        app.router.routes.extend(module.router(service).routes)
    if service.config.page:
        app.router.routes.extend(page_router().routes)
    if service.config.metrics:
        _add_metrics(app, service)

    @app.get("/spec", include_in_schema=False)
    async def spec() -> Response:
        return JSONResponse(app.openapi())

    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(UserError, _user_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failure)
    guarded: App = app
    if service.config.cors:
        guarded = CORSMiddleware(
            app,
            allow_origins=service.config.cors,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Location"],
            max_age=CORS_SECONDS,
        )
    return Guard(guarded, service)


def _lifespan(service: Service):  # type: ignore[no-untyped-def]  # FastAPI's type is its own
    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        heap = Heap()

        async def sweep() -> None:
            while True:
                await asyncio.sleep(SWEEP_SECONDS)
                for shelf in service.shelves:
                    shelf.clear()
                await asyncio.to_thread(heap.trim)

        task = asyncio.create_task(sweep())
        yield
        task.cancel()
        service.models.close()

    return run


def _add_metrics(app: FastAPI, service: Service) -> None:
    @app.get("/metrics", response_class=Response, responses=schemas.answers())
    async def metrics(request: Request) -> Response:
        """Figures for Prometheus; with keys, a key is needed (`Authorization: Bearer`)."""
        client_of(service, request, header_key(request))
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


def _error(request: Request, status: int, message: str, headers: dict[str, str]) -> Response:
    name = "message" if request.url.path.startswith("/v2/") else "error"
    return JSONResponse({name: message}, status, headers=headers)


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    retry = error.retry_after
    headers = {} if retry is None else {"retry-after": str(retry)}
    return _error(request, error.status, error.message, headers)


async def _user_error(request: Request, error: Exception) -> Response:
    """What our readers of files and texts refuse."""
    return _error(request, 400, str(error), {})


async def _failure(request: Request, error: Exception) -> Response:
    """Our own fault; the log tells more."""
    return _error(request, 500, f"internal error; request {request.state.request_id}", {})


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(request, error.status_code, str(error.detail), dict(error.headers or {}))
