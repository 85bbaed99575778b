"""Reads and writes files of log-probs, the lines of `concatmt score`.

Does not know how scores are made or used.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.decoding.document_scores import SentenceScore
from concatmt.errors import UserError
from concatmt.json_text import parse_json
from concatmt.signature import Signature


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
        return [with_context - other for with_context, other in zip(with_it, without, strict=True)]


def score_record(score: SentenceScore) -> dict[str, Any]:
    """A line of what `concatmt score` writes."""
    return {
        "document": score.document,
        "sentence": score.sentence,
        "context": score.context,
        "log_prob": sum(score.log_probs),
        "tokens": score.tokens,
        "log_probs": score.log_probs,
    }


def read_scores(path: Path) -> tuple[Signature, list[Sentence]]:
    """Read what `concatmt score` wrote with --context 0 and other amounts."""
    signature = None
    by_key: dict[tuple[str, int], Sentence] = {}
    for number, line in enumerate(read_lines(path, ReadReport()), start=1):
        where = f"{path}, line {number}"
        try:
            record = parse_json(line)
            if signature is None:
                signature = Signature(record["signature"])
                continue
            _add(by_key, record)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{where}: not a line of 'concatmt score' ({error}); score the documents again"
            ) from error
    sentences = list(by_key.values())
    if signature is None or not sentences:
        raise UserError(f"{path}: no sentences; score the documents again")
    contexts = set(sentences[0].log_probs)
    if 0 not in contexts or len(contexts) < 2:
        raise UserError(
            f"{path}: scored with context {', '.join(map(str, sorted(contexts)))}; context use"
            " needs --context 0 and at least one other amount"
        )
    for sentence in sentences:
        if set(sentence.log_probs) != contexts:
            raise UserError(
                f"{path}: sentence {sentence.number} of document {sentence.document} lacks an"
                " amount of context that others have; score the documents again"
            )
    return signature, sentences


def _add(by_key: dict[tuple[str, int], Sentence], record: Any) -> None:
    key = str(record["document"]), int(record["sentence"])
    log_probs = tuple(map(float, record["log_probs"]))
    tokens = tuple(map(str, record["tokens"]))
    sentence = by_key.setdefault(key, Sentence(*key, tokens, {}))
    if sentence.tokens != tokens or len(log_probs) != len(tokens):
        raise ValueError("the tokens of a sentence differ")
    sentence.log_probs[int(record["context"])] = log_probs
