"""Translations side by side: the words that differ are marked, and no others."""

import pytest

from concatmt.evaluation.side_by_side import marked, side_by_side


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Он пел .", "Она пела .", ("**Он** **пел** .", "**Она** **пела** .")),
        ("a b c", "a b c", ("a b c", "a b c")),
        ("a b", "a x b", ("a b", "a **x** b")),
        ("", "a", ("", "**a**")),
    ],
)
def test_words_that_differ_are_marked(first: str, second: str, expected: tuple[str, str]) -> None:
    assert marked(first, second) == expected


def test_sentences_come_with_their_translations() -> None:
    text = side_by_side(["one", "", "two"], [("a", ["x", "", "y z"]), ("long", ["x", "", "y w"])])
    assert text.split("\n") == [
        *("one", "  a     x", "  long  x", ""),
        *("two", "  a     y **z**", "  long  y **w**"),
    ]


def test_of_three_only_those_after_the_first_are_marked() -> None:
    systems = [("a", ["x y"]), ("b", ["x z"]), ("c", ["w y"])]
    assert side_by_side(["one"], systems).split("\n")[1:] == [
        *("  a  x y", "  b  x **z**", "  c  **w** y"),
    ]


def test_sentences_that_are_all_the_same_can_be_left_out() -> None:
    systems = [("a", ["x", "y"]), ("b", ["x", "z"])]
    assert "one" not in side_by_side(["one", "two"], systems, differing_only=True)
