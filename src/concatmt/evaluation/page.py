"""Writes a report as one self-contained HTML page with plots and sortable tables.

Light or dark like the reader's system, for wide and narrow screens. Knows reports, not
measures.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from concatmt.evaluation.charts import hinted
from concatmt.evaluation.findings import (
    Block,
    Picture,
    Report,
    Section,
    Table,
    numeric_columns,
)

ROWS = 16  # of a table; longer ones start folded


def page(report: Report) -> str:
    """The whole page."""
    terms = {term: text for section in report.sections for term, text in section.terms.items()}
    shown = [section for section in report.sections if section.blocks]
    anchors = {f"s{number}": section for number, section in enumerate(shown, start=1)}
    links = [
        f'<a href="#{anchor}">{escape(section.title)}</a>' for anchor, section in anchors.items()
    ]
    bodies = [_section(anchor, section, terms) for anchor, section in anchors.items()]
    if any('id="documents"' in body for body in bodies):
        links.append('<a href="#documents">Documents</a>')
    if terms:
        links.append('<a href="#words">Words</a>')
    said = [*([report.verdict] if report.verdict else []), *report.answers]
    verdict = "".join(f'<p class="verdict">{escape(sentence)}</p>' for sentence in said)
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in report.remarks)
    parts = [
        f"<header><h1>{escape(report.title)}</h1>{verdict}",
        f'<ul class="remarks">{remarks}</ul>' if remarks else "",
        f"<nav>{''.join(links)}</nav></header>",
        *bodies,
        _left_out(report.left_out),
        _words(terms),
        _colophon(report),
    ]
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width, initial-scale=1"><title>{escape(report.title)}</title>'
        f'<meta name="color-scheme" content="light dark"><style>{style}</style></head><body>'
        f"{''.join(parts)}<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    file = resources.files("concatmt").joinpath("evaluation", name)
    return file.read_text(encoding="utf-8")


def _section(anchor: str, section: Section, terms: Mapping[str, str]) -> str:
    blocks = "".join(_block(block, terms) for block in section.blocks)
    signatures = ""
    if section.signatures:
        lines = "".join(
            f"<li><code>{escape(signature)}</code></li>" for signature in section.signatures
        )
        signatures = f"<details><summary>Signatures</summary><ul>{lines}</ul></details>"
    return f'<section id="{anchor}"><h2>{escape(section.title)}</h2>{blocks}{signatures}</section>'


def _block(block: Block, terms: Mapping[str, str]) -> str:
    if not isinstance(block, Picture) and block.shown == "text":
        return ""
    if isinstance(block, Picture):
        caption = f'<p class="caption">{escape(block.caption)}</p>' if block.caption else ""
        plots = f'<div class="plots">{block.html}</div>' if "<figure" in block.html else block.html
        return f"{plots}{caption}" if "<h3" in block.html else f"{caption}{plots}"
    if isinstance(block, Table):
        return table(block, terms)
    if block.heading:
        return f"<h3>{escape(block.text)}</h3>"
    return "".join(f"<p>{escape(line)}</p>" for line in block.text.splitlines())


def table(content: Table, terms: Mapping[str, str]) -> str:
    """A table with sortable columns; numbers are aligned right."""
    numeric = numeric_columns(content)
    heads = "".join(
        f'<th class="num" scope="col">{_explained(name, terms)}</th>'
        if number
        else f'<th scope="col">{_explained(name, terms)}</th>'
        for name, number in zip(content.header, numeric, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(map(_cell, row, numeric, [terms] * len(row))) + "</tr>"
        for row in content.rows
    )
    blocks = (
        f'<div class="wide"><table class="sortable"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    if len(content.rows) <= ROWS:
        return blocks
    return f"<details><summary>Table of {len(content.rows)} figures</summary>{blocks}</details>"


def _cell(cell: str, numeric: bool, terms: Mapping[str, str]) -> str:
    bold = cell.startswith("**") and cell.endswith("**") and len(cell) > 4
    text = _explained(cell.strip("*") if bold else cell, terms)
    value = re.search(r"[+-]?\d[\d,]*\.?\d*", cell) if numeric else None
    kind = ' class="num"' if numeric else ""
    order = f' data-v="{value.group().replace(",", "")}"' if value else ""
    return f"<td{kind}{order}>{f'<strong>{text}</strong>' if bold else text}</td>"


def _explained(text: str, terms: Mapping[str, str]) -> str:
    """Text with its explanation on hover, if it has one."""
    return hinted(text, terms.get(text, ""))


def _left_out(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    lines = "".join(f"<li>{escape(text)}</li>" for text in left_out)
    return f'<section id="left-out"><h2>Left out</h2><ul>{lines}</ul></section>'


def _words(terms: Mapping[str, str]) -> str:
    if not terms:
        return ""
    ordered = sorted(terms.items(), key=lambda pair: pair[0].lower())
    pairs = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in ordered)
    return f'<section id="words"><h2>Words</h2><dl>{pairs}</dl></section>'


def _colophon(report: Report) -> str:
    """The footer: date, command and systems."""
    facts = report.facts
    lines = []
    for key, what in (("date", "Made on"), ("command", "by"), ("version", "with concatmt")):
        if facts.get(key):
            lines.append(f"{what} <code>{escape(str(facts[key]))}</code>")
    systems = table(report.systems, {}) if report.systems is not None else ""
    return f"<footer><h2>Systems</h2>{systems}<p>{' '.join(lines)}</p></footer>"
