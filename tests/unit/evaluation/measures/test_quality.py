"""BLEU and its kin: against figures worked out by hand and against sacrebleu's own tests."""

import math

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.measures.quality import (
    bleu,
    by_position,
    lines,
    look_tokenised,
    paired,
    score,
)
from concatmt.evaluation.translations import Translated, check_aligned


def text(*documents: str) -> Translated:
    return Translated(tuple(tuple(document.split("|")) for document in documents))


def value(ours: Translated, theirs: Translated, convention: str, name: str = "BLEU") -> float:
    found = score(ours, theirs, convention)  # type: ignore[arg-type]
    return next(one.value for one in found if one.name == name)


def test_bleu_of_the_paper_en_ru_by_hand() -> None:
    # multi-bleu.perl -lc on one pasted line. Hypothesis: a b c d e f g x (8 tokens), reference:
    # A b c d e f g h i (9). Matches: 7 of 8, 6 of 7, 5 of 6, 4 of 5; brevity exp(1 - 9/8).
    ours = text("a b|c d|e f|g x")
    theirs = text("A b|c d|e f|g h i")
    expected = 100 * math.exp(1 - 9 / 8) * (7 / 8 * 6 / 7 * 5 / 6 * 4 / 5) ** 0.25
    assert value(ours, theirs, "paper-en-ru") == pytest.approx(expected)


def test_without_smoothing_a_missing_order_makes_bleu_zero_as_in_multi_bleu() -> None:
    ours, theirs = text("a b c|x|x|x"), text("a b c|y|y|y")
    assert value(ours, theirs, "paper-en-ru") == 0


def test_bleu_of_the_paper_en_de_splits_punctuation_and_keeps_case_by_hand() -> None:
    # The tokens of mteval-v13a: "The cat sat , here ." against "the cat sat , here ." Matches:
    # 5 of 6, 4 of 5, 3 of 4, 2 of 3, and both have 6 tokens.
    ours, theirs = text("The cat sat, here."), text("the cat sat, here.")
    expected = 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert value(ours, theirs, "paper-en-de") == pytest.approx(expected)


def test_four_sentences_make_a_line_of_the_paper_en_ru_whatever_the_documents() -> None:
    assert lines(text("a|b|c", "d|e|f|g|h"), "paper-en-ru") == ["a b c d", "e f g h"]
    with pytest.raises(UserError, match="5 is no multiple of 4"):
        lines(text("a|b|c|d|e"), "paper-en-ru")


def test_document_bleu_counts_n_grams_across_sentences() -> None:
    ours, theirs = text("a b|c d"), text("a b|c d")
    assert value(ours, theirs, "document", "d-BLEU") == pytest.approx(100)
    assert value(ours, theirs, "sentence") < 100  # no sentence has a 4-gram: smoothed or none


def test_the_papers_bleu_passes_sacrebleus_own_test() -> None:
    # test/test_bleu.py of sacrebleu: two references, no smoothing.
    references = [
        ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
        ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
    ]
    ours = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
    assert bleu("paper-en-de").corpus_score(ours, references).score == pytest.approx(48.530827)


# test/test_chrf.py (effective order) and test/test_ter.py of sacrebleu.
@pytest.mark.parametrize(
    ("name", "ours", "theirs", "expected"),
    [
        ("chrF", "a b c", "abc", 100.0),
        ("chrF", "aa", "ab", 25.0),
        ("chrF", "", "reference", 0.0),
        ("TER", "aaaa bbbb cccc dddd", "aaaa bbbb cccc dddd", 0.0),
        ("TER", "dddd eeee ffff", "aaaa bbbb cccc", 100.0),
        ("TER", "d e f g h a b c", "a b c d e f g h", 12.5),
    ],
)
def test_chrf_and_ter_pass_sacrebleus_own_tests(
    name: str, ours: str, theirs: str, expected: float
) -> None:
    assert value(text(ours), text(theirs), "sentence", name) == pytest.approx(expected)


def test_every_figure_has_a_signature_that_says_its_unit() -> None:
    for convention in ("sentence", "document", "paper-en-ru", "paper-en-de"):
        for one in score(text("a|b|c|d"), text("a|b|c|d"), convention):  # type: ignore[arg-type]
            assert "version:" in one.signature
            assert one.signature.endswith(f"unit:{convention}")
    [ru] = score(text("a|b|c|d"), text("a|b|c|d"), "paper-en-ru")
    assert "case:lc" in ru.signature
    assert "tok:none|smooth:none" in ru.signature


def test_bleu_by_position_looks_at_each_place_alone() -> None:
    good, bad = "a b c d e", "v w x y z"
    found = by_position(
        text(f"{good}|{bad}|{good}|{good}|{good}", good),
        text(f"{good}|{good}|{good}|{good}|{good}", good),
    )
    assert {name: round(one.value) for name, one in found.items()} == {
        "1": 100,
        "2": 0,
        "3": 100,
        "4+": 100,
    }


def test_tokenised_references_are_recognised() -> None:
    assert look_tokenised(text("He slept .|She did .", "Why ?"))
    assert not look_tokenised(text("He slept.|She did . . .|They did.", "Why ?"))
    assert not look_tokenised(text("Why ?|Who"))


def test_a_document_of_another_length_is_named() -> None:
    with pytest.raises(UserError, match="out.txt: document 2 has 1 sentences, its reference 2"):
        check_aligned(text("a", "b"), text("a", "b|c"), "out.txt")
    with pytest.raises(UserError, match="1 documents, but the references have 2"):
        check_aligned(text("a"), text("a", "b"), "out.txt")


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_paired_tests_tell_a_better_system_from_an_equal_one(test: str) -> None:
    reference = [f"the {n} birds sang in the {n} trees" for n in range(60)]
    worse = [line.replace("birds", "fish").replace("sang", "swam") for line in reference]
    texts = {
        name: Translated((tuple(sentences),))
        for name, sentences in (("first", worse), ("same", worse), ("better", reference))
    }
    found = paired(texts, Translated((tuple(reference),)), "sentence", test, 200)  # type: ignore[arg-type]
    assert {name for name, _ in found} == {"same", "better"}
    assert found["better", "BLEU"] < 0.05
    assert found["better", "chrF"] < 0.05
    assert found["same", "BLEU"] == 1
