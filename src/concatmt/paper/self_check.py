"""Does the paper agree with itself? Its aggregates recomputed, its tables and text compared.

Everything is computed from the printed figures. Statements without figures
(hyper-parameters, data preparation) cannot be checked here.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from concatmt.evaluation.aggregates import contrapro, voita
from concatmt.paper.printed import Claim, Paper, Table

TOLERANCE = 0.01  # for two decimals: half a hundredth, plus the rounding of the parts
PRINTED = 0.005 + 1e-9
TRUNCATED = 0.01 - 1e-9
COLUMNS = {
    "Deixis": "deixis",
    "Lex co.": "lex_cohesion",
    "Ell. inf": "ellipsis_infl",
    "Ell. vp": "ellipsis_vp",
}
FULL_NAMES = {"ContraPro": "CP"}


@dataclass(frozen=True, slots=True)
class Recomputed:
    """An aggregate of a row, as printed and as it follows from the parts."""

    table: str
    system: str
    name: str
    printed: float
    computed: float

    @property
    def agrees(self) -> bool:
        return abs(self.printed - self.computed) <= TOLERANCE


def recompute(paper: Paper) -> Iterator[Recomputed]:
    """Every aggregate of every row whose parts are printed beside it."""
    sizes: dict[str, int] = {}
    for table in paper.tables.values():
        sizes |= {COLUMNS.get(column, column): n for column, n in table.sizes().items()}
    for name, table in paper.tables.items():
        for system in table.rows:
            row = {
                COLUMNS.get(column, column): value for column, value in table.row(system).items()
            }
            if "deixis" in row:
                computed = voita(row, sizes)
            elif "d=0" in row:
                computed = contrapro(row, sizes)
            else:
                continue
            for aggregate, value in computed.items():
                if aggregate in row:
                    yield Recomputed(name, system, aggregate, row[aggregate], value)


def inconsistencies(paper: Paper) -> list[str]:
    """The disagreements, one sentence each."""
    return [
        *_aggregates(paper),
        *_counts(paper),
        *_columns(paper),
        *_claims(paper),
        *_formulas(paper),
        *_bold(paper),
        *_corpora(paper),
    ]


def _aggregates(paper: Paper) -> Iterator[str]:
    for row in recompute(paper):
        if not row.agrees:
            yield (
                f"{row.table}, {row.system}: {row.name} is printed as {row.printed:.2f},"
                f" but its parts give {row.computed:.2f}"
            )


def _counts(paper: Paper) -> Iterator[str]:
    """An accuracy is a count over the number of items, so few figures are possible."""
    for name, table in paper.tables.items():
        parts = {c: n for c, n in table.sizes().items() if c in COLUMNS or c.startswith("d")}
        cut = 0
        for system in table.rows:
            row = table.row(system)
            for column, items in parts.items():
                below, nearest = _from_counts(row[column], items)
                if not nearest and not below:
                    yield f"{name}, {system}: {row[column]} of {items} {column} is not a count"
                cut += below and not nearest
        if cut:
            yield f"{name}: {cut} accuracies are cut off after two decimals, not rounded"


def _from_counts(figure: float, items: int) -> tuple[bool, bool]:
    """Whether `figure` is some count over `items` cut off, and whether it is one rounded."""
    exact = [100 * count / items for count in _near(figure * items / 100)]
    cut = any(-1e-9 <= value - figure <= TRUNCATED for value in exact)
    return cut, any(abs(value - figure) <= PRINTED for value in exact)


def _near(value: float) -> range:
    return range(math.floor(value) - 1, math.ceil(value) + 2)


def _columns(paper: Paper) -> Iterator[str]:
    """A headline column should be the column of that name in the table of details."""
    for name, table in paper.tables.items():
        if table.details is None:
            continue
        details = paper.tables[table.details]
        shared = [system for system in table.rows if system in details.rows]
        column = table.columns[0]
        meant = FULL_NAMES.get(column, column)
        equal = [
            candidate
            for candidate in details.columns
            if all(table.row(s)[column] == details.row(s)[candidate] for s in shared)
        ]
        if meant not in equal:
            pairs = ", ".join(
                f"{table.row(s)[column]:.2f} for {details.row(s)[meant]:.2f}" for s in shared
            )
            verdict = f"is {' and '.join(equal)}" if equal else "is none of its columns"
            yield f"{name}: the column {column} {verdict} of {table.details}, not {meant} ({pairs})"


def _claims(paper: Paper) -> Iterator[str]:
    for claim in paper.claims:
        wrong = [
            f"{row} {column} {gain:+.2f}"
            for row in claim.rows
            for column, gain in _gains(paper, claim, row)
            if not claim.holds(gain)
        ]
        if wrong:
            yield f'"{claim.text}": {"; ".join(wrong)}{_elsewhere(paper, claim)}'


def _gains(paper: Paper, claim: Claim, row: str) -> Iterator[tuple[str, float]]:
    here, there = paper.tables[claim.table], paper.tables[claim.over_table or claim.table]
    over_columns = claim.over_columns or claim.columns
    for column, over_column in zip(claim.columns, over_columns, strict=True):
        yield column, here.row(row)[column] - there.row(claim.over)[over_column]


def _elsewhere(paper: Paper, claim: Claim) -> str:
    """What the claim comes to in the columns of the tables of details."""
    here, there = _details(paper, claim.table), _details(paper, claim.over_table or claim.table)
    if here is None or there is None or len(claim.rows) > 1:
        return ""
    row = claim.rows[0]
    if row not in here.rows or claim.over not in there.rows:
        return ""
    gains = {
        column: here.row(row)[column] - there.row(claim.over)[column]
        for column in here.columns
        if column.startswith(("CP", "Voita"))
    }
    told = (f"{c} {g:+.2f}{' (holds)' if claim.holds(g) else ''}" for c, g in gains.items())
    return f"; by the details {', '.join(told)}"


def _details(paper: Paper, name: str) -> Table | None:
    details = paper.tables[name].details
    return None if details is None else paper.tables[details]


def _formulas(paper: Paper) -> Iterator[str]:
    for formula in paper.formulas:
        columns = paper.tables[formula.table].columns
        unknown = [term for term in formula.terms if term not in columns]
        if unknown:
            yield (
                f"the formula of {formula.name} adds up {', '.join(formula.terms)}, but"
                f" {formula.table} has no column {', '.join(unknown)}"
            )


def _bold(paper: Paper) -> Iterator[str]:
    for name, table in paper.tables.items():
        best = max(row[0] for row in table.rows.values())
        for system in table.bold:
            if table.rows[system][0] < best:
                yield f"{name}: {table.rows[system][0]:.2f} is bold, but the best is {best:.2f}"


def _corpora(paper: Paper) -> Iterator[str]:
    for ratio in paper.ratios:
        times = paper.corpora[ratio.larger].sentences / paper.corpora[ratio.smaller].sentences
        if not ratio.times / 2 <= times <= ratio.times * 2:
            yield f'"{ratio.text}": {times:.0f} times'
    for name, corpus in paper.corpora.items():
        if round(corpus.bpe) != corpus.shift == round(corpus.words):
            yield (
                f"{name}: the shift {corpus.shift} is the mean length in words ({corpus.words}),"
                f" but positions count BPE tokens ({corpus.bpe})"
            )
