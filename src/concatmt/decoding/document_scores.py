"""Scores given translations of documents, token by token, with several amounts of context.

The basis of measures of context use: the same sentence scored with 0, 1, ... sentences before it.
Does not know files.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from concatmt.corpus.parts import Part
from concatmt.decoding.config import PoolConfig
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.translation import History
from concatmt.errors import UserError
from concatmt.model.config import check_window
from concatmt.signature import Signature
from concatmt.text.vocabulary import SPECIALS


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """One sentence under one amount of context."""

    document: str
    sentence: int
    context: int  # sentences of context asked for; fewer at the start of a document
    tokens: list[str]  # as the model has them, `<end>` last
    log_probs: list[float]


class DocumentScorer:
    """Scores documents with their translations."""

    def __init__(self, model: LoadedModel, contexts: Sequence[int], pool: PoolConfig) -> None:
        """`contexts`: how many sentences of context; each amount is scored on its own."""
        for context in contexts:
            check_window(model.engine.config, context + 1)
        self.model, self.contexts, self.pool = model, contexts, pool
        self.history = History()  # of a document that continues in the next part

    @property
    def signature(self) -> Signature:
        """The settings behind these scores."""
        contexts = ",".join(map(str, self.contexts))
        return Signature(
            {**self.model.identity, "context": contexts, "target_context": "gold", "score": "sum"}
        )

    def scores(self, parts: Iterable[Part | None]) -> Iterator[list[SentenceScore]]:
        """The scores of each part, sentence by sentence."""
        for part in parts:
            if part is not None and part.source:
                yield self._part(part)

    def _part(self, part: Part) -> list[SentenceScore]:
        if part.gold is None:
            raise UserError(f"document {part.document!r}: has no translations to score")
        if part.first == 0:
            self.history = History()
        items, places = [], []
        for place, (source, gold) in enumerate(zip(part.source, part.gold, strict=True)):
            ids, target = self.model.text.source.encode(source), self.model.text.target.encode(gold)
            if not ids:
                continue  # an empty sentence has nothing to score and never serves as context
            for context in self.contexts:
                before = self.history.source[-context:] if context else []
                given = self.history.target[-context:] if context else []
                items.append(ScoringItem([*before, ids], [[*given, target]]))
                places.append((place, context, target))
            self.history.push(ids, target, max(self.contexts))
        symbols = self.model.text.target.vocabulary.symbols
        scores = score_items(self.model.engine, items, self.pool, current_only=True)
        return [
            SentenceScore(
                part.document,
                part.first + place,
                context,
                [*(symbols[token] for token in target), SPECIALS[3]],
                of_item[0],
            )
            for (place, context, target), of_item in zip(places, scores, strict=True)
        ]
