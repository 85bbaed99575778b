"""Measures perturbation: what a system loses if its context is not the true one.

A system that uses its context loses accuracy with another one; one that uses the *position* of
sentences loses even if only their order changes. Does not know how contexts are made.
"""

import dataclasses
from collections.abc import Sequence

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure, figures
from concatmt.evaluation.charts import dot_plot
from concatmt.evaluation.config import EvaluateConfig, Kind
from concatmt.evaluation.findings import Block, Evidence, Picture, Prose, Section, p_text
from concatmt.evaluation.likelihood import likelihoods
from concatmt.evaluation.measures.contrastive import (
    COMPACT,
    accuracy_json,
    compact_table,
    levels,
    likelihood_table,
)
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.perturbed_sets import perturb
from concatmt.evaluation.subjects import Deed, Subject, joined
from concatmt.evaluation.suite import Need, Suite, TestSet

REMARK = (
    "Accuracy with the true context (gold) and with others; differences to gold are bold if they"
    " are significant, given all others of the system."
)
TERMS = {
    "gold": "the true context",
    "none": "no context",
    "random": "any sentences of other documents instead of the context",
    "shuffled": "the sentences of the context in another order",
    "other": "the context of an item of another document",
}


class PerturbationMeasure:
    """Runs contrastive sets again with other contexts."""

    name = "perturbation"
    need: Need = "sets"
    deed: Deed = "model"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """A table for each system, with the true context first."""
        section = Section(self.name, "Other contexts", [Prose(REMARK)], json={}, terms=TERMS)
        sets = [test for test in suite.sets if _can_be_perturbed(test, config, section)]
        for subject in subjects if sets else ():
            if not subject.members[0].sees_context:
                section.left_out.append(f"perturbation of {subject.name}: it sees no context")
                continue
            kinds: tuple[Kind | None, ...] = (None, *config.contexts)
            contexts = [
                System(
                    kind or "gold",
                    tuple(
                        joined(m, [m.contrast(test, kind) for test in sets])
                        for m in subject.members
                    ),
                )
                for kind in kinds
            ]
            of_contexts = figures(contexts)
            section.blocks += _blocks(subject.name, of_contexts, contexts)
            if "none" in config.contexts:
                needy = next((one for one in of_contexts if one.kind == "context"), of_contexts[0])
                names = [system.name for system in contexts]
                said = evidence(needy, names, "items of the contrastive sets")
                section.evidence[subject.name] = [said]
            log_probs = likelihoods(contexts)
            if log_probs:
                section.blocks.append(likelihood_table(log_probs))
            section.json[subject.name] = {
                **accuracy_json(of_contexts, contexts, "perturbation"),
                "log_probs": [dataclasses.asdict(each) for each in log_probs],
            }
        if not section.json:
            section.blocks.clear()
        return section


def _can_be_perturbed(test: TestSet, config: EvaluateConfig, section: Section) -> bool:
    """Whether a set allows it; if not, raises an error if asked for by name, else adds a note."""
    try:
        for kind in config.contexts:
            perturb(test.content.items if test.content else (), kind, config.seed)
    except UserError as error:
        if config.measures is not None:
            raise
        section.left_out.append(f"perturbation of {test.path.name}: {error}")
        return False
    return True


def _blocks(name: str, figures: Sequence[Figure], contexts: Sequence[System]) -> list[Block]:
    shown = [figure for figure in figures if figure.kind in (*COMPACT, "orbit")]
    names = [system.name for system in contexts]
    dots = levels([figure for figure in shown if figure.kind in COMPACT])
    return [
        Prose(name, heading=True),
        Picture(dot_plot(dots, names, "%")),
        compact_table(shown, contexts),
    ]


def evidence(figure: Figure, contexts: Sequence[str], items: str) -> Evidence:
    """Whether the true context is better than none, in words."""
    levels = {name: one.value for name, one in zip(contexts, figure.accuracies, strict=True)}
    difference = figure.differences[contexts.index("none")]
    assert difference is not None
    helps = difference.estimate.value < 0 if difference.survives else None
    p_value = p_text(difference.adjusted)
    words = (
        f"it prefers the right one of {figure.count:,} {items} in {100 * levels['gold']:.1f}% with"
        f" their context and in {100 * levels['none']:.1f}% without"
        f" (p {p_value if p_value[0] == '<' else f'= {p_value}'})"
    )
    if "other" in levels:
        words += f", in {100 * levels['other']:.1f}% with another document's"
    return Evidence(helps, words)
