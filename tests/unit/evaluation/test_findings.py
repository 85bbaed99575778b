"""Reports say the same in Markdown and JSON, and the verdict is one sentence."""

import pytest

from concatmt.evaluation.findings import (
    Picture,
    Prose,
    Report,
    Section,
    Table,
    numeric_columns,
    p_text,
)

ACCURACY = Section(
    "contrastive",
    "Accuracy",
    [Prose("a\nb"), Picture("<svg>"), Table(("system", "n"), [("x", "1")], shown="page")],
    {"n": 1},
    ["x: K:4"],
    clauses={"x": "x prefers it in 50.0%", "y": "y prefers it in 60.0%, x in 50.0%"},
    best="y",
    left_out=["z: too short"],
)
QUALITY = Section("context-use", "Use", clauses={"y": "y writes it", "x": "BLEU 1"}, json=[2])
BLEU = Section("quality", "BLEU", clauses={"y": "BLEU +7.5"}, best="y", left_out=["z: too short"])


def test_the_verdict_is_about_the_best_system_and_names_it_once() -> None:
    report = Report("R", [ACCURACY, QUALITY, BLEU])
    assert report.verdict == "y prefers it in 60.0%, x in 50.0%; writes it; BLEU +7.5."
    assert Report("R", [BLEU]).verdict == "y: BLEU +7.5."
    assert Report("R", [Section("m", "M")]).verdict == ""


def test_markdown_has_no_pictures_and_nothing_that_is_for_the_page() -> None:
    report = Report("R", [ACCURACY, QUALITY], Table(("run",), [("x",)]), ["mind this"])
    assert report.markdown == (
        "# R\n\ny prefers it in 60.0%, x in 50.0%; writes it.\n\n| run |\n|-----|\n| x   |\n\n"
        "* mind this\n\n## Accuracy\n\na\nb\n\nsignature: x: K:4\n\n## Left out\n\n* z: too short"
    )


def test_json_has_measures_under_their_names() -> None:
    found = Report("R", [ACCURACY, QUALITY, BLEU], facts={"version": "1"}).json
    assert found["contrastive"] == {"n": 1}
    assert found["context_use"] == [2]
    assert found["version"] == "1"
    assert found["left_out"] == ["z: too short"]
    assert "quality" not in found


def test_columns_of_numbers_are_known_by_their_cells() -> None:
    rows = [
        ("1st", "1,234", "**+1.0 (2)**", "[0.5, 2]", "< 0.001", "", "12.5%", "1 a"),
        ("a", "-", "", "-", "0.5", "", "3%", "x"),
    ]
    table = Table(tuple("abcdefgh"), rows)
    assert numeric_columns(table) == [False, True, True, True, True, False, True, False]


@pytest.mark.parametrize(("value", "text"), [(0.0004, "< 0.001"), (0.0114, "0.011"), (1, "1.000")])
def test_p_values_are_never_zero(value: float, text: str) -> None:
    assert p_text(value) == text
