"""Files of translations and references, in documents."""

from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.translations import (
    Translated,
    check_aligned,
    read_references,
    read_translations,
)

REFERENCES = "a\nb\n\nc\n"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_blank_lines_divide_a_text_into_documents(tmp_path: Path) -> None:
    file = read_references(_write(tmp_path / "ref", "\n\na\nb\n\n \nc\n\n"))
    assert file.text.documents == (("a", "b"), ("c",))
    assert file.names == ("1", "2")


def test_an_empty_translation_beside_its_reference_ends_no_document(tmp_path: Path) -> None:
    references = _write(tmp_path / "ref", REFERENCES)
    translations = _write(tmp_path / "out", "A\n\n\nC\n")
    assert read_translations(translations, references).text.documents == (("A", ""), ("C",))
    # Alone, the empty line cannot be told from the end of a document.
    assert read_translations(translations).text.documents == (("A",), ("C",))


@pytest.mark.parametrize(
    ("translations", "message"),
    [
        ("A\nB\nC\nD\n", r"ref, line 3: a document boundary \(blank line\), but .*out has text"),
        ("A\nB\n\n", "out: 1 documents, but the references have 2"),
        ("A\nB\n\nC\nD\n", "out: document 2 has 2 sentences, its reference 1"),
        ("A\nB\n\n\nC\n", r"ref: ends after line 4, but .*out has 5 lines"),
    ],
)
def test_translations_of_another_text_are_refused_by_document_or_line(
    tmp_path: Path, translations: str, message: str
) -> None:
    references = _write(tmp_path / "ref", REFERENCES)
    with pytest.raises(UserError, match=message):
        read_translations(_write(tmp_path / "out", translations), references)


def test_jsonl_keeps_the_order_of_documents_and_the_signature(tmp_path: Path) -> None:
    lines = (
        '{"signature": {"beam": 4}}\n'
        '{"document": "y", "translation": "one"}\n'
        '{"document": "x", "translation": "two"}\n'
        '{"document": "y", "translation": "three"}\n'
    )
    file = read_translations(_write(tmp_path / "out.jsonl", lines))
    assert file.names == ("y", "x")
    assert file.text.documents == (("one", "three"), ("two",))
    assert file.signature is not None
    assert file.signature.values["beam"] == 4


def test_documents_of_other_lengths_are_refused_by_number() -> None:
    ours = Translated((("a",), ("b", "c")))
    check_aligned(ours, ours, "out")
    with pytest.raises(UserError, match="out: document 2 has 2 sentences, its reference 1"):
        check_aligned(ours, Translated((("a",), ("b",))), "out")
    with pytest.raises(UserError, match="out: 2 documents, but the references have 1"):
        check_aligned(ours, Translated((("a",),)), "out")
