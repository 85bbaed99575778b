"""Perturbation: what does a system lose if its context is not the true one?

A system that uses its context must lose accuracy under another; one that uses the *position* of
sentences must lose if only their order changes. Does not know how contexts are made.
"""

import dataclasses
from collections.abc import Sequence

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure, figures
from concatmt.evaluation.charts import dot_plot
from concatmt.evaluation.config import EvaluateConfig, Kind
from concatmt.evaluation.findings import Block, Picture, Prose, Section
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
    " are significant beside all others of a system."
)
TERMS = {
    "gold": "the true context",
    "none": "no context",
    "random": "any sentences of other documents in place of the context",
    "shuffled": "the sentences of the context in another order",
    "other": "the context of an item of another document",
}


class PerturbationMeasure:
    """Contrastive sets again, with contexts that are not theirs."""

    name = "perturbation"
    need: Need = "sets"
    deed: Deed = "model"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """A table for each system, its own context first."""
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
    """Refused if it was asked for, else a note."""
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
