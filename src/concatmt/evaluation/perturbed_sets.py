"""Makes contrastive sets with a context other than the true one.

The current sentence, its candidates and the right answer stay; sentences before it change, the same
way on both sides. Shuffled order tests sentence *position*. Does not know models.
"""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from concatmt.errors import UserError
from concatmt.evaluation.config import Kind
from concatmt.evaluation.sets import ContrastiveItem

DRAWS = 16
Pair = tuple[str, str]  # a context sentence and its translation


def perturb(
    items: Sequence[ContrastiveItem], kind: Kind, seed: int, window: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Items in the schema of contrastive sets, and how many of them are unchanged.

    `none` has no context, `shuffled` the same sentences in another order, `other` the context of an
    item of another document, `random` sentences from anywhere in other documents. With a `window`
    only the sentences inside it are shuffled: what a system cannot see stays out of sight.
    """
    rng = random.Random(seed)
    contexts = [_context(item) for item in items]
    records, unchanged = [], 0
    for place, item in enumerate(items):
        old = contexts[place]
        if kind == "none":
            new: list[Pair] = []
        elif kind == "shuffled":
            near = len(old) if window is None else min(window - 1, len(old))
            far = len(old) - near
            new = [*old[:far], *_shuffled(old[far:], rng)]
        elif kind == "other":
            new = _from_another(items, contexts, place, rng)
        else:
            new = [rng.choice(_from_another(items, contexts, place, rng)) for _ in old]
        unchanged += new == old
        records.append(_record(item, new))
    return records, unchanged


def _context(item: ContrastiveItem) -> list[Pair]:
    """Context sentences with their translations, which must be the same for all candidates."""
    first = item.targets[0][:-1]
    if any(target[:-1] != first for target in item.targets):
        raise UserError(
            f"{item.set}, item {item.id}: its candidates differ in the context, so it has no single"
            " context that could be changed"
        )
    return list(zip(item.source[:-1], first, strict=True))


def _shuffled(context: list[Pair], rng: random.Random) -> list[Pair]:
    """The context in another order, if there is one."""
    if len(set(context)) < 2:
        return context
    while (new := rng.sample(context, len(context))) == context:
        pass
    return new


def _from_another(
    items: Sequence[ContrastiveItem], contexts: Sequence[list[Pair]], place: int, rng: random.Random
) -> list[Pair]:
    """The context of an item in another document, with the same number of sentences."""
    size = len(contexts[place])
    if not size:
        return []
    ours = items[place]
    own = ours.document or ours.orbit or ours.id
    for number in _drawn(len(items), rng):
        other = items[number]
        if (other.document or other.orbit or other.id) != own and len(contexts[number]) >= size:
            return contexts[number][-size:]
    raise UserError(
        f"{ours.set}, item {ours.id}: no other document has {size} sentences of context to take"
    )


def _drawn(size: int, rng: random.Random) -> Iterator[int]:
    """Numbers below `size` in random order; a few first, since one of them is usually enough."""
    for _ in range(DRAWS):
        yield rng.randrange(size)
    yield from rng.sample(range(size), size)


def _record(item: ContrastiveItem, context: Sequence[Pair]) -> dict[str, Any]:
    optional = {
        "distance": item.distance,
        "orbit": item.orbit,
        "document": item.document,
        "conflict": item.conflict,
        "expected": item.expected,
    }
    return {
        "id": item.id,
        "source": [*(source for source, _ in context), item.source[-1]],
        "context": [target for _, target in context],
        "candidates": [target[-1] for target in item.targets],
        "correct": item.correct,
        "phenomenon": item.phenomenon,
        **{key: value for key, value in optional.items() if value is not None},
    }


def as_lines(records: Sequence[dict[str, Any]]) -> str:
    """JSONL."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
