"""Documents: sentences stream as they are done, and follow corrections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.translation import Report
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


def test_a_glossary_is_honoured_as_by_the_command_line_and_told(
    client: TestClient, folder: Path, tmp_path: Path
) -> None:
    lines_of_file = "lamp\tGarten\tHaus\nOLD\talt\nMoon\tMond"
    (tmp_path / "terms.tsv").write_text(lines_of_file)
    config = TranslateConfig(glossary=tmp_path / "terms.tsv")
    report = Report()
    expected = Translator.load(folder, config).translate_document(SENTENCES, report=report)
    as_object = {"lamp": ["Garten", "Haus"], "OLD": "alt", "Moon": ["Mond"]}
    for given in (lines_of_file, as_object):
        place, found = create(client, sentences=SENTENCES, glossary=given)
        assert [line["translation"] for line in found] == [one.text for one in expected]
        assert [list(line["terms"]) for line in found] == [["lamp"], ["OLD"], [], []]
        kept = {term: int(kept) for line in found for term, kept in line["terms"].items()}
        assert {term: [1, one] for term, one in kept.items()} == report.terms
    assert kept["lamp"], "the search aims at it"
    # A correction that lacks the term is told too, and those that follow have the glossary still.
    response = client.patch(place, json={"translations": {"0": "Anna kaufte ein Licht ."}})
    assert lines(response.text)[0]["terms"] == {"lamp": False}
    _, found = create(client, sentences=SENTENCES)
    assert "terms" not in found[0]


def test_a_glossary_comes_with_a_file_too(client: TestClient) -> None:
    data = PAIR | {"glossary": "hello\tHaus\r\n\r\nbye\tTag\tTage"}
    response = client.post("/documents", files={"file": ("a.txt", b"Hello there.")}, data=data)
    assert response.status_code == 201, response.text
    assert list(lines(response.text)[0]["terms"]) == ["hello"]


@pytest.mark.parametrize(
    ("glossary", "message"),
    [
        (["boat"], "glossary parameter must be an object of terms"),
        (7, "glossary parameter must be an object of terms"),
        ({"boat": 7}, "glossary parameter must be an object of terms"),
        ({"boat": [["x"]]}, "glossary parameter must be an object of terms"),
        ({"boat": []}, "glossary, line 1: expected a term, a tab and its translation"),
        ({"": "x"}, "glossary, line 1: expected a term"),
        ("boat\tnavire\nBoat\tbateau", "glossary, line 2: 'Boat' is listed twice"),
        ("boat = navire", "glossary, line 1: expected a term"),
        ({f"t{i}": "x" for i in range(501)}, "the glossary has 501 terms; the limit is 500"),
        ({"t": [f"x{i}" for i in range(11)]}, "a term has 11 forms; the limit is 10"),
        ({"t" * 101: "x"}, "a term or form has more than 100 characters"),
    ],
)
def test_what_is_no_glossary_is_refused(client: TestClient, glossary: Any, message: str) -> None:
    response = client.post("/documents", json={**PAIR, "text": "Hello.", "glossary": glossary})
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_odd_terms_do_no_harm(client: TestClient) -> None:
    odd = {"lamp": ["\u200b", "\x00x"], "old\u0301": "𝔘", ".": "?", "İt": "(", "a ) b": "\\"}
    _, found = create(client, sentences=SENTENCES, glossary=odd)
    assert all(line["translation"] for line in found)


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
