"""Our own interface: a document goes in, its sentences come out as lines of JSON as they are done.

The document is kept for a while. Corrections change it, and the sentences after them follow.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from concatmt.errors import UserError
from concatmt.segments.segment import Segment, SegmentedFile
from concatmt.serve import errors, logs, schemas
from concatmt.serve.access import Client
from concatmt.serve.bundle import open_file
from concatmt.serve.document import Document
from concatmt.serve.errors import ApiError
from concatmt.serve.fields import Fields, read_fields
from concatmt.serve.libretranslate import (
    check_length,
    context_sentences,
    file_cost,
    file_suffix,
    find_pair,
)
from concatmt.serve.service import Service, Work
from concatmt.serve.shelf import Shelf
from concatmt.serve.terms import read_glossary
from concatmt.serve.texts import Text
from concatmt.serve.web import PlainRoute, client_of, content_disposition, note

LINES = "application/x-ndjson"
Answers = dict[int | str, dict[str, Any]]
BYTES_A_SENTENCE = 2_000  # a document's share of memory beyond its text, roughly


def router(service: Service) -> APIRouter:
    """All its routes."""
    routes = APIRouter(tags=["Documents"], route_class=PlainRoute)
    documents: Shelf[Document] = service.shelf()
    lines: Answers = {
        200: {"content": {LINES: {}}, "description": "A sentence a line, as it is done."}
    }

    def find(client: Client, name: str) -> Document:
        document = documents.get(name, client.name)
        if document is None:
            raise ApiError(404, "there is no such document, or no more")
        return document

    @routes.post(
        "/documents",
        response_class=Response,
        responses=lines | schemas.answers(),
        openapi_extra=schemas.body(schemas.DocumentRequest, schemas.JSON, schemas.MULTIPART),
    )
    async def create(request: Request) -> Response:
        """Translate a document, and keep it for corrections."""
        fields = await read_fields(request)
        client = client_of(service, request, fields.key)
        document, cost = await _read(service, fields, client)
        characters = sum(len(segment.text) for segment in document.segments)
        service.admit(client, cost, len(document.segments))
        note(request, client, document.pair, len(document.segments), characters)
        size = characters + BYTES_A_SENTENCE * len(document.segments)
        name = documents.put(document, client.name, size)
        document.busy = True
        headers = {"location": f"/documents/{name}", "cache-control": "no-store"}
        return StreamingResponse(
            _lines(document, _translated(service, document)),
            201,
            headers,
            media_type=LINES,
        )

    @routes.get("/documents/{name}", responses=schemas.answers(404))
    async def read(request: Request, name: str) -> Response:
        """The document as it is now."""
        client = client_of(service, request, (await read_fields(request)).key)
        document = find(client, name)
        window = await _window(service, document)
        sentences = [document.sentence(place, window) for place in range(len(document.segments))]
        return JSONResponse(
            {
                "source": document.pair.source,
                "target": document.pair.target,
                "window": window,
                "sentences": sentences,
            },
            headers={"cache-control": "no-store"},
        )

    @routes.patch(
        "/documents/{name}",
        response_class=Response,
        responses=lines | schemas.answers(404, 409),
        openapi_extra=schemas.body(schemas.CorrectionRequest, schemas.JSON),
    )
    async def correct(request: Request, name: str) -> Response:
        """Put corrections in; the answer is the sentences that changed with them."""
        fields = await read_fields(request)
        client = client_of(service, request, fields.key)
        document = find(client, name)
        if document.busy or None in document.translations:
            raise ApiError(409, "the document is not translated yet")
        edits = _edits(fields, document)
        service.admit(client, 1, 1)
        document.busy = True
        return StreamingResponse(
            _lines(document, _corrected(service, document, edits)),
            headers={"cache-control": "no-store"},
            media_type=LINES,
        )

    @routes.get(
        "/documents/{name}/file", response_class=Response, responses=schemas.answers(404, 409)
    )
    async def download(request: Request, name: str) -> Response:
        """The file or text that was sent, translated."""
        client = client_of(service, request, (await read_fields(request)).key)
        data, filename = await find(client, name).whole(service)
        return Response(
            data,
            media_type="application/octet-stream",
            headers={"content-disposition": content_disposition(filename)},
        )

    @routes.delete("/documents/{name}", status_code=204, responses=schemas.answers(404))
    async def delete(request: Request, name: str) -> Response:
        """Forget the document."""
        client = client_of(service, request, (await read_fields(request)).key)
        find(client, name)
        documents.take(name, client.name)
        return Response(status_code=204)

    return routes


async def _read(service: Service, fields: Fields, client: Client) -> tuple[Document, int]:
    """The document of a request, and how many requests it counts as."""
    source, target = fields.text("source"), fields.text("target")
    alternatives = fields.count("alternatives", service.alternatives)
    upload = (fields.files or {}).get("file")
    sentences = fields.values.get("sentences")
    content: Text | SegmentedFile | None = None
    name, cost = "", 1
    if upload is not None:
        if not upload.filename:
            raise ApiError(400, errors.EMPTY_FILE)
        name, suffix = upload.filename, file_suffix(upload.filename)
        data = await upload.read()
        cost = file_cost(service, data)
        pair = find_pair(service.models, source, target, data[:10_000].decode("utf-8", "ignore"))[0]
        most = service.config.limits.body
        content = await open_file(data, suffix, pair.source, pair.target, most)
        segments = list(content.segments)
    elif sentences is not None:
        texts = fields.several("sentences")
        check_length(client, "\n".join(texts))
        pair = find_pair(service.models, source, target, "\n".join(texts))[0]
        segments = [
            Segment(" ".join(text.split()), given)
            for text, given in zip(texts, _given(fields, len(texts)), strict=True)
        ]
    else:
        text = fields.texts("text")
        if not isinstance(text, str):
            raise errors.wrong_type("text", "a string")
        check_length(client, text)
        pair = find_pair(service.models, source, target, text)[0]
        content = Text.read(text, pair.source, pair.target)
        segments = list(content.segments)
    before = context_sentences(fields, pair)
    use_context = fields.flag("use_context", True)
    terms = read_glossary(fields, service.config.limits.terms)
    work = Work(segments, before, False, use_context, alternatives, terms)
    return Document(pair, work, content, name), cost


def _given(fields: Fields, count: int) -> list[str | None]:
    """Translations that stay as they are."""
    given = fields.values.get("translations")
    if given is None:
        return [None] * count
    if not isinstance(given, list) or not all(one is None or isinstance(one, str) for one in given):
        raise errors.wrong_type("translations", "a list of strings and nulls")
    if len(given) != count:
        raise errors.wrong_type("translations", f"as long as the sentences ({count})")
    return given


def _edits(fields: Fields, document: Document) -> dict[int, str]:
    given = fields.values.get("translations")
    if not isinstance(given, dict) or not given:
        raise errors.wrong_type("translations", "an object: numbers of sentences and texts")
    edits: dict[int, str] = {}
    for number, text in given.items():
        if not isinstance(text, str) or not number.isdecimal():
            raise errors.wrong_type("translations", "an object: numbers of sentences and texts")
        if len(number) > 9 or int(number) >= len(document.segments):
            raise ApiError(400, f"there is no sentence {number[:20]}")
        edits[int(number)] = " ".join(text.split())
    return edits


async def _window(service: Service, document: Document) -> int:
    async with service.models.use(document.pair) as engine:
        return engine.window


async def _translated(service: Service, document: Document) -> AsyncGenerator[dict[str, Any]]:
    window = await _window(service, document)
    async with service.in_time(), aclosing(service.translate(document.pair, document.work)) as all_:
        async for place, translation in all_:
            document.translations[place] = translation
            yield document.sentence(place, window)


async def _corrected(
    service: Service, document: Document, edits: dict[int, str]
) -> AsyncGenerator[dict[str, Any]]:
    """Corrections reach as far as the next gap."""
    async with AsyncExitStack() as stack:
        stack.enter_context(service.accepted(1))  # one sentence after the other
        await stack.enter_async_context(service.in_time())
        engine = await stack.enter_async_context(service.models.use(document.pair))
        for first, before, order in document.work.orders:
            end = first + len(order) - before
            own = {place - first: text for place, text in edits.items() if first <= place < end}
            if not own:
                continue
            old = [one for one in document.translations[first:end] if one is not None]
            follow = engine.follow(old, own, order)
            async with aclosing(follow) as changed:
                async for place, translation in changed:
                    document.translations[first + place] = translation
                    yield document.sentence(first + place, engine.window)


async def _lines(
    document: Document, sentences: AsyncGenerator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    """Each as a line; an error is the last line, since the status has been sent already."""
    try:
        async with aclosing(sentences) as stream:
            async for sentence in stream:
                yield _line(sentence)
    except ApiError as error:
        yield _line({"error": error.message})
    except UserError as error:
        yield _line({"error": str(error)})
    except Exception:
        logs.LOGGER.exception("failed")
        yield _line({"error": "internal error"})
    finally:
        document.busy = False


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
