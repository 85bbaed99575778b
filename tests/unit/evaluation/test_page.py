"""A page is whole by itself, escapes what it is given, and every link in it leads somewhere."""

import re
from html.parser import HTMLParser

from concatmt.evaluation.findings import Picture, Prose, Report, Section, Table
from concatmt.evaluation.page import ROWS, page, table

VOID = {"meta", "img", "br", "link", "input", "hr", "line", "circle", "polyline"}


class Tags(HTMLParser):
    """Checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.count: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.stack.pop() == tag


def report(rows: int = 2) -> Report:
    cells = [(f"<b>{n}", "**+1.50 (2)**" if n else "0.25", "1,234") for n in range(rows)]
    section = Section(
        "m",
        "Measure & more",
        [
            Prose("for <people>"),
            Prose("told elsewhere", shown="text"),
            Picture("<p>plot</p>", "a < b"),
            Table(("figure", "accuracy", "n"), cells),
        ],
        signatures=["x: K:4"],
        clauses={"x": "x wins"},
        best="x",
        terms={"accuracy": 'share of "right" items', "0.25": "a cell that needs a word"},
    )
    facts = {"date": "2026-01-31", "command": "concatmt evaluate 'a b'", "version": "0.1"}
    systems = Table(("run", "from"), [("x", "runs/x")])
    return Report("Report", [section, Section("n", "Nothing")], systems, ["mind <this>"], facts)


def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere() -> None:
    html = page(report())
    tags = Tags()
    tags.feed(html)
    assert tags.stack == []
    assert not re.findall(r'(?:src|href)="(?!#|data:)', html)
    assert "http" not in html
    links = set(re.findall(r'href="#([^"]*)"', html))
    assert links == {"s1", "words"}
    assert links <= set(re.findall(r'id="([^"]*)"', html))


def test_a_page_begins_with_the_verdict_and_ends_with_where_it_comes_from() -> None:
    html = page(report())
    assert html.index("x wins.") < html.index("Measure &amp; more") < html.index("x: K:4")
    for fact in ("2026-01-31", "concatmt evaluate &#x27;a b&#x27;", "runs/x"):
        assert html.index(fact) > html.index("x: K:4")
    assert "<people>" not in html
    assert "told elsewhere" not in html
    assert "Nothing" not in html
    assert "prefers-color-scheme:dark" in html


def test_tables_have_real_cells_with_values_to_sort_by_and_words_explained() -> None:
    html = page(report())
    assert '<td class="num" data-v="1234">1,234</td>' in html
    assert '<td class="num" data-v="+1.50"><strong>+1.50 (2)</strong></td>' in html
    assert '<abbr title="share of &quot;right&quot; items">accuracy</abbr>' in html
    assert "<dt>accuracy</dt>" in html
    assert "**" not in html
    assert "| " not in html


def test_long_tables_are_closed_until_somebody_opens_them() -> None:
    assert "<details>" not in table(Table(("a",), [("1",)] * ROWS), {})
    assert f"Table of {ROWS + 1} figures" in table(Table(("a",), [("1",)] * (ROWS + 1)), {})
