"""Generative accuracy: the expected form and no wrong one, in the current sentence."""

import json
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.expectations import read_expectations
from concatmt.evaluation.measures.generative import is_right, judge
from concatmt.evaluation.translations import Translated, TranslationFile


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


def test_a_form_of_several_words_must_be_consecutive() -> None:
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


def test_contrapro_and_ctxpro_say_what_they_expect(tmp_path: Path) -> None:
    contrapro = {
        "document id": "film.de",
        "segment id": 5,
        "src segment": "It is red.",
        "ref segment": "Es ist rot.",
        "ref pronoun": "es",
        "errors": [{"contrastive": "Er ist rot."}, {"contrastive": "Sie ist rot."}],
    }
    path = tmp_path / "contrapro.json"
    path.write_text(json.dumps([contrapro]), "utf-8")
    (one,) = read_expectations(path)
    assert (one.expected, one.wrong, one.source) == (("es",), ("er", "sie"), ("It is red.",))
    # The published rule (Post and Junczys-Dowmunt 2023) asks for the pronoun alone.
    file = TranslationFile("out", ("0",), Translated((("Sie sagt, es ist rot.",),)))
    assert [judge(file, [one], rule).outcomes[0].right for rule in ("absent", "ignored")] == [0, 1]
    lines = {"src": "It .", "ref": "Es .", "contrastive": ["Er ."], "ref_pronoun": "es"}
    lines |= {"src_context": [], "ref_context": [], "id": "a"}
    path.write_text(json.dumps(lines) + "\n", "utf-8")
    assert read_expectations(path)[0].wrong == ("er",)
    ctxpro = {key: contrapro[key] for key in ("document id", "src segment", "ref segment")}
    path.write_text(json.dumps([{**ctxpro, "expected": "es", "rule": "NOM.SING.NEUT"}]), "utf-8")
    (one,) = read_expectations(path)
    assert (one.expected, one.wrong, one.item.phenomenon) == (("es",), (), "NOM.SING.NEUT")
    path.write_text(json.dumps([ctxpro]), "utf-8")
    with pytest.raises(UserError, match="item 0: no expected form, which generative accuracy"):
        read_expectations(path)


def test_an_expectation_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    record = {"id": "a", "source": ["...", "It ."], "phenomenon": "pron", "distance": 1}
    record |= {"expected": ["es"], "wrong": ["er"]}
    path = tmp_path / "expected.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    (one,) = read_expectations(path)
    assert one.record() == record
