"""LibreTranslate's interface, as its own tests and documentation describe it.

The words of refusals are those that its tests compare (LibreTranslate 1.9, `tests/test_api`).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from concatmt.decoding.translator import Translator
from tests.unit.serve.conftest import MakeClient

GOOD = {"q": "Hello world!", "source": "en", "target": "de"}
SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello there.\r\n\r\n"
    "2\r\n00:00:02,500 --> 00:00:04,000\r\n<i>How are you?</i>\r\n"
)


def post(client: TestClient, json: bool = False, path: str = "/translate", **fields: Any) -> Any:
    """The status and the answer, of a request as JSON or as a form."""
    response = client.post(path, json=fields) if json else client.post(path, data=fields)
    return response.status_code, response.json()


def translated(translator: Translator, *sentences: str) -> list[str]:
    """As the command line translates a document."""
    return [one.text for one in translator.translate_document(sentences)]


@pytest.mark.parametrize("json", [True, False])
def test_a_text_is_translated_as_by_the_command_line(
    client: TestClient, translator: Translator, json: bool
) -> None:
    assert post(client, json, **GOOD) == (
        200,
        {"translatedText": translated(translator, "Hello world!")[0]},
    )


@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": None, "source": None, "target": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"source": None, "target": None}, "Invalid request: missing source parameter"),
        ({"target": None}, "Invalid request: missing target parameter"),
        (
            {"alternatives": "abc", "target": "zz"},
            "Invalid request: alternatives parameter is not a number",
        ),
        ({"alternatives": "4"}, "Invalid request: alternatives parameter must be <= 3"),
        ({"target": "zz"}, "zz is not supported"),
        ({"source": "zz", "target": "yy"}, "zz is not supported"),
        ({"format": "xml"}, "xml format is not supported"),
        ({"format": "xml", "target": "zz"}, "zz is not supported"),
        (
            {"source": "de", "target": "en"},
            "English (en) is not available as a target language from German (de)",
        ),
    ],
)
def test_refusals_have_its_words_and_order(
    client: TestClient, changes: dict[str, Any], message: str, json: bool
) -> None:
    fields = {name: value for name, value in (GOOD | changes).items() if value is not None}
    assert post(client, json, **fields) == (400, {"error": message})


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1]", b"\xff\xfe", b'"q"', b"null", b'{"q": "\\ud800"}', b"[" * 9000]
)
def test_what_is_no_object_of_json_is_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/translate", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()) == (400, {"error": "Invalid JSON format"})


def test_an_empty_list_is_no_text(client: TestClient) -> None:
    answer = post(client, True, **GOOD | {"q": []})
    assert answer == (400, {"error": "Invalid request: missing q parameter"})


@pytest.mark.parametrize("q", [7, {"a": 1}, ["a", 7], [["a"]], True])
def test_a_text_of_another_type_is_refused(client: TestClient, q: Any) -> None:
    status, answer = post(client, True, **GOOD | {"q": q})
    assert status == 400
    assert "q parameter must be a string" in answer["error"]


def test_a_method_that_does_not_exist_is_405(client: TestClient) -> None:
    assert client.get("/translate").status_code == 405
    assert client.get("/detect").status_code == 405


def test_lines_are_one_document_and_keep_their_places(
    client: TestClient, translator: Translator
) -> None:
    lines = ["Anna bought a lamp.", "It is old.", "She likes it."]
    expected = translated(translator, *lines)
    text = f"  {lines[0]}\n\n{lines[1]} {lines[2]}\n"
    status, answer = post(client, True, **GOOD | {"q": text})
    assert status == 200
    assert answer["translatedText"] == f"  {expected[0]}\n\n{expected[1]} {expected[2]}\n"


def test_the_texts_of_a_list_are_documents_of_their_own(
    client: TestClient, translator: Translator
) -> None:
    texts = ["Anna bought a lamp.", "It is old.", "😀", "It is old."]
    status, answer = post(client, True, **GOOD | {"q": texts})
    alone = [translated(translator, text)[0] for text in texts[:2]]
    assert (status, answer["translatedText"]) == (200, [*alone, "😀", alone[1]])


def test_with_document_the_texts_of_a_list_are_one(
    client: TestClient, translator: Translator
) -> None:
    texts = ["Anna bought a lamp.", "It is old.", "She likes it."]
    _, answer = post(client, True, **GOOD | {"q": texts, "document": True})
    assert answer["translatedText"] == translated(translator, *texts)


def test_context_influences_and_is_not_translated(
    client: TestClient, translator: Translator
) -> None:
    before, text = ["Anna bought a lamp.", "It is old."], "She likes it."
    expected = translated(translator, *before, text)[2]
    assert expected != translated(translator, text)[0], "the context changes something"
    for context in (before, " ".join(before)):
        _, answer = post(client, True, **GOOD | {"q": text, "context": context})
        assert answer["translatedText"] == expected


@pytest.mark.parametrize("text", ["😀", " 😀 \n", "...", "\n\n"])
def test_text_without_words_comes_back_unchanged(client: TestClient, text: str) -> None:
    _, answer = post(client, True, **GOOD | {"q": text, "source": "auto"})
    assert answer["translatedText"] == text
    assert answer["detectedLanguage"]["confidence"] == 0


def test_codes_have_aliases_and_regions(client: TestClient) -> None:
    plain = post(client, **GOOD)
    assert post(client, **GOOD | {"source": "EN", "target": "de-DE"}) == plain
    assert post(client, **GOOD | {"source": "en_US"}) == plain


def test_auto_tells_the_language(client: TestClient) -> None:
    language = {"confidence": 100.0, "language": "en"}
    _, answer = post(client, True, **GOOD | {"source": "auto"})
    assert answer["detectedLanguage"] == language
    _, answer = post(client, True, **GOOD | {"source": "auto", "q": ["One thing.", "Two."]})
    assert answer["detectedLanguage"] == [language, language]


def test_alternatives_are_other_translations(client: TestClient) -> None:
    _, answer = post(client, True, **GOOD | {"alternatives": 2})
    others = answer["alternatives"]
    assert 1 <= len(others) <= 2
    assert len({*others, answer["translatedText"]}) == len(others) + 1
    _, answer = post(client, True, **GOOD | {"alternatives": 2, "q": ["One thing.", "Two things."]})
    assert [len(of_text) > 0 for of_text in answer["alternatives"]] == [True, True]


def test_tags_of_html_stay(client: TestClient) -> None:
    page = "<p>Hello <b>world</b>!</p><p>Bye.</p>"
    _, answer = post(client, True, **GOOD | {"q": page, "format": "html", "alternatives": 1})
    text = answer["translatedText"]
    assert [text.count(tag) for tag in ("<p>", "</p>", "<b>", "</b>")] == [2, 2, 1, 1]
    assert "alternatives" not in answer


def test_the_same_path_serves_nllb_serve(client: TestClient, translator: Translator) -> None:
    status, answer = post(
        client, True, source=["It is old."], src_lang="eng_Latn", tgt_lang="deu_Latn"
    )
    assert (status, answer) == (200, {"translation": translated(translator, "It is old.")})


def test_limits_count_characters_and_texts(make_client: MakeClient) -> None:
    client = make_client(limits={"characters": 20, "batch": 2})
    words = "Invalid request: request ({}) exceeds text limit ({})"
    assert post(client, **GOOD | {"q": "x" * 21}) == (400, {"error": words.format(21, 20)})
    assert post(client, **GOOD | {"q": "a b\r\nc"})[0] == 200
    assert post(client, True, **GOOD | {"q": ["a"] * 3}) == (400, {"error": words.format(3, 2)})


def test_detect_lists_languages_best_first(client: TestClient) -> None:
    status, answer = post(client, path="/detect", q="This is an English sentence, is it not?")
    assert status == 200
    assert [set(one) for one in answer] == [{"confidence", "language"}] * len(answer)
    assert answer[0]["language"] == "en"
    assert answer[0]["confidence"] > 90
    assert sum(one["confidence"] for one in answer) == pytest.approx(100, abs=0.5)
    assert post(client, path="/detect", q="!?") == (200, [{"confidence": 0.0, "language": "en"}])
    assert post(client, path="/detect")[0] == 400


def test_languages_tell_what_can_be_translated(client: TestClient) -> None:
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]


def test_settings_and_health_have_its_shapes(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert settings["charLimit"] == 20_000
    assert settings["frontendTimeout"] == 500
    assert settings["keyRequired"] is False
    assert settings["suggestions"] is False
    assert ".srt" in settings["supportedFilesFormat"]
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    assert client.get("/spec").json()["paths"]["/translate"]["post"]


def test_suggestions_are_off(client: TestClient) -> None:
    answer = post(client, path="/suggest", q="a", s="b", source="en", target="de")
    assert answer == (403, {"error": "Suggestions are disabled on this server."})


def test_a_file_is_translated_and_downloaded_once(client: TestClient) -> None:
    response = client.post(
        "/translate_file",
        files={"file": ("../Film 1.srt", SRT.encode())},
        data={"source": "en", "target": "de"},
    )
    url = response.json()["translatedFileUrl"]
    assert url.startswith("http://localhost/download_file/")
    download = client.get(urlsplit(url).path)
    assert download.status_code == 200
    assert 'filename="Film_1.de.srt"' in download.headers["content-disposition"]
    lines, source = download.text.split("\r\n"), SRT.split("\r\n")
    assert lines[:2] == source[:2]
    assert lines[6].startswith("<i>")
    assert client.get(urlsplit(url).path).status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "fields", "message"),
    [
        (None, b"", {}, "Invalid request: missing file parameter"),
        ("a.txt", b"Hi.", {"source": ""}, "Invalid request: missing source parameter"),
        ("a.txt", b"Hi.", {"target": ""}, "Invalid request: missing target parameter"),
        ("a.exe", b"MZ", {}, "Invalid request: file format not supported"),
        ("a.txt", b"Hi.", {"target": "zz"}, "zz is not supported"),
    ],
)
def test_refusals_of_files_have_its_words(
    client: TestClient, name: str | None, data: bytes, fields: dict[str, str], message: str
) -> None:
    response = client.post(
        "/translate_file",
        files={} if name is None else {"file": (name, data)},
        data={"source": "en", "target": "de"} | fields,
    )
    assert (response.status_code, response.json()) == (400, {"error": message})


@pytest.mark.parametrize("path", ["%2e%2e", "..%2f..%2fetc%2fpasswd", ".hidden", "a%2fb"])
def test_names_that_are_paths_are_no_names(client: TestClient, path: str) -> None:
    response = client.get(f"/download_file/{path}")
    assert (response.status_code, response.json()) == (400, {"error": "Invalid filename"})
