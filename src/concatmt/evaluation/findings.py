"""The contents of a report: sections of prose, tables and pictures, and their Markdown.

A measure makes a `Section`; this module writes it as Markdown, `page` as HTML. Knows neither
models nor figures.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from concatmt.tables import markdown_table

Where = Literal["everywhere", "page", "text"]


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, or a heading inside a section; lines stay lines."""

    text: str
    heading: bool = False
    shown: Where = "everywhere"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text; `**` around a cell makes it bold."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    shown: Where = "everywhere"


@dataclass(frozen=True, slots=True)
class Picture:
    """What only a page can show: HTML that is already escaped."""

    html: str
    caption: str = ""


Block = Prose | Table | Picture


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether context helps a system, as far as one measure can tell."""

    helps: bool | None  # None: no more than chance either way
    text: str


@dataclass(slots=True)
class Section:
    """The results of one measure."""

    measure: str  # its name
    title: str
    blocks: list[Block] = field(default_factory=list)
    json: Any = None  # the results as plain values
    signatures: list[str] = field(default_factory=list)
    # By system: its clause in the sentence at the top, compared with the first system.
    clauses: Mapping[str, str] = field(default_factory=dict)
    best: str | None = None  # the system that the sentence at the top should be about
    evidence: dict[str, list[Evidence]] = field(default_factory=dict)  # by system
    terms: Mapping[str, str] = field(default_factory=dict)  # words that need an explanation
    left_out: list[str] = field(default_factory=list)  # what was not measured, and why
    files: Mapping[str, str] = field(default_factory=dict)  # written beside the report


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation, ready to be written as Markdown, JSON or a page."""

    title: str
    sections: Sequence[Section]
    systems: Table | None = None
    remarks: Sequence[str] = ()  # what a reader must know before reading figures
    facts: Mapping[str, Any] = field(default_factory=dict)  # for machines: version, settings, ...
    undertrained: Mapping[str, str] = field(default_factory=dict)  # system -> why it seems so

    @property
    def verdict(self) -> str:
        """One sentence about the best system against the first; empty if there is none."""
        best = next((section.best for section in self.sections if section.best), None)
        if best is None:
            return ""
        first, *others = [
            section.clauses[best] for section in self.sections if best in section.clauses
        ]
        lead = first if first.startswith(f"{best} ") else f"{best}: {first}"
        return "; ".join([lead, *(clause.removeprefix(f"{best} ") for clause in others)]) + "."

    @property
    def answers(self) -> list[str]:
        """Whether context helps, a sentence for each system of which something is known."""
        found: dict[str, list[Evidence]] = {}
        for section in self.sections:
            for name, evidence in section.evidence.items():
                found.setdefault(name, []).extend(evidence)
        return [
            _answer(name, evidence)
            + (" It seems undertrained, so this may change." if name in self.undertrained else "")
            for name, evidence in found.items()
        ]

    @property
    def left_out(self) -> list[str]:
        """What was not measured, each reason once."""
        return list(dict.fromkeys(text for section in self.sections for text in section.left_out))

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        parts = [f"# {self.title}"]
        parts += [self.verdict] if self.verdict else []
        parts += self.answers
        if self.systems is not None:
            parts.append(markdown_table(self.systems.header, self.systems.rows))
        if self.remarks:
            parts.append("\n".join(f"* {remark}" for remark in self.remarks))
        for section in self.sections:
            shown = [text for block in section.blocks if (text := _markdown(block))]
            if not shown:
                continue
            parts += [f"## {section.title}", *shown]
            if section.signatures:
                parts.append(
                    "\n".join(f"signature: {signature}" for signature in section.signatures)
                )
        if self.left_out:
            parts += ["## Left out", "\n".join(f"* {text}" for text in self.left_out)]
        return "\n\n".join(parts)

    @property
    def json(self) -> dict[str, Any]:
        """The report as plain values, each measure under its name, with all signatures."""
        measured = {
            section.measure.replace("-", "_"): section.json
            for section in self.sections
            if section.json
        }
        return {**self.facts, **self._answered(), **measured, "left_out": self.left_out}

    def _answered(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "context": self.answers}


def _answer(name: str, evidence: Sequence[Evidence]) -> str:
    """One sentence; measures that disagree are said to."""
    signs = {finding.helps for finding in evidence} - {None}
    if len(signs) > 1:
        lead = f"Whether context helps {name} depends on the measure"
    elif signs:
        lead = f"Context {'helps' if True in signs else 'harms'} {name}"
    else:
        lead = f"Context makes no difference to {name} that could not be chance"
    return f"{lead}: {'; '.join(finding.text for finding in evidence)}."


def _markdown(block: Block) -> str:
    if isinstance(block, Picture) or block.shown == "page":
        return ""
    if isinstance(block, Table):
        return markdown_table(block.header, block.rows)
    return f"### {block.text}" if block.heading else block.text


def is_number(cell: str) -> bool:
    """Whether a cell begins with a number, as in `+1.25 [0.50, 2.00]`, `[0.5, 2]` or `< 0.001`."""
    return re.match(r"\**(< )?\[?[+-]?\d[\d,]*(\.\d+)?($|[\s,%*(\[])", cell) is not None


def numeric_columns(table: Table) -> list[bool]:
    """Which columns have numbers, dashes and empty cells only."""
    findings = []
    for place in range(len(table.header)):
        cells = [row[place] for row in table.rows if row[place] not in ("", "-")]
        findings.append(bool(cells) and all(map(is_number, cells)))
    return findings


def p_text(p_value: float) -> str:
    """A p-value as readers expect it."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
