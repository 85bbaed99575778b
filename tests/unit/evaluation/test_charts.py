"""Plots take names as they are, and put marks where the numbers are."""

import re
import struct
import zlib
from base64 import b64decode

import pytest

from concatmt.evaluation.charts import (
    WIDTH,
    DotRow,
    Line,
    bar_plot,
    dot_plot,
    heat_map,
    line_plot,
    ticks,
)
from concatmt.evaluation.resampling import Estimate


def test_a_name_with_dollars_and_angles_is_a_name_and_no_formula() -> None:
    row = DotRow("<p>", "3", [Estimate(50.0, 40.0, 60.0)])
    for plot in (
        dot_plot([row], ["$\\frac$ <b>"], "%"),
        bar_plot({"$\\frac$ <b>": 1.0}, "BLEU"),
        line_plot([Line("$\\frac$ <b>", [(0, 0), (1, 1)]), Line("b", [(0, 1)])], "x", "y"),
    ):
        assert "$\\frac$ &lt;b&gt;" in plot
        assert "<b>$" not in plot


def test_dots_are_at_their_value_and_open_ones_are_not_significant() -> None:
    row = DotRow("tv", "3", [Estimate(25.0, 20.0, 40.0), Estimate(75.0, None, None)], 50.0)
    plot = dot_plot([row], ["a", "b"], "%")
    assert re.findall(r'class="dot c(\d)" style="left:([0-9.]+)%', plot) == [
        ("0", "25.00"),
        ("1", "75.00"),
    ]
    assert 'class="reach c0" style="left:20.00%;right:calc(100% - 40.00%)' in plot
    assert plot.count('class="reach') == 1
    assert 'class="mark" style="left:50.00%" title="chance 50.0%"' in plot
    gains = [DotRow("tv", "3", [Estimate(5.0, -1.0, 11.0)], 0.0, [False])]
    compared = dot_plot(gains, ["a", "b"], "points", first=1)
    assert 'class="dot c1 open"' in compared


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (-0.31, 1.2, [0, 0.5, 1.0]),
        (0, 2000, [0, 500, 1000, 1500, 2000]),
        (1, 3, [1, 1.5, 2, 2.5, 3]),
    ],
)
def test_ticks_are_round_numbers_inside_the_range(
    low: float, high: float, expected: list[float]
) -> None:
    assert ticks(low, high) == expected


def test_lines_go_up_where_numbers_do() -> None:
    plot = line_plot([Line("a", [(0, 1.0), (10, 10.0), (20, 100.0)])], "x", "y", log=True)
    [points] = re.findall(r'points="([^"]*)"', plot)
    places = [tuple(map(float, pair.split(","))) for pair in points.split()]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    first, second, third = (y for _, y in places)
    assert first - second == pytest.approx(second - third, abs=0.2)
    assert first > second
    assert line_plot([Line("a", [(0, 1.0)])], "x", "y")  # one point is no division by zero


def test_a_matrix_is_a_picture_of_its_numbers() -> None:
    html = heat_map([[1.0, 0.0, -1.0]], 1.0, "added")
    [data] = re.findall(r"base64,([^\"]*)", html)
    png = b64decode(data)
    assert struct.unpack(">II", png[16:24]) == (3, 1)
    start = png.index(b"IDAT")
    [size] = struct.unpack(">I", png[start - 4 : start])
    row = zlib.decompress(png[start + 4 : start + 4 + size])
    assert row == b"\0" + bytes([178, 24, 43, 255, 255, 255, 33, 102, 172])


def test_whole_numbers_have_whole_marks_and_the_last_one_stays_inside_the_plot() -> None:
    layers = line_plot([Line("a", [(1, 0.5), (2, 0.75)])], "layer", "%")
    assert re.findall(r">(\d+\.?\d*)</text>", layers)[-2:] == ["1", "2"]
    updates = line_plot([Line("a", [(0, 1.0), (2000, 0.5)])], "updates", "loss")
    assert f'x="{WIDTH:.1f}" y="226" text-anchor="end">2,000<' in updates
    halves = line_plot([Line("a", [(0, 1.0), (0.5, 0.5)])], "x", "y")
    assert ">0.1</text>" in halves
