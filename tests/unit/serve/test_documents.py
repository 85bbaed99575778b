"""Documents: sentences stream as they are done, and follow corrections."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from concatmt.decoding.translator import Translator

SENTENCES = ["Anna bought a lamp.", "It is old.", "She likes it.", "The sun shines."]
PAIR = {"source": "en", "target": "de"}


def create(client: TestClient, **fields: Any) -> tuple[str, list[dict[str, Any]]]:
    """Where a document is, and its sentences in order."""
    response = client.post("/documents", json=PAIR | fields)
    assert response.status_code == 201, response.text
    return response.headers["location"], lines(response.text)


def lines(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    return sorted(found, key=lambda line: line["index"])


def test_sentences_come_as_the_command_line_translates_them(
    client: TestClient, translator: Translator
) -> None:
    _, found = create(client, sentences=SENTENCES)
    expected = translator.translate_document(SENTENCES)
    assert [line["translation"] for line in found] == [one.text for one in expected]
    assert [line["score"] for line in found] == pytest.approx([one.score for one in expected], 1e-4)
    assert [line["context"] for line in found] == [[], [0], [0, 1], [1, 2]]


def test_a_text_tells_where_its_sentences_are(client: TestClient) -> None:
    text = " ".join(SENTENCES[:2]) + "\n\n" + SENTENCES[2]
    place, found = create(client, text=text)
    assert [text[line["start"] : line["end"]] for line in found] == SENTENCES[:3]
    first, second, third = (line["translation"] for line in found)
    download = client.get(f"{place}/file")
    assert download.text == f"{first} {second}\n\n{third}"


def test_without_context_every_sentence_is_alone(
    client: TestClient, translator: Translator
) -> None:
    _, found = create(client, sentences=SENTENCES, use_context=False)
    alone = [translator.translate_document([sentence])[0].text for sentence in SENTENCES]
    assert [line["translation"] for line in found] == alone
    assert [line["context"] for line in found] == [[]] * 4


def test_corrections_are_followed_as_by_retranslate(
    client: TestClient, translator: Translator
) -> None:
    place, _ = create(client, sentences=SENTENCES)
    response = client.patch(place, json={"translations": {"0": "Anna kaufte  eine Lampe ."}})
    document = translator.translate_document(SENTENCES)
    expected = translator.retranslate(document, {0: "Anna kaufte eine Lampe ."})
    now = client.get(place).json()["sentences"]
    assert [line["translation"] for line in now] == [one.text for one in expected]
    changed = [
        number
        for number, (old, new) in enumerate(zip(document, expected, strict=True))
        if old.text != new.text
    ]
    assert {line["index"] for line in lines(response.text)} >= set(changed)
    assert len(changed) > 1, "something follows"


def test_given_translations_stay_and_are_context(
    client: TestClient, translator: Translator
) -> None:
    given = ["Anna kaufte eine Lampe .", None, None]
    _, found = create(client, sentences=SENTENCES[:3], translations=given)
    document = translator.translate_document(SENTENCES[:3])
    expected = translator.retranslate(document, {0: "Anna kaufte eine Lampe ."})
    assert [line["translation"] for line in found] == [one.text for one in expected]


def test_a_file_comes_back_in_its_format_with_corrections(client: TestClient) -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n"
    )
    response = client.post("/documents", files={"file": ("a.srt", srt.encode())}, data=PAIR)
    place = response.headers["location"]
    client.patch(place, json={"translations": {"0": "Guten Tag."}})
    download = client.get(f"{place}/file")
    assert download.text.startswith("1\n00:00:01,000 --> 00:00:02,000\nGuten Tag.\n\n2\n00:00:03")
    assert 'filename="a.de.srt"' in download.headers["content-disposition"]


def test_what_was_deleted_is_gone(client: TestClient) -> None:
    place, _ = create(client, text="Hello.")
    assert client.delete(place).status_code == 204
    assert client.get(place).status_code == 404
    assert client.patch(place, json={"translations": {"0": "x"}}).status_code == 404


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"1": "x"}, "there is no sentence 1"),
        ({"-1": "x"}, "translations parameter must be an object"),
        ({"0": 1}, "translations parameter must be an object"),
        ([], "translations parameter must be an object"),
    ],
)
def test_corrections_of_nothing_are_refused(client: TestClient, edits: Any, message: str) -> None:
    place, _ = create(client, text="Hello.")
    response = client.patch(place, json={"translations": edits})
    assert response.status_code == 400
    assert message in response.json()["error"]
