"""The web page and the description of the interfaces: files of the package."""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def router() -> APIRouter:
    """A route for each file, read once."""
    routes = APIRouter(include_in_schema=False)
    folder = resources.files("concatmt.serve") / "page"
    for file in folder.iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix not in TYPES:
            continue
        paths = {"index.html": ["/"], "docs.html": ["/docs"]}.get(file.name, [f"/page/{file.name}"])
        for path in paths:
            _add(routes, path, file.read_bytes(), f"{TYPES[suffix]}; charset=utf-8")
    return routes


def _add(routes: APIRouter, path: str, data: bytes, kind: str) -> None:
    @routes.get(path)
    async def file() -> Response:
        return Response(data, media_type=kind, headers={"cache-control": "no-cache"})
