"""Tables and JSON of an evaluation. Bold is only what is significant beside all the rest.

Knows figures, not how they were computed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from concatmt import __version__
from concatmt.evaluation.accuracy import ALPHA, Difference, Figure
from concatmt.evaluation.likelihood import Likelihood
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.quality import Comparison, Score
from concatmt.evaluation.resampling import LEVEL, Estimate
from concatmt.tables import markdown_table

TOKENISED_NOTE = (
    "The references look tokenised: compare these figures only with others of the same text."
)
ACCURACY_HEADER = ("figure", "system", "accuracy", "interval", "chance", "n", "difference", "p")


def headlines(figures: Sequence[Figure], systems: Sequence[System]) -> str:
    """One line per system: accuracy over all items, with chance, interval and number of items."""
    lines = []
    figure = figures[0]
    for system, accuracy in zip(systems, figure.accuracies, strict=True):
        parts = [f"accuracy {_percent(accuracy.value)}"]
        if figure.chance is not None:
            parts.append(f"chance {_percent(figure.chance)}")
        parts.append(f"{LEVEL:.0%} interval {_interval(accuracy)}")
        parts.append(f"n = {figure.count:,} items in {figure.clusters:,} clusters")
        seeds = len(system.files)
        parts.append(f"{seeds} seeds" if seeds > 1 else "one run, so without seed noise")
        lines.append(f"{system.name}: {', '.join(parts)}")
    return "\n".join(lines)


def accuracy_table(figures: Sequence[Figure], systems: Sequence[System]) -> str:
    """All figures of all systems; p-values are Holm's, over all differences of the table."""
    rows = []
    for figure in figures:
        for place, system in enumerate(systems):
            estimate, difference = figure.accuracies[place], figure.differences[place]
            rows.append(
                (
                    figure.name,
                    system.name,
                    _percent(estimate.value),
                    _interval(estimate),
                    "-" if figure.chance is None else _percent(figure.chance),
                    f"{figure.count:,}",
                    *_difference(difference),
                )
            )
    return markdown_table(ACCURACY_HEADER, rows)


def _difference(difference: Difference | None) -> tuple[str, str]:
    if difference is None:
        return "", ""
    text = f"{100 * difference.estimate.value:+.2f} {_interval(difference.estimate, sign=True)}"
    return f"**{text}**" if difference.survives else text, p_text(difference.adjusted)


def p_text(p_value: float) -> str:
    """A p-value for reading."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _interval(estimate: Estimate, sign: bool = False) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    form = "+.2f" if sign else ".2f"
    return f"[{100 * estimate.low:{form}}, {100 * estimate.high:{form}}]"


def accuracy_json(
    figures: Sequence[Figure], systems: Sequence[System], measure: str
) -> dict[str, Any]:
    """The same for machines, with every signature; numbers are fractions, not per cent."""
    return {
        "measure": measure,
        "version": __version__,
        "level": LEVEL,
        "systems": [
            {
                "name": system.name,
                "runs": [
                    {"file": file.path, "signature": file.signature.to_json()}
                    for file in system.files
                ],
            }
            for system in systems
        ],
        "figures": [_figure_json(figure, systems) for figure in figures],
    }


def _figure_json(figure: Figure, systems: Sequence[System]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": figure.kind,
        "name": figure.name,
        "items": figure.count,
        "clusters": figure.clusters,
        "chance": figure.chance,
        "systems": {},
    }
    for system, estimate, difference in zip(
        systems, figure.accuracies, figure.differences, strict=True
    ):
        one: dict[str, Any] = {"accuracy": estimate.value, "interval": _ends(estimate)}
        if difference is not None:
            one["difference"] = difference.estimate.value
            one["difference_interval"] = _ends(difference.estimate)
            one["p"] = difference.p_value
            one["p_holm"] = difference.adjusted
        found["systems"][system.name] = one
    return found


def _ends(estimate: Estimate) -> list[float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def likelihood_text(found: Sequence[Likelihood]) -> str:
    """Log-probabilities of the right candidate, run by run."""
    rows = []
    for one in found:
        gain = p_value = ""
        if one.difference is not None and one.p_value is not None:
            gain = f"{one.difference.value:+.3f} {_nats(one.difference)}"
            gain = f"**{gain}**" if one.p_value <= ALPHA else gain
            p_value = p_text(one.p_value)
        level = one.estimate
        rows.append((one.system, f"{level.value:.3f}", _nats(level), gain, p_value))
    header = ("system", "log-prob of the right one", "interval", "difference", "p")
    return markdown_table(header, rows)


def _nats(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"


def quality_text(
    comparisons: Sequence[Comparison],
    positions: Mapping[str, Mapping[str, Score]],
    tokenised: bool,
) -> str:
    """Figures of all systems, then BLEU by place in the document, then signatures."""
    rows = []
    for one in comparisons:
        gain = p_value = ""
        if one.p_value is not None:
            gain, p_value = f"{one.gain:+.2f}", p_text(one.p_value)
            gain = f"**{gain}**" if one.p_value <= ALPHA else gain
        rows.append((one.score.name, one.system, f"{one.score.value:.2f}", gain, p_value))
    places = list(next(iter(positions.values())))
    by_place = [
        (name, *(f"{of_name[place].value:.2f}" for place in places))
        for name, of_name in positions.items()
    ]
    signatures = dict.fromkeys(
        f"signature: {one.score.name}: {one.score.signature}" for one in comparisons
    )
    notes = [TOKENISED_NOTE] if tokenised else []
    return "\n\n".join(
        [
            markdown_table(("figure", "system", "value", "difference", "p"), rows),
            "BLEU by place in the document:",
            markdown_table(("system", *places), by_place),
            *notes,
            "\n".join(signatures),
        ]
    )


def quality_json(
    comparisons: Sequence[Comparison], positions: Mapping[str, Mapping[str, Score]]
) -> dict[str, Any]:
    """The same for machines."""
    return {
        "figures": [
            {
                "system": one.system,
                "name": one.score.name,
                "value": one.score.value,
                "difference": one.gain,
                "p_holm": one.p_value,
                "signature": one.score.signature,
            }
            for one in comparisons
        ],
        "by_position": {
            name: {place: one.value for place, one in of_name.items()}
            for name, of_name in positions.items()
        },
    }
