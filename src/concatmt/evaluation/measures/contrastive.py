"""Measures contrastive accuracy: how often a system prefers the right translation.

Also shows accuracies for other measures. Knows outcomes, not how they were obtained.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from concatmt import __version__
from concatmt.evaluation.accuracy import ALPHA, Difference, Figure, figures
from concatmt.evaluation.charts import DotRow, details, dot_plot
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.findings import Block, Picture, Prose, Section, Table, Where, p_text
from concatmt.evaluation.likelihood import Likelihood, likelihoods
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.resampling import LEVEL, Estimate
from concatmt.evaluation.subjects import Deed, Subject, joined
from concatmt.evaluation.suite import Need, Suite

HEADER = ("figure", "system", "accuracy", "interval", "chance", "n", "difference", "p")
COMPACT = ("all", "context", "phenomenon")  # kinds of figures in the first plot
BOUNDS = "The best accuracy of observers that see the current sentence, or so much of the window"
TERMS = {
    "accuracy": "share of items that are right, in per cent; a tie of m candidates counts 1/m",
    "chance": "the accuracy of guessing: the mean of 1 / number of candidates",
    "interval": "95% interval over documents (and seeds): what other documents could give",
    "n": "number of items (or orbits) behind a figure",
    "difference": "to the first system, with its interval; bold: survives Holm's correction",
    "bold": "differences to the first system (in brackets) that survive Holm's correction",
    "p": "probability of so large a difference between equally good systems, after Holm's"
    " correction for all differences of the table",
    "orbit": "items with the same sentence and candidates in different contexts; all must be right",
    "d=1": "the deciding word is one sentence back; d=0 is the current sentence itself",
    "conflict": "another sentence has a cue that points to a wrong candidate",
    "items that need context": "all items except those that the current sentence decides (d=0) and"
    " those whose cue is outside every window",
    "seed": "a run that differs from another only in its random numbers",
}

# Of the testbed (docs/testbed.md) and of Voita's sets.
PHENOMENA = {
    "pron": "a pronoun takes the gender of a noun in another sentence, among other nouns",
    "vp": "a verb that English leaves out is the one used before with the same subject",
    "names": "a name keeps the rendering that it was given before",
    "recent": "of two possible nouns, the nearer one is meant",
    "ordinal": "'the first one' or 'the second one' of two nouns",
    "tv": "speakers take turns, each with their own form of address",
    "spk": "speakers take turns; the past tense shows the speaker's gender",
    "case": "questions are answered in their order; an answer takes the case that its question"
    " asks for",
    "d0": "control: the sentence itself decides",
    "far": "control: the deciding sentence is outside the window",
    "deixis": "familiar or polite address has to stay consistent",
    "lex_cohesion": "names have to be translated as before",
    "ellipsis_infl": "the inflection of a noun whose verb was left out",
    "ellipsis_vp": "a verb left out in English that the translation needs",
}


class ContrastiveMeasure:
    """The model scores all candidates; the best should be the right one."""

    name = "contrastive"
    need: Need = "sets"
    deed: Deed = "contrast"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """Accuracies by phenomenon, distance and orbit."""
        systems = [
            System(
                subject.name,
                tuple(
                    joined(m, [m.contrast(test) for test in suite.sets]) for m in subject.members
                ),
            )
            for subject in subjects
        ]
        section = accuracy_section(systems, self.name, "Contrastive accuracy")
        section.blocks += _bounds(suite.bounds)
        verb = "prefers the right translation in"
        section.clauses = {
            system.name: clause(section.json, system.name, verb) for system in systems
        }
        section.best = best(section.json, systems)
        return section


def accuracy_section(systems: Sequence[System], measure: str, title: str) -> Section:
    """Plots, headlines and tables of systems whose outcomes are known."""
    figures_of_all = figures(systems)
    of_model = likelihoods(systems)
    blocks: list[Block] = [
        *plots(figures_of_all, systems),
        compact_table(
            [figure for figure in figures_of_all if figure.kind in COMPACT], systems, "page"
        ),
        Prose(headlines(figures_of_all, systems), shown="text"),
        accuracy_table(figures_of_all, systems),
    ]
    if of_model:
        blocks.append(likelihood_table(of_model))
    details = accuracy_json(figures_of_all, systems, measure)
    details["log_probs"] = [dataclasses.asdict(likelihood) for likelihood in of_model]
    signatures = [f"{file.path}: {file.signature}" for system in systems for file in system.files]
    terms = {**TERMS, **meanings_of(figures_of_all)}
    return Section(measure, title, blocks, details, signatures, terms=terms)


def meanings_of(figures: Sequence[Figure]) -> dict[str, str]:
    """Explanations of the names of figures, as far as known."""
    meanings = {**TERMS, **PHENOMENA}
    return {figure.name: meanings[figure.name] for figure in figures if figure.name in meanings}


def headline_figure(details: Mapping[str, Any]) -> dict[str, Any]:
    """The figure of items that need context, or else of all items."""
    by_kind = {figure["kind"]: figure for figure in reversed(details["figures"])}
    figure: dict[str, Any] = by_kind.get("context", by_kind["all"])
    return figure


def best(details: Mapping[str, Any], systems: Sequence[System]) -> str:
    """The system with the highest accuracy; of equals the last, which can be compared."""
    of_systems = headline_figure(details)["systems"]
    return max(
        reversed(systems), key=lambda system: float(of_systems[system.name]["accuracy"])
    ).name


def clause(details: Mapping[str, Any], name: str, verb: str, short: bool = False) -> str:
    """A system's accuracy in words, with the first system's and chance."""
    figure = headline_figure(details)
    first = next(iter(figure["systems"]))
    of_system = figure["systems"][name]
    text = f"{name} {verb} {100 * of_system['accuracy']:.1f}%"
    if not short:
        what = "items that need context" if figure["kind"] == "context" else "items"
        text += f" of {figure['items']:,} {what}"
    if name != first:
        text += f", {first} in {100 * figure['systems'][first]['accuracy']:.1f}%"
    if figure["chance"] is not None:
        text += f", chance {100 * figure['chance']:.1f}%"
    if name != first and of_system["p_holm"] > ALPHA:
        text += " (the difference could be chance)"
    return text


def plots(figures: Sequence[Figure], systems: Sequence[System]) -> list[Block]:
    """Levels by phenomenon; the rest and the differences to the first are folded."""
    names = [system.name for system in systems]
    compact = [figure for figure in figures if figure.kind in COMPACT]
    others = [figure for figure in figures if figure.kind not in COMPACT]
    caption = "Dots with 95% intervals over documents"
    if all(len(system.files) > 1 for system in systems):
        caption += " and seeds"
    if figures[0].chance is not None:
        caption += "; the vertical line is the chance level"
    if any(len(system.files) == 1 for system in systems):
        caption += ". One run does not show what another seed would give"
    blocks: list[Block] = [Picture(dot_plot(levels(compact), names, "%"), f"{caption}.")]
    if others:
        plot = dot_plot(levels(others), names, "%")
        blocks.append(Picture(details("By distance, conflict, orbit and aggregate", plot)))
    if len(systems) > 1:
        plot = dot_plot(_differences(figures), names, "points", first=1)
        title = f"Difference to {names[0]}: filled dots are significant after Holm's correction"
        blocks.append(Picture(details(title, plot)))
    return blocks


def levels(figures: Sequence[Figure]) -> list[DotRow]:
    """Rows of a plot of accuracies."""
    meanings = meanings_of(figures)
    return [
        DotRow(
            f.name, f"{f.count:,}", per_cent(f.accuracies), chance(f), hint=meanings.get(f.name, "")
        )
        for f in figures
    ]


def _differences(figures: Sequence[Figure]) -> list[DotRow]:
    rows = []
    for figure in figures:
        compared = [difference for difference in figure.differences if difference is not None]
        estimates = per_cent([difference.estimate for difference in compared])
        filled = [difference.survives for difference in compared]
        rows.append(DotRow(figure.name, f"{figure.count:,}", estimates, 0.0, filled))
    return rows


def per_cent(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Fractions times 100."""
    return [
        Estimate(
            100 * estimate.value,
            None if estimate.low is None else 100 * estimate.low,
            None if estimate.high is None else 100 * estimate.high,
        )
        for estimate in estimates
    ]


