"""Counts that are reported to the user, and the context that a document carries along."""

import pytest

from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.translation import History, Passage, Report
from concatmt.errors import UserError


def test_reports_add_up_count_by_count_and_term_by_term() -> None:
    total = Report(sentences=2, unknown=1)
    total.count_term("sea", 2, 1)
    other = Report(sentences=3, copied=1)
    other.count_term("sea", 1, 1)
    other.count_term("ship", 1, 0)
    total.add(other)
    assert (total.sentences, total.unknown, total.copied) == (5, 1, 1)
    assert total.terms == {"sea": [3, 2], "ship": [1, 0]}
    assert total.messages(TranslateConfig()) == [
        "1 source tokens are unknown to the vocabulary",
        "1 translations came out empty: the source was copied",
        "glossary: 2 of 4 terms honoured",
        "glossary: sea: 2 of 3",
        "glossary: ship: 0 of 1",
    ]


def test_wrong_numbers_of_sentences_are_only_possible_without_the_constraint() -> None:
    report = Report(sentences=8, miscounts=2)
    assert report.messages(TranslateConfig()) == []
    free = TranslateConfig(search=SearchConfig(constrained=False))
    assert report.messages(free)[0].startswith(
        "wrong number of sentences in 2 of 8 windows (25.00%)"
    )


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, []), (1, [[3]]), (2, [[2], [3]]), (9, [[1], [2], [3]])]
)
def test_the_history_keeps_as_many_sentences_as_are_context(
    limit: int, kept: list[list[int]]
) -> None:
    history = History()
    for number in (1, 2, 3):
        history.push([number], [10 * number], limit)
    assert history.source == kept
    assert history.target == [[10 * sentence[0]] for sentence in kept]


def test_a_string_is_no_document() -> None:
    with pytest.raises(UserError, match="list of sentences"):
        Passage("one sentence")
    with pytest.raises(ValueError, match="as many given translations"):
        Passage(["a", "b"], given=[None])
    assert Passage(["a", "b"], given=[None, "B"]).settled(1) == "B"
