"""Requests of real programs, byte by byte: what goes in lines comes out in lines.

Shapes from the programs' sources: Subtitle Edit 5 (LibreTranslate.cs, DeepLTranslate.cs), Weblate
(machinery/libretranslate.py), Mastodon (translation_service/libre_translate.rb).
"""

from __future__ import annotations

import json
import socket
from typing import Any

from concatmt.decoding.translator import Translator

CUES = [
    "I never thought it would come to this.",
    "You said the same thing last year,",
    "and the year before that.",
    "Did I?",
    "- Yes, you did.",
    "- Then I must have meant it.",
]


def ask(port: int, head: str, body: bytes) -> Any:
    """Send bytes; the JSON of the answer."""
    lines = [*head.strip().splitlines(), f"Content-Length: {len(body)}", "Connection: close"]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    top, _, content = answer.partition(b"\r\n\r\n")
    assert top.split()[1] == b"200", answer
    return json.loads(content)


def subtitle_edit(text: str) -> bytes:
    """It writes its JSON itself, with every letter beyond ASCII as it is."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{{"q": "{escaped}","source": "en","target": "de"}}'.encode()


def test_subtitle_edit_gets_a_line_for_a_line(listening: int, translator: Translator) -> None:
    text = "\n".join(CUES)
    assert len(text) <= 220, "it sends no more at a time"
    head = """
POST /translate HTTP/1.1
Host: 127.0.0.1
Accept: application/json
Content-Type: application/json; charset=utf-8
"""
    answer = ask(listening, head, subtitle_edit(text))
    lines = answer["translatedText"].split("\n")
    assert list(answer) == ["translatedText"]
    assert len(lines) == len(CUES)
    assert all(lines)
    assert lines == [one.text for one in translator.translate_document(CUES)]


def test_subtitle_edits_other_engine_speaks_deepl(listening: int, translator: Translator) -> None:
    text = "\n".join(CUES * 9)
    assert 1_000 < len(text) <= 1_500, "seven times as much as in the other"
    head = """
POST /v2/translate HTTP/1.1
Host: 127.0.0.1
Authorization: DeepL-Auth-Key any
Content-Type: application/json; charset=utf-8
"""
    body = json.dumps({"text": [text], "source_lang": "EN", "target_lang": "DE"}).encode()
    (translation,) = ask(listening, head, body)["translations"]
    assert len(translation["text"].split("\n")) == 9 * len(CUES)


def test_weblate_gets_a_list_for_a_list(listening: int, translator: Translator) -> None:
    texts = ["Save", "Save as…", "%(count)s files were deleted.", "", "Save"]
    head = """
POST /translate HTTP/1.1
Host: 127.0.0.1
User-Agent: Weblate/5
Accept-Encoding: gzip, deflate, br
Accept: */*
Content-Type: application/json
"""
    body = json.dumps({"source": "en", "target": "de", "q": texts, "api_key": ""}).encode()
    found = ask(listening, head, body)["translatedText"]
    assert len(found) == len(texts)
    assert found[3] == ""
    assert found[0] == found[4], "strings of a program are no document"


def test_mastodon_gets_its_tags_back(listening: int) -> None:
    post = (
        '<p>Hello <a href="https://example.org/@anna" class="mention">@anna</a>!<br>It is old.</p>'
    )
    head = """
POST /translate HTTP/1.1
User-Agent: Mastodon/4.5.0 (http.rb/5.3.1; +https://example.org/)
Host: 127.0.0.1
Content-Type: application/json
"""
    fields = {"q": [post], "source": "auto", "target": "de", "format": "html", "api_key": ""}
    answer = ask(listening, head, json.dumps(fields).encode())
    (text,) = answer["translatedText"]
    assert answer["detectedLanguage"][0]["language"] == "en"
    assert [text.count(tag) for tag in ("<p>", "</p>", "<a href", "</a>", "<br>")] == [1] * 5
