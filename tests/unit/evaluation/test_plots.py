"""Plots take names as they are."""

import pytest

from concatmt.evaluation.accuracy import figures
from concatmt.evaluation.plots import accuracy_plot
from tests.unit.evaluation.scorers import system


def test_a_name_with_dollars_is_a_name_and_no_formula() -> None:
    pytest.importorskip("matplotlib")
    systems = [system("$\\frac$", [1, 0, 1, 1]), system("b", [1, 0, 0, 1])]
    svg = accuracy_plot(figures(systems), systems, compare=False)
    assert "$\\frac$" in svg
