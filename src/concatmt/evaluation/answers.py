"""Runs contrastive sets through a model; writes and summarises the answers."""

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.decoding.contrast import Answer, Contrast, Question
from concatmt.evaluation.sets import ContrastiveItem, ContrastiveSet
from concatmt.files import write_text
from concatmt.json_text import parse_json
from concatmt.progress import Progress
from concatmt.signature import Signature


def answer_set(judge: Contrast, test_set: ContrastiveSet, bar: Progress) -> list[Answer]:
    """A model's answers to all items of a set."""
    answers = []
    for answer in judge.answers(Question(i.source, i.targets, i.correct) for i in test_set.items):
        answers.append(answer)
        bar.advance()
    return answers


def sets_signature(judge: Contrast, sets: Sequence[ContrastiveSet]) -> Signature:
    """The signature: the model's settings, and which sets lack context on one side."""
    cut = ",".join(test_set.name for test_set in sets if test_set.cut) or None
    return Signature({**judge.signature.values, "context_cut": cut})


def write_answers(
    path: Path,
    signature: Signature,
    sets: Sequence[ContrastiveSet],
    answers: Sequence[Sequence[Answer]],
) -> None:
    """A signature, then one line for each item."""
    head = {"signature": signature.to_json(), "remarks": remarks(sets)}
    lines = [json.dumps(head, ensure_ascii=False)]
    for test_set, of_set in zip(sets, answers, strict=True):
        for item, answer in zip(test_set.items, of_set, strict=True):
            lines.append(json.dumps(item_record(item, answer), ensure_ascii=False))
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_records(path: Path) -> list[dict[str, Any]]:
    """The items of a file that `write_answers` wrote, as they are."""
    return [parse_json(line) for line in islice(read_lines(path, ReadReport()), 1, None)]


def remarks(sets: Sequence[ContrastiveSet]) -> dict[str, str]:
    """Remarks that belong beside any figure of a set."""
    return {test_set.name: test_set.remark for test_set in sets if test_set.remark}


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
        "window": [[candidate.window, candidate.window_tokens] for candidate in answer.sums],
        "current": [[candidate.current, candidate.current_tokens] for candidate in answer.sums],
    }


def summary_table(sets: Sequence[ContrastiveSet], verdicts: Sequence[Sequence[float]]) -> str:
    """Accuracy, chance level and size of each set, in per cent."""
    rows = [("set", "accuracy", "chance", "items", "candidates")]
    for test_set, of_set in zip(sets, verdicts, strict=True):
        accuracy = 100 * sum(of_set) / len(of_set)
        candidates = sum(len(item.targets) for item in test_set.items)
        rows.append(
            (
                test_set.name,
                f"{accuracy:.2f}",
                f"{100 * test_set.chance:.2f}",
                f"{len(test_set.items):,}",
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
