"""Requests and answers as OpenAPI describes them.

Requests are read by hand (`fields`), since the words of a refusal and the order of the checks are
part of LibreTranslate's interface.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
JSON = "application/json"


class Error(BaseModel):
    error: str


class TranslateRequest(BaseModel):
    """LibreTranslate's, and two fields of ours."""

    q: str | list[str] = Field(examples=["Hello world!"])
    source: str = Field(examples=["en"], description="Code of the language, or auto.")
    target: str = Field(examples=["fr"])
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(default=0, ge=0)
    api_key: str = ""
    context: str | list[str] = Field(
        default="", description="What stands before; it influences and is not translated."
    )
    document: bool = Field(
        default=False, description="The texts of a list follow each other in one document."
    )


class Language(BaseModel):
    code: str
    name: str
    targets: list[str]


class Detection(BaseModel):
    confidence: float = Field(ge=0, le=100)
    language: str


class TranslateAnswer(BaseModel):
    translatedText: str | list[str]  # noqa: N815
    detectedLanguage: Detection | list[Detection] | None = None  # noqa: N815
    alternatives: list[str] | list[list[str]] | None = None


class DetectRequest(BaseModel):
    q: str | list[str]
    api_key: str = ""


class FileAnswer(BaseModel):
    translatedFileUrl: str  # noqa: N815


class Health(BaseModel):
    status: Literal["ok"]


class DeeplRequest(BaseModel):
    """DeepL's; what is not here is ignored."""

    text: list[str] | str
    target_lang: str = Field(examples=["FR"])
    source_lang: str = ""
    context: str = ""
    split_sentences: Literal["0", "1", "nonewlines"] = "1"
    tag_handling: Literal["", "html", "xml"] = ""


class DeeplTranslation(BaseModel):
    detected_source_language: str
    text: str


class DeeplAnswer(BaseModel):
    translations: list[DeeplTranslation]


class DeeplDocument(BaseModel):
    document_id: str
    document_key: str


class DeeplStatus(BaseModel):
    document_id: str
    status: Literal["queued", "translating", "done", "error"]
    seconds_remaining: int | None = None
    billed_characters: int | None = None
    error_message: str | None = None


class DocumentRequest(BaseModel):
    """Give `text`, `sentences` or, as multipart, a `file`."""

    source: str = Field(examples=["en"])
    target: str = Field(examples=["fr"])
    text: str | None = None
    sentences: list[str] | None = None
    translations: list[str | None] | None = Field(
        default=None, description="Translations of sentences that stay as they are."
    )
    context: str | list[str] = ""
    use_context: bool = True
    alternatives: int = Field(default=0, ge=0)
    glossary: str | dict[str, str | list[str]] = Field(
        default="",
        examples=[{"boat": ["navire", "navires"], "lighthouse": "fanal"}],
        description="Terms and what may translate them: an object, or lines of a term, a tab and"
        " its forms with tabs between them.",
    )
    api_key: str = ""


class CorrectionRequest(BaseModel):
    translations: dict[str, str] = Field(
        examples=[{"3": "Elle est vieille."}], description="By the number of the sentence."
    )


def body(schema: type[BaseModel], *kinds: str, file: bool = False) -> dict[str, Any]:
    """For `openapi_extra`: a request in one of several forms."""
    description = schema.model_json_schema()
    if file:
        description["properties"]["file"] = {"type": "string", "format": "binary"}
        description["required"] = [*description.get("required", []), "file"]
    content = {kind: {"schema": description} for kind in kinds or (JSON, FORM)}
    return {"requestBody": {"required": True, "content": content}}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses`: errors."""
    always = (400, 403, 408, 413, 429, 500, 503, 504)
    return {status: {"model": Error} for status in (*always, *statuses)}
