"""Where sentences end; expected splits are what a reader would say."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.text.splitting import sentence_spans


def split(text: str, language: str = "en", **options: object) -> list[str]:
    return [text[a:b] for a, b in sentence_spans(text, language, **options)]  # type: ignore[arg-type]


def test_sentences_of_plain_text() -> None:
    assert split("Dr. Smith came. He left!  Why?") == ["Dr. Smith came.", "He left!", "Why?"]


def test_a_title_at_the_start_of_a_line_belongs_to_the_name_behind_it() -> None:
    assert split("M. Dupont est là. Il dort.", "fr") == ["M. Dupont est là.", "Il dort."]


def test_what_begins_small_goes_on_with_the_sentence_before() -> None:
    assert split("„Geh!“ sagte er. Sie ging.", "de") == ["„Geh!“ sagte er.", "Sie ging."]
    assert split("«Иди!» — сказал он. Она пошла.", "ru") == ["«Иди!» — сказал он.", "Она пошла."]


def test_a_quote_that_opens_begins_a_sentence_and_one_that_closes_does_not() -> None:
    assert split('It was dull. "Count," he said; we did. "No!" Why?') == [
        "It was dull.", '"Count," he said; we did.', '"No!"', "Why?",
    ]  # fmt: skip
    assert split("It was 'fine'. 'Not so,' she said.") == ["It was 'fine'.", "'Not so,' she said."]
    assert split("Er kam. »Hallo«, sagte er.", "de") == ["Er kam.", "»Hallo«, sagte er."]


def test_abbreviations_can_be_named() -> None:
    text = "See Kpt. Nemo. He dives."
    assert split(text, "en", abbreviations=["Kpt."])[0] == "See Kpt. Nemo."


@given(st.text(alphabet=st.sampled_from("aB .!?\n\"'—«»Müй。"), max_size=60))
def test_nothing_but_white_space_is_outside_of_sentences(text: str) -> None:
    spans = sentence_spans(text, "en")
    assert all(a < b for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))
    rest, at = "", 0
    for a, b in spans:
        rest, at = rest + text[at:a], b
    assert not (rest + text[at:]).strip()
