"""Contrastive sets whose context was changed."""

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.config import Kind
from concatmt.evaluation.perturbed_sets import perturb
from concatmt.evaluation.sets import ContrastiveItem


def item(number: int, context: int = 3) -> ContrastiveItem:
    source = [f"s{number}.{place}" for place in range(context)]
    target = [sentence.replace("s", "t") for sentence in source]
    candidates = [[*target, "right"], [*target, "wrong"]]
    return ContrastiveItem(
        f"i{number}", [*source, "now"], candidates, 1, "set", "tv", 2, f"o{number}", f"d{number}"
    )


ITEMS = [item(number) for number in range(20)]


@pytest.mark.parametrize("kind", ["none", "random", "shuffled", "other"])
def test_the_question_and_its_answer_stay_and_both_sides_change_alike(kind: Kind) -> None:
    records, unchanged = perturb(ITEMS, kind, seed=1)
    assert unchanged == 0
    for old, new in zip(ITEMS, records, strict=True):
        assert new["source"][-1] == "now"
        assert new["candidates"] == ["right", "wrong"]
        assert (new["id"], new["correct"], new["orbit"]) == (old.id, 1, old.orbit)
        assert [s.replace("s", "t") for s in new["source"][:-1]] == new["context"]
        assert new["source"] != old.source


def test_shuffled_keeps_the_sentences_and_changes_their_order() -> None:
    for old, new in zip(ITEMS, perturb(ITEMS, "shuffled", seed=2)[0], strict=True):
        assert sorted(new["source"]) == sorted(old.source)


def test_other_is_the_whole_context_of_another_document() -> None:
    for number, new in enumerate(perturb(ITEMS, "other", seed=3)[0]):
        documents = {sentence.partition(".")[0] for sentence in new["source"][:-1]}
        assert len(documents) == 1
        assert documents != {f"s{number}"}


def test_one_context_sentence_has_no_other_order_and_is_counted() -> None:
    records, unchanged = perturb([item(0, context=1)], "shuffled", seed=1)
    assert unchanged == 1
    assert records[0]["source"] == ["s0.0", "now"]


def test_the_same_seed_gives_the_same_items() -> None:
    assert perturb(ITEMS, "random", seed=5) == perturb(ITEMS, "random", seed=5)
    assert perturb(ITEMS, "random", seed=5) != perturb(ITEMS, "random", seed=6)


def test_a_set_of_one_document_has_no_other() -> None:
    with pytest.raises(UserError, match="no other document has 3 sentences"):
        perturb(ITEMS[:1], "other", seed=1)


def test_candidates_with_contexts_of_their_own_are_refused() -> None:
    odd = ContrastiveItem("x", ["a", "b"], [["c", "d"], ["e", "f"]], 0, "set", "tv")
    with pytest.raises(UserError, match="item x: its candidates differ in the context"):
        perturb([odd], "none", seed=1)


def test_what_is_outside_the_window_stays_there() -> None:
    items = [item(number, context=5) for number in range(20)]
    for old, new in zip(items, perturb(items, "shuffled", seed=1, window=4)[0], strict=True):
        assert new["source"][:2] == old.source[:2]
        assert new["source"][2:] != old.source[2:]
        assert sorted(new["source"][2:5]) == sorted(old.source[2:5])
