"""LibreTranslate's interface, which Subtitle Edit, Weblate, Mastodon and others speak.

Its words, codes and order of checks; the lines of a text are one document. `context` and
`document` are ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from concatmt.decoding.translation import Translation
from concatmt.segments.formats import READERS
from concatmt.serve import errors, schemas
from concatmt.serve.access import Client
from concatmt.serve.bundle import Bundle, open_file
from concatmt.serve.errors import ApiError
from concatmt.serve.fields import Fields, read_fields
from concatmt.serve.languages import Detected, detect, find_language, language_name
from concatmt.serve.models import Models, Pair
from concatmt.serve.service import Service, Work
from concatmt.serve.shelf import Shelf
from concatmt.serve.texts import Text
from concatmt.serve.web import PlainRoute, client_of, content_disposition, note, note_texts

NOTHING = Detected("en", 0.0)  # as LibreTranslate answers where it finds no language


@dataclass(frozen=True)
class FinishedFile:
    """A translated file that waits for its download."""

    name: str
    data: bytes


def router(service: Service) -> APIRouter:
    """All its routes."""
    routes = APIRouter(tags=["LibreTranslate"], route_class=PlainRoute)
    files: Shelf[FinishedFile] = service.shelf()

    @routes.post(
        "/translate",
        response_model=schemas.TranslateAnswer,
        responses=schemas.answers(),
        openapi_extra=schemas.body(schemas.TranslateRequest),
    )
    async def translate(request: Request) -> Response:
        """Translate a text or a list of texts."""
        fields = await read_fields(request)
        client = client_of(service, request, fields.key)
        return JSONResponse(await _translate(service, request, fields, client))

    @routes.post(
        "/detect",
        response_model=list[schemas.Detection],
        responses=schemas.answers(),
        openapi_extra=schemas.body(schemas.DetectRequest),
    )
    async def detect_(request: Request) -> Response:
        """The languages that a text may be in, of those that are served."""
        fields = await read_fields(request)
        client = client_of(service, request, fields.key)
        q = fields.texts("q")
        check_length(client, q)
        service.access.charge(client)
        found = detect(q if isinstance(q, str) else "\n".join(q), service.models.codes)
        return JSONResponse([_detection(one) for one in found or [NOTHING]])

    @routes.get("/languages", response_model=list[schemas.Language])
    async def languages(_: Request) -> Response:
        """What can be translated into what."""
        return JSONResponse(
            [
                {
                    "code": code,
                    "name": language_name(code),
                    "targets": [
                        target for source, target in service.models.pairs if source == code
                    ],
                }
                for code in service.models.codes
            ]
        )

    @routes.post(
        "/translate_file",
        response_model=schemas.FileAnswer,
        responses=schemas.answers(),
        openapi_extra=schemas.body(_FileRequest, schemas.MULTIPART, file=True),
    )
    async def translate_file(request: Request) -> Response:
        """Translate a file; the answer says where the result can be fetched, once."""
        fields = await read_fields(request)
        client = client_of(service, request, fields.key)
        finished = await _translate_file(service, request, fields, client)
        name = files.put(finished, client.name, len(finished.data))
        suffix = PurePath(finished.name).suffix
        url = request.url_for("download_file", filename=f"{name}{suffix}")
        return JSONResponse({"translatedFileUrl": str(url)})

    @routes.get("/download_file/{filename:path}", responses=schemas.answers(404))
    async def download_file(request: Request, filename: str) -> Response:
        """A translated file, which is forgotten with that."""
        # The name is a secret of its own: programs fetch it without their key.
        name = PurePath(filename).stem
        if filename != PurePath(filename).name or filename.startswith("."):
            raise ApiError(400, errors.BAD_NAME)
        place = files.places.get(name)
        finished = files.take(name, place.owner) if place is not None else None
        if finished is None:
            raise ApiError(404, "there is no such file, or no more")
        return Response(
            finished.data,
            media_type="application/octet-stream",
            headers={"content-disposition": content_disposition(finished.name)},
        )

    @routes.post("/suggest", responses=schemas.answers(), response_model=None)
    async def suggest(_: Request) -> Response:
        """Not served: corrections go to /documents."""
        raise ApiError(403, errors.NO_SUGGESTIONS)

    @routes.get("/frontend/settings", response_model=dict[str, Any])
    async def settings(_: Request) -> Response:
        """What a page wants to know."""
        source, target = next(iter(service.models.pairs))
        keys = service.access.keys is not None
        about = {
            "charLimit": service.config.limits.characters,
            "frontendTimeout": 500,
            "apiKeys": keys,
            "keyRequired": keys,
            "suggestions": False,
            "filesTranslation": True,
            "supportedFilesFormat": list(READERS),
            "alternatives": service.alternatives,
            "language": {
                "source": {"code": source, "name": language_name(source)},
                "target": {"code": target, "name": language_name(target)},
            },
        }
        return JSONResponse(about)

    @routes.get("/health", response_model=schemas.Health)
    async def health(_: Request) -> Response:
        """Whether the server is there."""
        return JSONResponse({"status": "ok"})

    return routes


class _FileRequest(BaseModel):
    source: str
    target: str
    api_key: str = ""


async def _translate(
    service: Service, request: Request, fields: Fields, client: Client
) -> dict[str, Any]:
    """The checks in LibreTranslate's order, then the translation."""
    if fields.values.get("src_lang") and isinstance(fields.values.get("source"), list):
        return await _nllb(service, request, fields, client)
    q, source, target = fields.texts("q"), fields.text("source"), fields.text("target")
    alternatives = fields.count("alternatives", service.alternatives)
    check_length(client, q)
    batch = isinstance(q, list)
    texts = q if isinstance(q, list) else [q]
    pair, detected = find_pair(service.models, source, target, "\n".join(texts))
    format_ = fields.optional("format") or "text"
    if format_ not in ("text", "html"):
        raise errors.unknown_format(format_)
    html = format_ == "html"
    together = fields.flag("document")
    before = context_sentences(fields, pair)
    if html:
        alternatives = 0
    bundle = await Bundle.read(texts, pair.source, pair.target, html, together)
    work = Work(bundle.segments, before, alternatives=alternatives)
    service.admit(client, len(texts), len(work.segments))
    note(request, client, pair, len(work.segments), sum(map(len, texts)))
    translations = await service.all(pair, work)
    results = await service.texts(pair, bundle, translations)
    note_texts(service, texts, results)
    answer: dict[str, Any] = {"translatedText": results if batch else results[0]}
    if detected is not None:
        language = _detection(detected)
        answer["detectedLanguage"] = [language] * len(texts) if batch else language
    if fields.values.get("alternatives") and not html:
        found = bundle.alternatives(translations, alternatives)
        answer["alternatives"] = found if batch else found[0]
    return answer


