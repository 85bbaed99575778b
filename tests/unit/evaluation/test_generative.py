"""Generative accuracy: the expected form and no wrong one, in the current sentence."""

import json
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.generative import is_right, judge, read_expectations
from concatmt.evaluation.quality import Translated
from concatmt.evaluation.translations import TranslationFile


@pytest.mark.parametrize(
    ("translation", "right"),
    [
        ("Она была пыльная .", True),
        ("ОНА была «пыльная»!", True),
        ("Он был пыльный .", False),
        ("Онара была пыльная .", False),
        ("Она была , а он был пыльная .", False),
        ("", False),
    ],
)
def test_whole_words_count_whatever_their_case_and_punctuation(
    translation: str, right: bool
) -> None:
    assert is_right(translation, ["она", "Пыльная"], ["он", "оно"]) is right


def test_a_form_of_several_words_must_stand_together() -> None:
    assert is_right("das, was er sagt", ["was er"], [])
    assert not is_right("was sagt er", ["was er"], [])


def files(tmp_path: Path, **translations: str) -> tuple[Path, TranslationFile]:
    path = tmp_path / "expected.jsonl"
    records = [
        {"id": "a", "expected": ["sie"], "wrong": ["er"], "phenomenon": "pron", "orbit": "o"},
        {"id": "b", "expected": ["er"], "wrong": ["sie"], "phenomenon": "pron", "orbit": "o"},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    documents = tuple(("Er kam .", sentence) for sentence in translations.values())
    return path, TranslationFile("out.jsonl", tuple(translations), Translated(documents))


def test_only_the_current_sentence_is_looked_at(tmp_path: Path) -> None:
    path, translations = files(tmp_path, b="Er ging .", a="Er ging .")
    found = judge(translations, read_expectations(path))
    assert [(one.id, one.right) for one in found.outcomes] == [("a", 0.0), ("b", 1.0)]


def test_an_item_without_a_translation_is_named(tmp_path: Path) -> None:
    path, translations = files(tmp_path, a="Sie ging .")
    with pytest.raises(UserError, match="out.jsonl: no document 'b'"):
        judge(translations, read_expectations(path))
