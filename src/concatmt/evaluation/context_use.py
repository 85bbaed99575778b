"""How much a model uses its context: CXMI (Fernandes et al. 2021), and P-CXMI of each token (2023).

CXMI with c sentences of context is the mean of log p(y | x, c) - log p(y | x, 0) over sentences,
both from one model. Knows the lines that `score` writes, not how scores are made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.decoding.document_scores import SentenceScore
from concatmt.errors import UserError
from concatmt.evaluation.resampling import (
    Estimate,
    cluster_numbers,
    percentiles,
    resampled_means,
)
from concatmt.json_text import parse_json
from concatmt.signature import Signature
from concatmt.tables import markdown_table

HEADER = ("context", "CXMI a sentence", "95% interval", "a token", "gaining", "sentences")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence whose tokens were scored with each of several amounts of context."""

    document: str
    number: int
    tokens: tuple[str, ...]
    log_probs: dict[int, tuple[float, ...]]  # by amount of context

    def gains(self, context: int) -> list[float]:
        """P-CXMI of every token, in nats."""
        with_it, without = self.log_probs[context], self.log_probs[0]
        return [one - other for one, other in zip(with_it, without, strict=True)]


@dataclass(frozen=True, slots=True)
class ContextUse:
    """CXMI of an amount of context, in nats."""

    context: int
    sentences: int
    per_sentence: Estimate
    per_token: float
    gaining: float  # share of the sentences that become likelier


def score_record(one: SentenceScore) -> dict[str, Any]:
    """A line of what `concatmt score` writes."""
    return {
        "document": one.document,
        "sentence": one.sentence,
        "context": one.context,
        "log_prob": sum(one.log_probs),
        "tokens": one.tokens,
        "log_probs": one.log_probs,
    }


def read_scores(path: Path) -> tuple[Signature, list[Sentence]]:
    """Read what `concatmt score` wrote with --context 0 and other amounts."""
    signature = None
    found: dict[tuple[str, int], Sentence] = {}
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        try:
            record = parse_json(line)
            if signature is None:
                signature = Signature(record["signature"])
                continue
            _add(found, record)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{where}: not a line of 'concatmt score' ({error}); score the documents again"
            ) from error
    sentences = list(found.values())
    if signature is None or not sentences:
        raise UserError(f"{path}: no sentences; score the documents again")
    contexts = set(sentences[0].log_probs)
    if 0 not in contexts or len(contexts) < 2:
        raise UserError(
            f"{path}: scored with context {', '.join(map(str, sorted(contexts)))}; context use"
            " needs --context 0 and at least one other amount"
        )
    for one in sentences:
        if set(one.log_probs) != contexts:
            raise UserError(
                f"{path}: sentence {one.number} of document {one.document} lacks an amount of"
                " context that others have; score the documents again"
            )
    return signature, sentences


def _add(found: dict[tuple[str, int], Sentence], record: Any) -> None:
    key = str(record["document"]), int(record["sentence"])
    log_probs = tuple(map(float, record["log_probs"]))
    tokens = tuple(map(str, record["tokens"]))
    one = found.setdefault(key, Sentence(*key, tokens, {}))
    if one.tokens != tokens or len(log_probs) != len(tokens):
        raise ValueError("the tokens of a sentence differ")
    one.log_probs[int(record["context"])] = log_probs


def context_use(sentences: Sequence[Sentence]) -> list[ContextUse]:
    """CXMI by amount of context, with intervals over documents.

    Sentences at the start of a document have no context and are left out.
    """
    amounts = sorted(amount for amount in sentences[0].log_probs if amount)
    inner = [one for one in sentences if one.number > 0]
    if not inner:
        raise UserError("all documents have one sentence: there is no context to use")
    gains = np.array([[sum(one.gains(amount)) for amount in amounts] for one in inner])
    clusters = cluster_numbers(one.document for one in inner)
    number = int(clusters.max()) + 1
    low, high = [None] * len(amounts), [None] * len(amounts)
    if number > 1:
        ends = percentiles(resampled_means(gains, clusters), number)
        low, high = ends[0].tolist(), ends[1].tolist()
    tokens = sum(len(one.tokens) for one in inner)
    return [
        ContextUse(
            amount,
            len(inner),
            Estimate(float(gains[:, place].mean()), low[place], high[place]),
            float(gains[:, place].sum()) / tokens,
            float((gains[:, place] > 0).mean()),
        )
        for place, amount in enumerate(amounts)
    ]


def table(found: Sequence[ContextUse]) -> str:
    """CXMI by amount of context, for reading."""
    rows = []
    for one in found:
        low, high = one.per_sentence.low, one.per_sentence.high
        rows.append(
            (
                str(one.context),
                f"{one.per_sentence.value:+.3f}",
                "-" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]",
                f"{one.per_token:+.4f}",
                f"{100 * one.gaining:.1f}%",
                f"{one.sentences:,}",
            )
        )
    return markdown_table(HEADER, rows)


def token_gains(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    """P-CXMI of every token of every sentence, under the largest amount of context."""
    largest = max(sentences[0].log_probs)
    return [
        {
            "document": one.document,
            "sentence": one.number,
            "tokens": list(one.tokens),
            "p_cxmi": one.gains(largest),
        }
        for one in sentences
    ]
