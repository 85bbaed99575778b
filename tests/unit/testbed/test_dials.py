"""Dials that are wrong or contradict each other are told in one line."""

from typing import Any

import pytest

from concatmt.errors import UserError
from concatmt.testbed.dials import parse_dials
from concatmt.testbed.documents import draw_documents, training_recipe


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pair": "en-fr"}, "unknown pair; pairs are en-ru, en-de"),
        ({"tasks": ("prom",)}, "unknown task; tasks are pron, .*did you mean 'pron'"),
        ({"pair": "en-de", "tasks": ("spk",)}, "en-de does not have it: German verbs"),
        ({"weights": {"prom": 2}}, "--weights prom: unknown task; .*did you mean 'pron'"),
        ({"weights": {"vp": 2}, "tasks": ("tv",)}, "--weights vp: not among --tasks"),
        ({"weights": {"vp": 0}}, "--weights vp=0: give a whole number, 1 to 100"),
        ({"tasks": ("tv",), "density": 0}, "--density 0 leaves no room for the tasks"),
        ({"distance": 4}, "--distance 4 reaches beyond a window of 4 .* use the task far"),
        ({"distance": 2}, "distance: input should be greater than or equal to 3, found 2"),
        ({"documents": 2_000_000}, "2,001,000 documents are more than the 1,000,000 distinct"),
        ({"documents": 0}, "documents: .* greater than or equal to 1"),
        ({"items": 1_000_000}, "items: input should be less than or equal to 100000"),
        ({"window": 9}, "window: input should be less than or equal to 8"),
        ({"window": 3}, "window: input should be greater than or equal to 4"),
        ({"speakers": 4}, "speakers: input should be less than or equal to 3"),
        ({"density": 1.5}, "density: input should be less than or equal to 1"),
        ({"length": 1.0, "length_shift": 2.5}, "gives 3.5 adjuncts a sentence in the test"),
        ({"hold_out_distances": (5,)}, "cues stand at distances 1 to 3"),
        ({"hold_out_distances": (2,)}, "leaves nothing of tv in training .*distance 2"),
        ({"hold_out_words": 0.9}, "hold_out_words: input should be less than or equal to 0.5"),
    ],
)
def test_contradictions_are_reported_in_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        parse_dials(**{"pair": "en-ru", **values})
    assert "\n" not in str(error.value)


def test_tasks_come_in_the_order_of_the_card_and_default_to_all_that_the_pair_has() -> None:
    assert parse_dials(pair="en-ru", tasks=("tv", "pron")).active_tasks == ("pron", "tv")
    assert len(parse_dials(pair="en-ru").active_tasks) == 10
    assert "spk" not in parse_dials(pair="en-de").active_tasks


def test_a_grammar_that_runs_dry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    dials = parse_dials(pair="en-ru")
    monkeypatch.setattr("concatmt.testbed.documents.fingerprint", lambda sentences: b"same")
    with pytest.raises(UserError, match="no distinct document left after 1 of 5"):
        list(draw_documents(training_recipe(dials), "seed", 5, set()))
