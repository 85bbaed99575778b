"""The lines that `contrast` writes, one for each item, and the summary that it prints."""

from collections.abc import Sequence
from typing import Any

from concatmt.decoding.contrast import Answer
from concatmt.evaluation.sets import ContrastiveItem, ContrastiveSet


def item_record(item: ContrastiveItem, answer: Answer) -> dict[str, Any]:
    """Everything that later figures need, without the text."""
    optional = {
        "distance": item.distance,
        "orbit": item.orbit,
        "document": item.document,
        "conflict": item.conflict,
    }
    return {
        "id": item.id,
        "set": item.set,
        "phenomenon": item.phenomenon,
        **{key: value for key, value in optional.items() if value is not None},
        "correct": item.correct,
        "verdict": answer.verdict,
        "scores": answer.scores,
        "window": [[one.window, one.window_tokens] for one in answer.sums],
        "current": [[one.current, one.current_tokens] for one in answer.sums],
    }


def summary_table(sets: Sequence[ContrastiveSet], verdicts: Sequence[Sequence[float]]) -> str:
    """Accuracy, chance level and size of each set, in per cent."""
    rows = [("set", "accuracy", "chance", "items", "candidates")]
    for one, of_set in zip(sets, verdicts, strict=True):
        accuracy = 100 * sum(of_set) / len(of_set)
        candidates = sum(len(item.targets) for item in one.items)
        rows.append(
            (
                one.name,
                f"{accuracy:.2f}",
                f"{100 * one.chance:.2f}",
                f"{len(one.items):,}",
                f"{candidates:,}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
