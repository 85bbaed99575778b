"""Which texts are taken for running text, and which have a sentence a line."""

import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.segments.text_kind import TextKind, kind_of

ROOT = Path(__file__).parents[3]
TALK = (
    "When I was nine my grandfather took me to the lighthouse. He was its last keeper, and he knew"
    " every stone of it. There were two hundred and twelve steps. I have never forgotten that"
    " number, though somebody who measured the tower in 1974 says that there are 213."
)
SENTENCES = TALK.replace(". ", ".\n")
RUSSIAN = "Она пришла домой поздно. Никто её не ждал, и свет в доме давно погас. Тогда она легла."
ARABIC = "وصلت إلى البيت متأخرة. لم يكن أحد ينتظرها وكان الضوء مطفأ منذ زمن. ثم نامت حتى الصباح."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (textwrap.fill(TALK, 72), "wrapped"),
        (textwrap.fill(TALK, 40), "wrapped"),
        ("A title\n\n" + textwrap.fill(TALK, 72, initial_indent="    "), "wrapped"),
        (textwrap.fill(f"{TALK} {TALK}", 72).replace("\n", "\r\n"), "wrapped"),
        (textwrap.fill(f"{RUSSIAN} {RUSSIAN}", 50), "wrapped"),
        (textwrap.fill(f"{ARABIC} {ARABIC}", 50), "wrapped"),
        (TALK, "paragraphs"),
        (f"A title\n\n{TALK}\n\n{TALK}", "paragraphs"),
        (RUSSIAN, "paragraphs"),
        (ARABIC, "paragraphs"),
        ("她很晚才到家。没有人在等她。", "paragraphs"),
        (SENTENCES, "lines"),
        (f"{SENTENCES}\n\n{SENTENCES}\n", "lines"),  # documents between blank lines
        (RUSSIAN.replace(". ", ".\n"), "lines"),
        ("she came home late\nnobody was waiting\nthen she slept\n", "lines"),
        ("She came home late .\nNobody was waiting .\nThen she slept .\n", "lines"),
        ("Yes. No.\n" + SENTENCES, "lines"),  # a line of two sentences among others
        ("Mr. Fox came.\nDr. No went.\n", "lines"),
        ("", "lines"),
        ("\n\n", "lines"),
    ],
)
def test_a_text_is_judged_by_its_lines(text: str, kind: TextKind) -> None:
    assert kind_of(text) == kind


@given(
    st.lists(st.lists(st.sampled_from(["der", "Hund", "bellt", "x", "42"]), min_size=1)),
    st.sampled_from(["", ".", " .", "?"]),
)
def test_lines_without_an_end_inside_are_sentences_unless_all_are_full(
    lines: list[list[str]], end: str
) -> None:
    text = "".join(
        " ".join([*words, "x" * (n % 2 * 150)]) + end + "\n" for n, words in enumerate(lines)
    )
    assert kind_of(text) == "lines"


def test_sentences_of_equal_length_in_small_letters_stay_lines() -> None:
    """As made corpora have them: every line is full, but nothing says that sentences end."""
    assert kind_of("a b c d e f g h i j k l m n o p q r\n" * 50) == "lines"


def test_a_licence_is_wrapped() -> None:
    assert kind_of((ROOT / "LICENSE").read_text(encoding="utf-8")) == "wrapped"
