"""DeepL's interface, as far as its clients use it: texts with context, and documents.

Its texts do not share context, but lines of one text do. Its errors are `{"message": ...}`.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from concatmt.decoding.translation import Translation
from concatmt.errors import UserError
from concatmt.segments.segment import SegmentedFile
from concatmt.serve import errors, logs, schemas
from concatmt.serve.access import Client
from concatmt.serve.bundle import Bundle, open_file
from concatmt.serve.errors import NO_KEY, ApiError
from concatmt.serve.fields import Fields, read_fields
from concatmt.serve.libretranslate import (
    check_length,
    context_sentences,
    file_cost,
    file_suffix,
    find_pair,
    translated_name,
)
from concatmt.serve.models import Pair
from concatmt.serve.service import Service, Work
from concatmt.serve.shelf import Shelf
from concatmt.serve.texts import Split, Text
from concatmt.serve.web import PlainRoute, client_of, content_disposition, note, note_texts

SPLITS: dict[str, Split] = {"0": "whole", "1": "lines", "nonewlines": "joined"}
KEY_DIGITS = 16


@dataclass
class Job:
    """A document in work."""

    name: str
    key: str
    sentences: int
    characters: int
    done: int = 0
    result: bytes | None = None
    error: str | None = None
    task: asyncio.Task[None] | None = None


def router(service: Service) -> APIRouter:
    """All its routes."""
    routes = APIRouter(prefix="/v2", tags=["DeepL"], route_class=PlainRoute)
    jobs: Shelf[Job] = service.shelf()

    @routes.post(
        "/translate",
        response_model=schemas.DeeplAnswer,
        responses=schemas.answers(),
        openapi_extra=schemas.body(schemas.DeeplRequest),
    )
    async def translate(request: Request) -> Response:
        """Translate texts."""
        fields = await read_fields(request, lists=["text"])
        client = _client(service, request, fields)
        return JSONResponse(await _translate(service, request, fields, client))

    @routes.post(
        "/document",
        response_model=schemas.DeeplDocument,
        responses=schemas.answers(),
        openapi_extra=schemas.body(_DocumentRequest, schemas.MULTIPART, file=True),
    )
    async def upload(request: Request) -> Response:
        """Hand a document in."""
        fields = await read_fields(request)
        client = _client(service, request, fields)
        job, work = await _begin(service, request, fields, client)
        name = jobs.put(job, client.name, job.characters)
        job.task = asyncio.create_task(work)
        return JSONResponse({"document_id": name, "document_key": job.key})

    async def find(request: Request, name: str) -> tuple[Client, Job]:
        fields = await read_fields(request)
        client = _client(service, request, fields)
        job = jobs.get(name, client.name)
        if job is None or not secrets.compare_digest(
            job.key.encode(), fields.optional("document_key").encode()
        ):
            raise ApiError(404, "there is no such document, or no more")
        return client, job

    extra = schemas.body(_KeyRequest)

    @routes.post(
        "/document/{name}",
        response_model=schemas.DeeplStatus,
        responses=schemas.answers(404),
        openapi_extra=extra,
    )
    async def status(request: Request, name: str) -> Response:
        """How far it is."""
        _, job = await find(request, name)
        return JSONResponse({"document_id": name, **_status(service, job)})

    @routes.post("/document/{name}/result", responses=schemas.answers(404), openapi_extra=extra)
    async def result(request: Request, name: str) -> Response:
        """The translated document, which is forgotten with that."""
        client, job = await find(request, name)
        if job.result is None:
            raise ApiError(503, job.error or "the document is not translated yet")
        jobs.take(name, client.name)
        return Response(
            job.result,
            media_type="application/octet-stream",
            headers={"content-disposition": content_disposition(job.name)},
        )

    return routes


class _DocumentRequest(BaseModel):
    target_lang: str
    source_lang: str = ""


class _KeyRequest(BaseModel):
    document_key: str


def _client(service: Service, request: Request, fields: Fields) -> Client:
    """Here a key that is missing is as bad as a wrong one."""
    try:
        return client_of(service, request, fields.key)
    except ApiError as error:
        raise ApiError(403, error.message) if error.message == NO_KEY else error from None


async def _translate(
    service: Service, request: Request, fields: Fields, client: Client
) -> dict[str, Any]:
    texts = fields.several("text")
    if not texts:
        raise errors.missing("text")
    check_length(client, texts)
    pair = _pair(service, fields, "\n".join(texts))
    split = SPLITS.get(fields.optional("split_sentences") or "1")
    if split is None:
        raise errors.wrong_type("split_sentences", "0, 1 or nonewlines")
    if fields.optional("tag_handling"):
        bundle = await Bundle.read(texts, pair.source, pair.target, True, False)
    else:
        read = [Text.read(text, pair.source, pair.target, split) for text in texts]
        bundle = Bundle(read)
    work = Work(bundle.segments, context_sentences(fields, pair), shared=True)
    service.admit(client, len(texts), len(work.segments))
    note(request, client, pair, len(work.segments), sum(map(len, texts)))
    translations = await service.all(pair, work)
    results = await service.texts(pair, bundle, translations)
    note_texts(service, texts, results)
    language = pair.source.upper()
    return {
        "translations": [
            {"detected_source_language": language, "text": result} for result in results
        ]
    }


async def _begin(
    service: Service, request: Request, fields: Fields, client: Client
) -> tuple[Job, Any]:
    """The job and the work that is to be done for it."""
    file = (fields.files or {}).get("file")
    if file is None or not file.filename:
        raise errors.missing("file")
    suffix = file_suffix(file.filename)
    data = await file.read()
    pair = _pair(service, fields, data[:10_000].decode("utf-8", "ignore"))
    opened = await open_file(data, suffix, pair.source, pair.target, service.config.limits.body)
    work = Work(opened.segments)
    service.admit(client, file_cost(service, data), len(work.segments))
    note(request, client, pair, len(work.segments), len(data))
    name = translated_name(PurePath(file.filename).name, pair.target)
    job = Job(name, secrets.token_hex(KEY_DIGITS), len(work.segments), len(data))
    return job, _run(service, pair, work, opened, job)


async def _run(service: Service, pair: Pair, work: Work, file: SegmentedFile, job: Job) -> None:
    done: dict[int, Translation] = {}
    try:
        async for place, translation in service.translate(pair, work):
            done[place] = translation
            job.done += 1
        made = await service.placed(pair, [done[place] for place in sorted(done)])
        job.result = (await asyncio.to_thread(file.with_translations, made))[0]
    except UserError as error:
        job.error = str(error)
    except Exception:
        job.error = "internal error"
        logs.LOGGER.exception("failed")


def _status(service: Service, job: Job) -> dict[str, Any]:
    if job.error is not None:
        return {"status": "error", "error_message": job.error}
    if job.result is not None:
        return {"status": "done", "billed_characters": job.characters}
    seconds = (job.sentences - job.done) / service.rate
    return {
        "status": "translating" if job.done else "queued",
        "seconds_remaining": max(1, round(seconds)),
    }


def _pair(service: Service, fields: Fields, text: str) -> Pair:
    target = fields.text("target_lang")
    source = fields.optional("source_lang") or "auto"
    return find_pair(service.models, source, target, text)[0]
