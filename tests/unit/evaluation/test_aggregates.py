"""The paper's aggregates. Expected values: its formulas, worked out by hand."""

import pytest

from concatmt.evaluation.aggregates import contrapro, distance_bin, voita

VOITA_SIZES = {"deixis": 2500, "lex_cohesion": 1500, "ellipsis_infl": 500, "ellipsis_vp": 500}
CP_SIZES = {"d=0": 2400, "d=1": 7075, "d=2": 1510, "d=3": 573, "d>3": 442}


def test_voita_weighs_phenomena_by_their_size_and_voita_avg_does_not() -> None:
    accuracies = {"deixis": 80, "lex_cohesion": 40, "ellipsis_infl": 60, "ellipsis_vp": 20}
    found = voita(accuracies, VOITA_SIZES)
    assert found["Voita"] == pytest.approx((200_000 + 60_000 + 30_000 + 10_000) / 5000)
    assert found["Voita_avg"] == 50


def test_only_cp_includes_antecedents_within_the_sentence() -> None:
    accuracies = {"d=0": 100, "d=1": 0, "d=2": 0, "d=3": 0, "d>3": 40}
    found = contrapro(accuracies, CP_SIZES)
    assert found["CP_d>0"] == pytest.approx(442 * 40 / 9600)
    assert found["CP_avg"] == 10
    assert found["CP"] == pytest.approx((240_000 + 442 * 40) / 12000)


def test_distances_above_three_share_a_bin() -> None:
    assert [distance_bin(d) for d in (0, 3, 4, 17)] == ["d=0", "d=3", "d>3", "d>3"]
