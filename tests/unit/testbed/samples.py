"""Generated material that several tests look at, made once, and how a scorer is judged on it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

from concatmt.testbed.contrastive import Item, contrastive_sets
from concatmt.testbed.dials import LANGUAGES, Dials, parse_dials
from concatmt.testbed.documents import Document, draw_documents, training_recipe

PAIRS = sorted(LANGUAGES)
Scorer = Callable[[dict[str, Any]], Sequence[float]]  # a record -> one score per candidate


@cache
def dials(pair: str, **changes: Any) -> Dials:
    return parse_dials(pair=pair, items=50, **changes)


@cache
def items(pair: str, **changes: Any) -> dict[str, list[Item]]:
    """Contrastive sets: one or more passes over each latent space."""
    return dict(contrastive_sets(dials(pair, **changes), set()))


@cache
def training(pair: str, count: int = 2000, **changes: Any) -> list[Document]:
    """Training documents, drawn with the contrastive sets kept out."""
    chosen = dials(pair, **changes)
    taken: set[bytes] = set()
    list(contrastive_sets(chosen, taken))
    return list(draw_documents(training_recipe(chosen), "train", count, taken))


def judge(scorer: Scorer, found: list[Item]) -> tuple[float, float]:
    """Accuracy per item and per orbit; a tie among m best candidates counts 1/m."""
    right: dict[str, list[float]] = defaultdict(list)
    for item in found:
        record = item.contrastive()
        scores = list(scorer(record))
        best = [i for i, score in enumerate(scores) if score == max(scores)]
        right[item.orbit].append((record["correct"] in best) / len(best))
    shares = [share for orbit in right.values() for share in orbit]
    whole = [float(all(share == 1 for share in orbit)) for orbit in right.values()]
    return sum(shares) / len(shares), sum(whole) / len(whole)


def options(found: list[Item]) -> int:
    return prod({len(item.scene.current.candidates) for item in found})
