"""Runs on a suite, from models to figures: every measure that the suite allows, run beside run.

Makes what is missing through `bench`, reads it back, and puts the measures together. Does not
print, draw or write.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure, figures
from concatmt.evaluation.attention import AttentionUse
from concatmt.evaluation.bench import Bench
from concatmt.evaluation.context_use import ContextUse, Sentence, context_use, read_scores
from concatmt.evaluation.evaluate import Evaluation, accuracy, translation_quality
from concatmt.evaluation.generative import judge
from concatmt.evaluation.given import Given
from concatmt.evaluation.likelihood import Likelihood, likelihoods
from concatmt.evaluation.outcomes import OutcomeFile, System, read_items
from concatmt.evaluation.perturbation import Kind
from concatmt.evaluation.resampling import Estimate
from concatmt.evaluation.runs import Candidate, Member
from concatmt.evaluation.suite import Measure, Suite, SuiteConfig, TestSet, Text
from concatmt.evaluation.translations import read_translations
from concatmt.files import read_json
from concatmt.signature import Signature


@dataclass(frozen=True, slots=True)
class Perturbed:
    """One system under several contexts, its own first."""

    system: str
    contexts: tuple[System, ...]
    figures: tuple[Figure, ...]
    log_probs: tuple[Likelihood, ...]


@dataclass(frozen=True, slots=True)
class OfText:
    """What is measured on a text's references, for one run."""

    run: str
    text: str
    signature: Signature
    use: tuple[ContextUse, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    layers: tuple[AttentionUse, ...] = ()


@dataclass(slots=True)
class Comparison:
    """Everything that was found, by measure."""

    candidates: Sequence[Candidate]
    suite: Suite
    contrastive: Evaluation | None = None
    generative: Evaluation | None = None
    quality: dict[str, Evaluation] = field(default_factory=dict)  # by text and convention
    perturbed: list[Perturbed] = field(default_factory=list)
    context_use: list[OfText] = field(default_factory=list)
    attention: list[OfText] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # what was not measured, and why

    @property
    def endings(self) -> list[str]:
        """What has to be said of runs that were ended by a limit."""
        return [
            f"{member.label}: {member.ending.remark}"
            for one in self.candidates
            for member in one.members
            if member.ending is not None and member.ending.remark
        ]


class Comparer:
    """Works through the measures."""

    def __init__(
        self, candidates: Sequence[Candidate], suite: Suite, config: SuiteConfig, output: Path
    ) -> None:
        self.suite, self.config = suite, config
        self.benches = {
            one.name: [Bench(member, config, output) for member in one.members]
            for one in candidates
        }
        self.found = Comparison(candidates, suite)

    def run(self) -> Comparison:
        """All measures, in the order of the report."""
        self.suite.check(self.config)
        steps: dict[Measure, Callable[[], None]] = {
            "contrastive": self._contrastive,
            "generative": self._generative,
            "quality": self._quality,
            "perturbation": self._perturbation,
            "context-use": self._context_use,
            "attention": self._attention,
        }
        for measure, step in steps.items():
            if self.config.wants(measure):
                step()
        return self.found

    def _contrastive(self) -> None:
        if self.suite.sets:
            systems = self._answers(self.suite.sets, None)
            self.found.contrastive = accuracy(systems, "contrastive")

    def _answers(self, sets: Sequence[TestSet], kind: Kind | None) -> list[System]:
        return [
            System(name, tuple(_answers(bench, sets, kind) for bench in benches))
            for name, benches in self.benches.items()
        ]

    def _generative(self) -> None:
        if not self.suite.expected:
            return
        systems = []
        for name, benches in self.benches.items():
            files = []
            for bench in benches:
                parts = [
                    judge(
                        read_translations(bench.translate_items(one)),
                        one.items,
                        self.config.wrong_forms,
                    )
                    for one in self.suite.expected
                ]
                files.append(joined(bench.member, parts))
            systems.append(System(name, tuple(files)))
        self.found.generative = accuracy(systems, "generative")

    def _quality(self) -> None:
        for text in self.suite.texts:
            given = [
                Given(bench.member.label, (bench.translate(text),)) for bench in self._benches()
            ]
            for convention in self.config.conventions:
                self.found.quality[f"{text.name}, {convention}"] = translation_quality(
                    given, text.references, convention, self.config.test, self.config.samples
                )

    def _perturbation(self) -> None:
        sets = [test for test in self.suite.sets if self._can_be_perturbed(test)]
        for name, benches in self.benches.items() if sets else ():
            if not benches[0].member.sees_context:
                self.found.left_out.append(f"perturbation of {name}: it sees no context")
                continue
            contexts = [
                System(kind or "gold", tuple(_answers(bench, sets, kind) for bench in benches))
                for kind in (None, *self.config.contexts)
            ]
            self.found.perturbed.append(
                Perturbed(
                    name, tuple(contexts), tuple(figures(contexts)), tuple(likelihoods(contexts))
                )
            )

    def _can_be_perturbed(self, test: TestSet) -> bool:
        """Refused if it was asked for, else told."""
        try:
            for kind in self.config.contexts:
                self._benches()[0].perturbed(test, kind)
        except UserError as error:
            if self.config.measures is not None:
                raise
            self.found.left_out.append(f"perturbation of {test.path.name}: {error}")
            return False
        return True

    def _context_use(self) -> None:
        for text, bench in self._with_context("context use"):
            signature, sentences = read_scores(bench.scores(text))
            self.found.context_use.append(
                OfText(
                    bench.member.label,
                    text.name,
                    signature,
                    use=tuple(context_use(sentences)),
                    sentences=tuple(sentences),
                )
            )

    def _attention(self) -> None:
        for text, bench in self._with_context("attention"):
            content = read_json(bench.attention(text), "attention file")
            layers = tuple(_layer(one) for one in content["layers"])
            signature = Signature(content["signature"])
            self.found.attention.append(
                OfText(bench.member.label, text.name, signature, layers=layers)
            )

    def _with_context(self, what: str) -> list[tuple[Text, Bench]]:
        for bench in self._benches():
            if self.suite.texts and not bench.member.sees_context:
                self.found.left_out.append(f"{what} of {bench.member.label}: it sees no context")
        return [
            (text, bench)
            for text in self.suite.texts
            for bench in self._benches()
            if bench.member.sees_context
        ]

    def _benches(self) -> list[Bench]:
        return [bench for benches in self.benches.values() for bench in benches]


def _answers(bench: Bench, sets: Sequence[TestSet], kind: Kind | None) -> OutcomeFile:
    return joined(bench.member, [read_items(bench.contrast(test, kind)) for test in sets])


def joined(member: Member, files: Sequence[OutcomeFile]) -> OutcomeFile:
    """The outcomes of one run on several sets, as one file."""
    values = dict(files[0].signature.values)
    cut = [str(one.signature.values["context_cut"]) for one in files if _is_cut(one)]
    signature = Signature({**values, "context_cut": ",".join(cut) or None})
    outcomes = tuple(outcome for one in files for outcome in one.outcomes)
    return OutcomeFile(str(member.path), signature, outcomes)


def _is_cut(file: OutcomeFile) -> bool:
    return "context_cut" in file.signature.values


def _layer(record: dict[str, Any]) -> AttentionUse:
    estimates = {key: Estimate(**record[key]) for key in ("share", "entropy")}
    return AttentionUse(**{**record, **estimates})
