"""DeepL's interface, as its OpenAPI description has it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from concatmt.decoding.translator import Translator

KEY = {"Authorization": "DeepL-Auth-Key anything"}


def texts(client: TestClient, json: bool = True, **fields: Any) -> Any:
    body = {"json": fields} if json else {"data": fields}
    response = client.post("/v2/translate", headers=KEY, **body)  # type: ignore[arg-type]
    assert response.status_code == 200, response.text
    return [one["text"] for one in response.json()["translations"]]


@pytest.mark.parametrize("json", [True, False])
def test_texts_are_documents_of_their_own(
    client: TestClient, translator: Translator, json: bool
) -> None:
    given = ["Anna bought a lamp.", "It is old."]
    alone = [translator.translate_document([text])[0].text for text in given]
    assert texts(client, json, text=given, target_lang="DE", source_lang="EN") == alone


def test_all_texts_have_the_context_before_them(client: TestClient, translator: Translator) -> None:
    before = "Anna bought a lamp."
    given = ["It is old.", "She likes it."]
    expected = [translator.translate_document([before, text])[1].text for text in given]
    assert texts(client, text=given, target_lang="DE", context=before) == expected


def test_the_language_is_told_in_capitals(client: TestClient) -> None:
    response = client.post("/v2/translate", json={"text": ["Hello."], "target_lang": "DE"})
    assert response.json()["translations"][0]["detected_source_language"] == "EN"


def test_lines_can_be_sentences_or_joined(client: TestClient, translator: Translator) -> None:
    text = "Anna bought\na lamp. It is old."
    whole = translator.translate_document(["Anna bought", "a lamp. It is old."])
    assert texts(client, text=[text], target_lang="DE", split_sentences="0") == [
        "\n".join(one.text for one in whole)
    ]
    joined = translator.translate_document(["Anna bought a lamp.", "It is old."])
    assert texts(client, text=[text], target_lang="DE", split_sentences="nonewlines") == [
        " ".join(one.text for one in joined)
    ]


def test_its_errors_are_messages(client: TestClient) -> None:
    response = client.post("/v2/translate", json={"text": ["Hello."], "target_lang": "ZZ"})
    assert (response.status_code, response.json()) == (400, {"message": "ZZ is not supported"})


def test_a_document_is_handed_in_asked_for_and_fetched_once(
    client: TestClient, translator: Translator
) -> None:
    made = client.post(
        "/v2/document",
        files={"file": ("note.txt", b"Anna bought a lamp.\nIt is old.\n")},
        data={"target_lang": "DE"},
        headers=KEY,
    ).json()
    path, key = f"/v2/document/{made['document_id']}", {"document_key": made["document_key"]}
    assert client.post(path, json={"document_key": "wrong"}).status_code == 404
    end = time.monotonic() + 30
    while (status := client.post(path, json=key).json())["status"] != "done":
        assert status["status"] in ("queued", "translating")
        assert time.monotonic() < end
    result = client.post(f"{path}/result", json=key)
    expected = translator.translate_document(["Anna bought a lamp.", "It is old."])
    assert [line.split() for line in result.text.splitlines()] == [
        one.text.split() for one in expected
    ]
    assert client.post(f"{path}/result", json=key).status_code == 404
