"""What `translate` writes has a line for each sentence, with all that is known if asked for."""

import json

from concatmt.corpus.parts import Part
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translation import Alternative, Translation
from concatmt.signature import Signature

WORDS = {5: "ein", 6: "Haus", 7: "Satz"}


def alternative(*window: list[int], score: float = -1.0) -> Alternative:
    return Alternative(
        " ".join(WORDS[token] for token in window[-1]),
        score,
        2 * score,
        list(window),
        lambda tokens: " ".join(WORDS[token] for token in tokens),
    )


TRANSLATIONS = [
    Translation("", ""),
    Translation(
        "a house\u2028",
        "ein Haus",
        -0.5,
        alternatives=[alternative([7], [5, 6], score=-0.5), alternative([6], score=-2.0)],
    ),
]
PART = Part("d", first=3, source=["", "a house\u2028"], blank=2)


def test_text_has_the_blank_lines_of_the_input_and_a_line_for_each_sentence() -> None:
    assert Writer("text").part(PART, TRANSLATIONS) == "\n\n\nein Haus\n"
    assert Writer("text").head(Signature({"model": "x"})) == ""


def test_jsonl_has_a_record_for_each_sentence_with_its_place_in_the_document() -> None:
    lines = Writer("jsonl").part(PART, TRANSLATIONS).split("\n")
    records = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == ""
    assert [(one["document"], one["sentence"]) for one in records] == [("d", 3), ("d", 4)]
    assert records[1] == {
        "document": "d",
        "sentence": 4,
        "source": "a house\u2028",
        "translation": "ein Haus",
        "score": -0.5,
    }
    head = json.loads(Writer("jsonl").head(Signature({"model": "x"})))
    assert head["signature"]["model"] == "x"


def test_alternatives_and_windows_are_written_if_asked_for() -> None:
    lines = Writer("jsonl", nbest=True, windows=True).part(PART, TRANSLATIONS).split("\n")
    empty, full = (json.loads(line) for line in lines[:-1])
    assert [one["translation"] for one in full["nbest"]] == ["ein Haus", "Haus"]
    assert [one["log_prob"] for one in full["nbest"]] == [-1.0, -4.0]
    assert full["window"] == ["Satz", "ein Haus"]
    assert (empty["nbest"], empty["window"]) == ([], [""])
