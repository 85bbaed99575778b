"""The measures of an evaluation, one file each; plug-ins can register others.

A measure asks systems for results (answers, translations, log-probs) and makes a section of
the report from them. It does not know whether a system is a model or a file.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol

from concatmt.errors import UserError
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.findings import Section
from concatmt.evaluation.measures.attention import AttentionMeasure
from concatmt.evaluation.measures.context_use import ContextUseMeasure
from concatmt.evaluation.measures.contrastive import ContrastiveMeasure
from concatmt.evaluation.measures.generative import GenerativeMeasure
from concatmt.evaluation.measures.perturbation import PerturbationMeasure
from concatmt.evaluation.measures.quality import QualityMeasure
from concatmt.evaluation.measures.swaps import SwapsMeasure
from concatmt.evaluation.subjects import Deed, Subject
from concatmt.evaluation.suite import Need, Suite
from concatmt.settings import nearest


class Measure(Protocol):
    """Something that can be measured."""

    name: str  # as in --measures
    need: Need  # the part of the suite that it needs
    deed: Deed  # what it asks of systems

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """Measure all systems and compare them with the first."""


_REGISTERED: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Register a measure under its name; reports keep the order of registration."""
    if measure.name in _REGISTERED:
        raise UserError(f"two measures are called {measure.name!r}; rename one")
    _REGISTERED[measure.name] = measure


def measures(names: Sequence[str] | None = None) -> list[Measure]:
    """The measures of these names, or all."""
    for name in names or ():
        if name not in _REGISTERED:
            hint = nearest(name, list(_REGISTERED)) or f"; known are {', '.join(_REGISTERED)}"
            raise UserError(f"--measures {name}: no such measure{hint}")
    return [measure for name, measure in _REGISTERED.items() if names is None or name in names]


for _one in (
    ContrastiveMeasure(),
    GenerativeMeasure(),
    QualityMeasure(),
    PerturbationMeasure(),
    ContextUseMeasure(),
    SwapsMeasure(),
    AttentionMeasure(),
):
    register(_one)
# Each module calls `register` itself, as a plug-in does.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