async def _nllb(
    service: Service, request: Request, fields: Fields, client: Client
) -> dict[str, Any]:
    """The same path as nllb-serve has it: `source` lines, `src_lang`, `tgt_lang`."""
    lines = fields.several("source")
    check_length(client, lines)
    languages = [fields.text(name).partition("_")[0] for name in ("src_lang", "tgt_lang")]
    source, target = (_FLORES.get(code, code) for code in languages)
    pair, _ = find_pair(service.models, source, target, "")
    bundle = await Bundle.read(lines, pair.source, pair.target, False, True)
    work = Work(bundle.segments)
    service.admit(client, len(lines), len(work.segments))
    note(request, client, pair, len(work.segments), sum(map(len, lines)))
    translations: Sequence[Translation] = await service.all(pair, work)
    return {"translation": await service.texts(pair, bundle, translations)}


async def _translate_file(
    service: Service, request: Request, fields: Fields, client: Client
) -> FinishedFile:
    upload = (fields.files or {}).get("file")
    if upload is None:
        raise errors.missing("file")
    source, target = fields.text("source"), fields.text("target")
    if not upload.filename:
        raise ApiError(400, errors.EMPTY_FILE)
    suffix = file_suffix(upload.filename)
    data = await upload.read()
    pair, _ = find_pair(service.models, source, target, data[:10_000].decode("utf-8", "ignore"))
    file = await open_file(data, suffix, pair.source, pair.target, service.config.limits.body)
    work = Work(file.segments)
    service.admit(client, file_cost(service, data), len(work.segments))
    note(request, client, pair, len(work.segments), len(data))
    translations = await service.all(pair, work)
    made = await service.placed(pair, translations)
    result, _ = await asyncio.to_thread(file.with_translations, made)
    return FinishedFile(translated_name(upload.filename, pair.target), result)


def find_pair(models: Models, source: str, target: str, text: str) -> tuple[Pair, Detected | None]:
    """The model for two codes, and what was detected if the first is `auto`."""
    detected = None
    if source.strip().lower() == "auto":
        detected, source = _detected(models, target, text)
    pair = models.find(source, target)
    if pair is not None:
        return pair, detected
    for code in (source, target):
        if find_language(code, models.codes) is None:
            raise errors.unsupported(code)
    names = language_name(target), language_name(source)
    raise ApiError(
        400,
        f"{names[0]} ({target}) is not available as a target language from {names[1]} ({source})",
    )


def _detected(models: Models, target: str, text: str) -> tuple[Detected, str]:
    """The likeliest language from which there is a way to the target."""
    to = find_language(target, models.targets)
    if to is None:
        raise errors.unsupported(target)
    sources = [source for source, other in models.pairs if other == to]
    found = detect(text, sources)
    if not found:
        return Detected(sources[0], 0.0), sources[0]
    return found[0], found[0].code


def context_sentences(fields: Fields, pair: Pair) -> list[str]:
    """What stands before, in sentences."""
    texts = [Text.read(text, pair.source, pair.target) for text in fields.several("context")]
    return [segment.text for text in texts for segment in text.segments]


def file_suffix(name: str) -> str:
    """Of a file that can be read."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in READERS:
        raise ApiError(400, errors.NO_FORMAT)
    return suffix


def file_cost(service: Service, data: bytes) -> int:
    """How many requests a file counts as."""
    return max(1, len(data) // max(1, service.config.limits.characters))


def translated_name(name: str, target: str) -> str:
    """`film.srt` becomes `film.fr.srt`; folders in the name are left out."""
    path = PurePath(name.replace("\\", "/"))
    return f"{path.stem}.{target}{path.suffix.lower()}"


def check_length(client: Client, q: str | list[str]) -> None:
    if isinstance(q, list) and 0 <= client.batch < len(q):
        raise errors.too_long(len(q), client.batch)
    size = len(q) if isinstance(q, str) else sum(map(len, q))
    if 0 <= client.characters < size:
        raise errors.too_long(size, client.characters)


def _detection(detected: Detected) -> dict[str, Any]:
    return {"confidence": detected.confidence, "language": detected.code}


# FLORES has codes of three letters, models mostly of two.
_FLORES = {
    "ara": "ar", "bul": "bg", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en",
    "est": "et", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu",
    "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lit": "lt", "nld": "nl", "nob": "nb",
    "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk", "slv": "sl", "spa": "es",
    "srp": "sr", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh",
}  # fmt: skip
