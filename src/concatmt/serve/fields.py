"""What a request says, as JSON or as a form: the same fields either way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request

from concatmt.json_text import parse_json
from concatmt.serve.errors import BAD_JSON, ApiError, missing, not_a_number, too_many, wrong_type

MOST_FIELDS = 2_000  # of a form
KEY_SCHEMES = ("deepl-auth-key ", "bearer ")


@dataclass(frozen=True)
class Fields:
    """Names and values."""

    values: Mapping[str, Any]
    form: bool = False
    header_key: str = ""  # the key, if it came in a header
    files: Mapping[str, UploadFile] | None = None

    def text(self, name: str) -> str:
        """A string that must be there."""
        value = self.values.get(name)
        if not value:
            raise missing(name)
        return _string(name, value)

    def optional(self, name: str) -> str:
        """A string, empty if there is none."""
        value = self.values.get(name)
        return "" if value is None else _string(name, value)

    def texts(self, name: str) -> list[str] | str:
        """A string or a list of strings that must be there."""
        value = self.values.get(name)
        if not value:
            raise missing(name)
        if isinstance(value, list):
            return [_string(name, one) for one in value]
        return self._line_ends(_string(name, value, "a string or a list of strings"))

    def several(self, name: str) -> list[str]:
        """A string or a list of strings, as a list; empty if there is none."""
        value = self.values.get(name)
        if value is None or value == "":
            return []
        found = value if isinstance(value, list) else [value]
        return [self._line_ends(_string(name, one)) for one in found]

    def count(self, name: str, limit: int) -> int:
        """A number from 0 to `limit`; 0 if there is none."""
        value = self.values.get(name)
        if value is None or value == "":
            return 0
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise not_a_number(name) from None
        if number < 0:
            raise ApiError(400, f"Invalid request: {name} parameter must be >= 0")
        if number > limit:
            raise too_many(name, limit)
        return number

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false, spelt out in a form."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, bool):
            return value
        spelt = {"true": True, "1": True, "false": False, "0": False}
        if not isinstance(value, str | int) or str(value).lower() not in spelt:
            raise wrong_type(name, "true or false")
        return spelt[str(value).lower()]

    @property
    def key(self) -> str:
        """The key that was given, wherever."""
        value = self.values.get("api_key")
        return value if isinstance(value, str) and value else self.header_key

    def _line_ends(self, text: str) -> str:
        """Browsers send CR LF in forms; characters are counted without the CR."""
        return text.replace("\r\n", "\n").replace("\r", "\n") if self.form else text


def _string(name: str, value: Any, expected: str = "a string") -> str:
    if not isinstance(value, str):
        raise wrong_type(name, expected)
    return value


async def read_fields(request: Request, lists: Sequence[str] = ()) -> Fields:
    """Parse the body; in forms, fields of `lists` may be repeated."""
    key = header_key(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return Fields(_json_object(await request.body()), header_key=key)
    values: dict[str, Any] = dict(request.query_params)
    files: dict[str, UploadFile] = {}
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=1 << 24)
        for name in form:
            found = form.getlist(name)
            texts = [value for value in found if isinstance(value, str)]
            uploads = [value for value in found if isinstance(value, UploadFile)]
            if uploads:
                files[name] = uploads[0]
            if texts:
                values[name] = texts if name in lists and len(texts) > 1 else texts[0]
    return Fields(values, True, key, files)


def header_key(request: Request) -> str:
    """The key in the Authorization header, DeepL's way or the usual one."""
    header = request.headers.get("authorization", "")
    for scheme in KEY_SCHEMES:
        if header.lower().startswith(scheme):
            return header[len(scheme) :].strip()
    return ""


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = parse_json(body.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ApiError(400, BAD_JSON) from None
    if not isinstance(value, dict):
        raise ApiError(400, BAD_JSON)
    return value