def chance(figure: Figure) -> float | None:
    """The chance level in per cent."""
    return None if figure.chance is None else 100 * figure.chance


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


def compact_table(
    figures: Sequence[Figure], systems: Sequence[System], shown: Where = "everywhere"
) -> Table:
    """A row for each figure; differences to the first system are in brackets."""
    guessing = ["chance"] if figures[0].chance is not None else []
    rows = [
        (
            figure.name,
            *map(_level, figure.accuracies, figure.differences),
            *([] if figure.chance is None else [_percent(figure.chance)]),
            f"{figure.count:,}",
        )
        for figure in figures
    ]
    return Table(("figure", *(system.name for system in systems), *guessing, "n"), rows, shown)


def _level(accuracy: Estimate, difference: Difference | None) -> str:
    text = _percent(accuracy.value)
    if difference is None:
        return text
    text = f"{text} ({100 * difference.estimate.value:+.2f})"
    return f"**{text}**" if difference.survives else text


def accuracy_table(figures: Sequence[Figure], systems: Sequence[System]) -> Table:
    """All figures of all systems; p-values are Holm's over all differences in the table."""
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
    return Table(HEADER, rows)


def _difference(difference: Difference | None) -> tuple[str, str]:
    if difference is None:
        return "", ""
    text = f"{100 * difference.estimate.value:+.2f} {_interval(difference.estimate, sign=True)}"
    return f"**{text}**" if difference.survives else text, p_text(difference.adjusted)


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
    """All figures as plain values, with every signature; fractions, not per cent."""
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
    record: dict[str, Any] = {
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
        entry: dict[str, Any] = {"accuracy": estimate.value, "interval": _ends(estimate)}
        if difference is not None:
            entry["difference"] = difference.estimate.value
            entry["difference_interval"] = _ends(difference.estimate)
            entry["p"] = difference.p_value
            entry["p_holm"] = difference.adjusted
        record["systems"][system.name] = entry
    return record


def _ends(estimate: Estimate) -> list[float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def likelihood_table(likelihoods: Sequence[Likelihood]) -> Table:
    """A table of log-probabilities of the right candidate by run."""
    rows = []
    for likelihood in likelihoods:
        gain = p_value = ""
        if likelihood.difference is not None and likelihood.p_value is not None:
            gain = f"{likelihood.difference.value:+.3f} {_nats(likelihood.difference)}"
            gain = f"**{gain}**" if likelihood.p_value <= ALPHA else gain
            p_value = p_text(likelihood.p_value)
        level = likelihood.estimate
        rows.append((likelihood.system, f"{level.value:.3f}", _nats(level), gain, p_value))
    return Table(("system", "log-prob of the right one", "interval", "difference", "p"), rows)


def _nats(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"


def _bounds(bounds: Mapping[str, Mapping[str, float]]) -> list[Block]:
    if not bounds:
        return []
    observers = list(next(iter(bounds.values())))
    rows = [(task, *(f"{best[name]:.1f}" for name in observers)) for task, best in bounds.items()]
    return [Prose(BOUNDS, heading=True), Table(("task", *observers), rows)]
