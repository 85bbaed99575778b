"""An evaluation from end to end: files in, a Markdown text and JSON out.

Puts the measures together. Does not print or write.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.evaluation import quality
from concatmt.evaluation.accuracy import Figure, figures
from concatmt.evaluation.generative import WrongForms, judge, read_expectations
from concatmt.evaluation.given import Given
from concatmt.evaluation.likelihood import likelihoods
from concatmt.evaluation.outcomes import System, read_items
from concatmt.evaluation.report import (
    accuracy_json,
    accuracy_table,
    headlines,
    likelihood_text,
    quality_json,
    quality_text,
)
from concatmt.evaluation.translations import TranslationFile, read_references, read_translations


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What comes out."""

    text: str
    json: dict[str, Any]
    figures: tuple[Figure, ...] = ()  # of accuracies
    systems: tuple[System, ...] = ()


def contrastive(given: Sequence[Given]) -> Evaluation:
    """Accuracy of the items that `contrast` wrote."""
    systems = [System(one.name, tuple(map(read_items, one.files))) for one in given]
    return accuracy(systems, "contrastive")


def generative(
    given: Sequence[Given],
    expected: Path,
    documents: Path | None = None,
    wrong_forms: WrongForms = "absent",
) -> Evaluation:
    """Accuracy of translations of the items of `expected`."""
    expectations = read_expectations(expected, documents)
    systems = [
        System(
            one.name,
            tuple(judge(read_translations(path), expectations, wrong_forms) for path in one.files),
        )
        for one in given
    ]
    return accuracy(systems, "generative")


def accuracy(systems: Sequence[System], measure: str) -> Evaluation:
    """Figures of systems whose outcomes are known."""
    found = figures(systems)
    signatures = "\n".join(
        f"signature: {file.path}: {file.signature}" for one in systems for file in one.files
    )
    parts = [headlines(found, systems), accuracy_table(found, systems)]
    of_model = likelihoods(systems)
    if of_model:
        parts.append(likelihood_text(of_model))
    details = accuracy_json(found, systems, measure)
    details["log_probs"] = [dataclasses.asdict(one) for one in of_model]
    text = "\n\n".join([*parts, signatures])
    return Evaluation(text, details, tuple(found), tuple(systems))


def translation_quality(
    given: Sequence[Given],
    references: Path,
    convention: quality.Convention,
    test: Literal["bs", "ar"],
    samples: int,
) -> Evaluation:
    """BLEU and its kin under a convention; differences to the first system by a paired test."""
    reference = read_references(references)
    files: dict[str, TranslationFile] = {}
    for one in given:
        if len(one.files) > 1:
            raise UserError(
                f"{one.name}: translation quality compares runs one by one; give each seed a name"
            )
        files[one.name] = read_translations(one.files[0], references)
        quality.check_aligned(files[one.name].text, reference.text, str(one.files[0]))
    texts = {name: file.text for name, file in files.items()}
    comparisons = quality.compare(texts, reference.text, convention, test, samples)
    positions = {name: quality.by_position(text, reference.text) for name, text in texts.items()}
    tokenised = quality.look_tokenised(reference.text)
    details = {
        "measure": "quality",
        "version": __version__,
        "convention": convention,
        "test": f"{test}:{samples}",
        "references": reference.path,
        "tokenised": tokenised,
        "systems": [_file_json(name, file) for name, file in files.items()],
    }
    return Evaluation(
        quality_text(comparisons, positions, tokenised),
        {**details, **quality_json(comparisons, positions)},
    )


def _file_json(name: str, file: TranslationFile) -> dict[str, Any]:
    signature = file.signature.to_json() if file.signature else None
    return {"name": name, "file": file.path, "signature": signature}
