"""Markdown and JSON of runs on a suite. Knows what was found, not how."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from concatmt import __version__
from concatmt.evaluation.accuracy import Figure
from concatmt.evaluation.attention import attention_table
from concatmt.evaluation.comparison import Comparison, OfText, Perturbed
from concatmt.evaluation.context_use import table as context_use_table
from concatmt.evaluation.report import accuracy_json, likelihood_text
from concatmt.evaluation.suite import SuiteConfig
from concatmt.tables import markdown_table


def comparison_text(found: Comparison) -> str:
    """All measures under headings."""
    parts = ["# Evaluation", _runs(found)]
    if found.endings:
        parts.append("\n".join(f"* {one}" for one in found.endings))
    if found.contrastive:
        parts += ["## Contrastive accuracy", found.contrastive.text]
        parts += _bounds(found.suite.bounds)
    if found.generative:
        parts += ["## Generative accuracy", found.generative.text]
    for name, quality in found.quality.items():
        parts += [f"## Translation quality ({name})", quality.text]
    if found.perturbed:
        parts += ["## Other contexts", CONTEXTS]
        parts += [part for one in found.perturbed for part in _perturbed(one)]
    if found.context_use:
        parts += ["## Context use", CXMI]
        parts += [part for one in found.context_use for part in _of_text(one)]
    if found.attention:
        parts += ["## Attention", ATTENTION]
        parts += [part for one in found.attention for part in _of_text(one)]
    if found.left_out:
        parts += ["## Left out", "\n".join(f"* {one}" for one in dict.fromkeys(found.left_out))]
    return "\n\n".join(parts)


def _bounds(bounds: Mapping[str, Mapping[str, float]]) -> list[str]:
    if not bounds:
        return []
    observers = list(next(iter(bounds.values())))
    rows = [(task, *(f"{best[name]:.1f}" for name in observers)) for task, best in bounds.items()]
    return ["### " + BOUNDS, markdown_table(("task", *observers), rows)]


BOUNDS = "The best accuracy of observers that see the current sentence, or so much of the window"
CONTEXTS = (
    "Accuracy with the true context (gold) and with others; differences to gold are bold if they"
    " are significant beside all others of a system."
)
CXMI = "What context adds to the log-probability of the references, in nats."
ATTENTION = (
    "Share of the attention of current tokens that falls on the current sentence, in per cent, and"
    " its entropy in nats, beside what even attention would have."
)


def _runs(found: Comparison) -> str:
    rows = [
        (member.label, member.system, member.key, str(member.path))
        for candidate in found.candidates
        for member in candidate.members
    ]
    return markdown_table(("run", "system", "hash", "from"), rows)


def _perturbed(one: Perturbed) -> list[str]:
    shown = [figure for figure in one.figures if figure.kind in ("all", "phenomenon", "orbit")]
    names = [system.name for system in one.contexts]
    rows = [(figure.name, *_accuracies(figure), _chance(figure)) for figure in shown]
    parts = [f"### {one.system}", markdown_table(("figure", *names, "chance"), rows)]
    if one.log_probs:
        parts.append(likelihood_text(one.log_probs))
    return parts


def _accuracies(figure: Figure) -> list[str]:
    cells = []
    for accuracy, difference in zip(figure.accuracies, figure.differences, strict=True):
        text = f"{100 * accuracy.value:.2f}"
        if difference is not None:
            change = f"{100 * difference.estimate.value:+.2f}"
            text = f"{text} ({f'**{change}**' if difference.survives else change})"
        cells.append(text)
    return cells


def _chance(figure: Figure) -> str:
    return "-" if figure.chance is None else f"{100 * figure.chance:.2f}"


def _of_text(one: OfText) -> list[str]:
    table = context_use_table(one.use) if one.use else attention_table(one.layers)
    return [f"### {one.run}, {one.text}", table, f"signature: {one.signature}"]


def comparison_json(found: Comparison, config: SuiteConfig) -> dict[str, Any]:
    """The same for machines, with every signature."""
    return {
        "measure": "suite",
        "version": __version__,
        "settings": config.model_dump(mode="json"),
        "on": _inputs(found),
        "runs": [
            {
                "name": candidate.name,
                "run": str(member.path),
                "system": member.system,
                "hash": member.key,
                "ended": member.ending.to_json() if member.ending else None,
            }
            for candidate in found.candidates
            for member in candidate.members
        ],
        "contrastive": found.contrastive.json if found.contrastive else None,
        "generative": found.generative.json if found.generative else None,
        "quality": {name: one.json for name, one in found.quality.items()},
        "perturbation": {one.system: _perturbed_json(one) for one in found.perturbed},
        "context_use": [_text_json(one, "use", one.use) for one in found.context_use],
        "attention": [_text_json(one, "layers", one.layers) for one in found.attention],
        "left_out": found.left_out,
    }


def _inputs(found: Comparison) -> list[dict[str, str]]:
    suite = found.suite
    files = [(one.path, one.hash) for one in suite.sets]
    files += [(one.path, one.hash) for one in suite.expected]
    files += [(one.source, one.hash) for one in suite.texts]
    return [{"file": str(path), "hash": digest} for path, digest in files]


def _perturbed_json(one: Perturbed) -> dict[str, Any]:
    found = accuracy_json(one.figures, one.contexts, "perturbation")
    return {**found, "log_probs": [dataclasses.asdict(each) for each in one.log_probs]}


def _text_json(one: OfText, key: str, values: Sequence[Any]) -> dict[str, Any]:
    return {
        "run": one.run,
        "text": one.text,
        "signature": one.signature.to_json(),
        key: [dataclasses.asdict(value) for value in values],
    }
