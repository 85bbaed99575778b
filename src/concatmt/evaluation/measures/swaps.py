"""Swaps: is a swapped pronoun of the user's own references noticed, and only with context?

Items are made from the text (`swapped_items`); each system answers them with the true context,
with none and with another document's. Only what context decides can make a difference there.
"""

from collections.abc import Sequence
from pathlib import Path

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import figures
from concatmt.evaluation.charts import dot_plot
from concatmt.evaluation.config import EvaluateConfig, Kind
from concatmt.evaluation.findings import Picture, Prose, Section
from concatmt.evaluation.measures.contrastive import accuracy_json, compact_table, levels
from concatmt.evaluation.measures.perturbation import evidence
from concatmt.evaluation.models import ModelMember, languages_of
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.perturbed_sets import perturb
from concatmt.evaluation.sets import ContrastiveSet
from concatmt.evaluation.subjects import Deed, Subject, members_of
from concatmt.evaluation.suite import Need, Suite, TestSet, test_set
from concatmt.evaluation.swapped_items import SOURCE_LANGUAGE, swapped_items, swaps_for
from concatmt.evaluation.texts import Text

FEWEST = 20  # items, below which nothing is said
KINDS: tuple[Kind, ...] = ("none", "other")
REMARK = (
    "Sentences of the text in which a pronoun was swapped for one of another gender or form of"
    " address: how often the reference is preferred with the true context (gold), with none, and"
    " with another document's. Made by word lists, so some items are decided by nothing."
)
TERMS = {
    "gender": "a pronoun swapped for one of another gender",
    "formality": "a familiar form of address swapped for a polite one, or the reverse",
}


class SwapsMeasure:
    """Contrastive items made automatically from texts."""

    name = "swaps"
    need: Need = "texts"
    deed: Deed = "model"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """A table for each system and text, its own context first."""
        section = Section(self.name, "Swapped pronouns", [Prose(REMARK)], json={}, terms=TERMS)
        folders = [one.folder for one in members_of(subjects) if isinstance(one, ModelMember)]
        source, target = languages_of(folders)
        if source != SOURCE_LANGUAGE or not swaps_for(target):
            section.left_out.append(f"swaps: there is no list of words for {source}-{target}")
        else:
            for subject in subjects:
                for text in suite.texts if _sees_context(subject, section) else ():
                    self._add(section, subject, text, target, config)
        if not section.json:
            section.blocks.clear()
        return section

    def _add(
        self, section: Section, subject: Subject, text: Text, target: str, config: EvaluateConfig
    ) -> None:
        test = _items(subject, text, target, config)
        count = len(test.content.items) if test.content else 0
        if count < FEWEST:
            section.left_out.append(
                f"swaps of {text.name}: {count} sentences have a word to swap; {FEWEST} are needed"
            )
            return
        kinds: list[Kind] = [kind for kind in KINDS if _can_be_made(test, kind, config)]
        contexts = [
            System(kind or "gold", tuple(one.contrast(test, kind) for one in subject.members))
            for kind in (None, *kinds)
        ]
        found = figures(contexts, kinds={"all", "phenomenon"})
        names = [one.name for one in contexts]
        section.blocks += [
            Prose(f"{subject.name}, {text.name}", heading=True),
            Picture(dot_plot(levels(found), names, "%")),
            compact_table(found, contexts),
        ]
        title = f"{subject.name}, {text.name}"
        section.json[title] = accuracy_json(found, contexts, self.name)
        said = evidence(found[0], names, f"sentences of {text.name} with a swapped pronoun")
        section.evidence.setdefault(subject.name, []).append(said)


def _sees_context(subject: Subject, section: Section) -> bool:
    if subject.members[0].sees_context:
        return True
    section.left_out.append(f"swaps of {subject.name}: it sees no context")
    return False


def _items(subject: Subject, text: Text, target: str, config: EvaluateConfig) -> TestSet:
    """As many as are asked for, spread over the text, with as much context as the system sees."""
    window = max(one.window for one in subject.members if isinstance(one, ModelMember))
    parts = text.parts(config.documents)
    name = f"swaps-{text.name.replace('.', '-')}"
    found = swapped_items(parts, target, window - 1, name)
    step = max(1, -(-len(found) // config.swaps))
    return test_set(ContrastiveSet(name, found[::step]), Path("swaps.jsonl"))


def _can_be_made(test: TestSet, kind: Kind, config: EvaluateConfig) -> bool:
    """Another document's context needs another document."""
    try:
        perturb(test.content.items if test.content else (), kind, config.seed)
    except UserError:
        return False
    return True
