"""Finds which of several translations a model prefers: scores and verdicts.

Does not know test-set formats: an item is text, candidates and the place of the correct one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from concatmt.decoding.config import ContrastConfig
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.scoring import ScoringItem, Sums, score_items, sums_of
from concatmt.errors import UserError
from concatmt.model.config import check_window
from concatmt.signature import Signature

ITEMS_AT_A_TIME = 2048


class Question(NamedTuple):
    """A source window and candidates for its translation, as text."""

    source: Sequence[str]
    targets: Sequence[Sequence[str]]
    correct: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to a question."""

    scores: list[float]  # one for each candidate, under the chosen score and scope
    sums: list[Sums]
    verdict: float  # 1 right, 0 wrong, in between for a tie


class Contrast:
    """Asks a model contrastive questions."""

    def __init__(self, model: LoadedModel, config: ContrastConfig) -> None:
        self.model, self.config = model, config
        size = model.engine.config.system.sentences
        self.context = size - 1 if config.context is None else config.context
        check_window(model.engine.config, self.context + 1)

    @property
    def signature(self) -> Signature:
        """The settings behind these verdicts."""
        config = self.config
        return Signature(
            {
                **self.model.identity,
                "K": self.context + 1,
                "target_context": config.target_context if self.context else "none",
                "score": config.score,
                "scope": config.scope,
                "ties": config.ties,
            }
        )

    def answers(self, questions: Iterable[Question]) -> Iterator[Answer]:
        """An answer to each, in order; only a few thousand are held at a time."""
        stream = iter(questions)
        while some := list(islice(stream, ITEMS_AT_A_TIME)):
            items = [self._item(question) for question in some]
            scores = score_items(self.model.engine, items, self.config.pool)
            for question, item, of_item in zip(some, items, scores, strict=True):
                pairs = zip(of_item, item.targets, strict=True)
                sums = [sums_of(log_probs, target) for log_probs, target in pairs]
                values = [
                    candidate.value(self.config.score, self.config.scope) for candidate in sums
                ]
                yield Answer(values, sums, verdict(values, question.correct, self.config.ties))

    def _item(self, question: Question) -> ScoringItem:
        """Encode a question and cut it to the window."""
        source, target = self.model.text.source, self.model.text.target
        if len(question.targets) < 2:
            raise UserError(
                f"{question.source[-1][:40]!r}: has one candidate; a set with nothing to compare"
                " (ctxpro's) is for generative accuracy"
            )
        size = self.context + 1
        targets = [[target.encode(s) for s in window[-size:]] for window in question.targets]
        if self.config.target_context == "none":
            targets = [[*[[]] * (len(window) - 1), window[-1]] for window in targets]
        return ScoringItem([source.encode(s) for s in question.source[-size:]], targets)


def verdict(scores: Sequence[float], correct: int, ties: str) -> float:
    """1 if only the correct candidate has the best score, 0 if another has; ties by rule."""
    best = max(scores)
    winners = [place for place, score in enumerate(scores) if score == best]
    if correct not in winners:
        return 0.0
    if ties == "split":
        return 1 / len(winners)
    if ties == "first":
        return float(winners[0] == correct)
    return float(len(winners) == 1)
