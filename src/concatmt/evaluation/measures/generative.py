"""Measures generative accuracy: whether translations have the expected form and no wrong one.

As ctxpro does it: in the current sentence, in lower case, without punctuation, whole words. Wrong
forms are checked where a set has them. Does not know how the translations were made.
"""

from collections.abc import Sequence
from dataclasses import replace

from concatmt.errors import UserError
from concatmt.evaluation.config import EvaluateConfig, WrongForms
from concatmt.evaluation.expectations import Expectation, normalise
from concatmt.evaluation.findings import Section
from concatmt.evaluation.measures.contrastive import accuracy_section, best, clause
from concatmt.evaluation.outcomes import OutcomeFile, System
from concatmt.evaluation.subjects import Deed, Member, Subject, joined
from concatmt.evaluation.suite import Need, Suite
from concatmt.evaluation.translations import TranslationFile
from concatmt.signature import Signature


class GenerativeMeasure:
    """Items are translated and checked for forms."""

    name = "generative"
    need: Need = "expected"
    deed: Deed = "translate"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """Accuracies by phenomenon, distance and orbit."""

        def outcomes(member: Member) -> OutcomeFile:
            parts = [
                judge(member.translate_items(expected), expected.items, config.wrong_forms)
                for expected in suite.expected
            ]
            return joined(member, parts)

        systems = [
            System(subject.name, tuple(map(outcomes, subject.members))) for subject in subjects
        ]
        section = accuracy_section(systems, self.name, "Generative accuracy")
        verb = "writes the expected form in"
        short = suite.has(
            "sets"
        )  # the contrastive clause has already said how many items there are
        section.clauses = {
            system.name: clause(section.json, system.name, verb, short) for system in systems
        }
        section.best = best(section.json, systems)
        return section


def is_right(translation: str, expected: Sequence[str], wrong: Sequence[str]) -> bool:
    """Whether all expected forms and no wrong ones occur; a form may be several words."""
    text = normalise(translation)
    return all(normalise(form) in text for form in expected) and not any(
        normalise(form) in text for form in wrong
    )


def judge(
    file: TranslationFile, expectations: Sequence[Expectation], wrong_forms: WrongForms = "absent"
) -> OutcomeFile:
    """Outcomes of a file of translations in which every item is its own document."""
    translated = dict(zip(file.names, file.text.documents, strict=True))
    outcomes = []
    for expectation in expectations:
        sentences = translated.get(expectation.item.id)
        if sentences is None:
            raise UserError(
                f"{file.path}: no document {expectation.item.id!r}; translate the items"
                " themselves, with --format jsonl ('concatmt evaluate --export items' makes"
                " documents of a set)"
            )
        right = is_right(
            sentences[-1],
            expectation.expected,
            () if wrong_forms == "ignored" else expectation.wrong,
        )
        outcomes.append(replace(expectation.item, right=float(right)))
    values = file.signature.values if file.signature else {}
    signature = Signature({**values, "measure": "generative", "wrong_forms": wrong_forms})
    return OutcomeFile(file.path, signature, tuple(outcomes))
