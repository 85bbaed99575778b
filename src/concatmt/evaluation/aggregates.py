"""Computes the paper's aggregates of contrastive accuracies (appendix on discourse phenomena).

A part is a phenomenon or a distance, with its accuracy and the number of its items. Does not know
where accuracies come from, or whether they are fractions or per cent.
"""

from collections.abc import Mapping, Sequence

PHENOMENA = ("deixis", "lex_cohesion", "ellipsis_infl", "ellipsis_vp")
DISTANCES = ("d=0", "d=1", "d=2", "d=3", "d>3")
FARTHEST = 3


def distance_bin(distance: int) -> str:
    """The paper's bin of a distance in sentences."""
    return f"d={distance}" if distance <= FARTHEST else f"d>{FARTHEST}"


def weighted(accuracies: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """Mean over the items of all parts: each part counts by its size."""
    return sum(accuracies[part] * counts[part] for part in counts) / sum(counts.values())


def average(accuracies: Mapping[str, float], parts: Sequence[str]) -> float:
    """Mean over parts: each counts the same."""
    return sum(accuracies[part] for part in parts) / len(parts)


def voita(accuracies: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """Voita and Voita_avg from the four phenomena."""
    of_items = {part: counts[part] for part in PHENOMENA}
    return {
        "Voita": weighted(accuracies, of_items),
        "Voita_avg": average(accuracies, PHENOMENA),
    }


def contrapro(accuracies: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """CP_d>0, CP_avg and CP from the five distances; the first two leave d = 0 out."""
    of_items = {part: counts[part] for part in DISTANCES}
    outside = DISTANCES[1:]
    return {
        "CP_d>0": weighted(accuracies, {part: of_items[part] for part in outside}),
        "CP_avg": average(accuracies, outside),
        "CP": weighted(accuracies, of_items),
    }
