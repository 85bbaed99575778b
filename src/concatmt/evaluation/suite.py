"""What runs are evaluated on: contrastive sets, items with expected forms, texts with references.

Finds them in files and folders, a testbed's among them, and says how they are measured. Does not
know models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from concatmt.decoding.config import ContrastConfig, TranslateConfig
from concatmt.decoding.inputs import Part, format_of
from concatmt.errors import UserError
from concatmt.evaluation.generative import (
    Expectation,
    WrongForms,
    expectations_of,
    read_expectations,
)
from concatmt.evaluation.parallel_text import first_documents
from concatmt.evaluation.perturbation import Kind
from concatmt.evaluation.quality import Convention
from concatmt.evaluation.sets import ContrastiveSet, read_set
from concatmt.evaluation.translations import check_documents, read_references
from concatmt.files import hash_file, hash_text, read_json
from concatmt.settings import Settings

Measure = Literal[
    "contrastive", "generative", "quality", "perturbation", "context-use", "attention"
]
Count = Annotated[int, Field(ge=1)]
EXPECTED = "expected.jsonl"
CONTRASTIVE = "contrastive"
CARD = "card.json"
DEVELOPMENT = "_dev"  # ends the names of Voita's development sets


class SuiteConfig(Settings):
    """How runs are measured."""

    measures: tuple[Measure, ...] | None = None  # None: all that the sets allow
    contrast: ContrastConfig = ContrastConfig()
    translate: TranslateConfig = TranslateConfig()
    contexts: tuple[Kind, ...] = ("none", "random", "shuffled", "other")  # of `perturbation`
    seed: int = 1  # of `perturbation`
    wrong_forms: WrongForms = "absent"  # of `generative`
    conventions: tuple[Convention, ...] = ("sentence", "document")
    test: Literal["bs", "ar"] = "bs"
    samples: Count = 1000
    documents: Count = 200  # of a text, for `context-use`
    attention_documents: Count = 50
    examples: Annotated[int, Field(ge=0)] = 3  # documents shown token by token

    def wants(self, measure: Measure) -> bool:
        """Whether it is asked for, or nothing is."""
        return self.measures is None or measure in self.measures


@dataclass(frozen=True, slots=True)
class TestSet:
    """A contrastive set and the hash of what its items depend on."""

    content: ContrastiveSet
    path: Path
    hash: str


@dataclass(frozen=True, slots=True)
class ExpectedForms:
    """Items to be translated, with the forms that are looked for."""

    name: str
    path: Path
    items: tuple[Expectation, ...]
    hash: str


@dataclass(frozen=True, slots=True)
class Text:
    """Documents with references: two texts, or one file with both."""

    name: str
    source: Path
    target: Path | None
    hash: str

    @property
    def references(self) -> Path:
        """The file that has the references."""
        return self.target or self.source

    def parts(self, limit: int | None = None) -> list[Part]:
        """The first documents."""
        return first_documents(self.source, format_of(self.source), self.target, limit)


@dataclass(frozen=True, slots=True)
class Suite:
    """Everything that runs are evaluated on."""

    sets: tuple[TestSet, ...]
    expected: tuple[ExpectedForms, ...]
    texts: tuple[Text, ...]
    # Of a testbed: task -> observer -> the best accuracy that it can reach, in per cent.
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def check(self, config: SuiteConfig) -> None:
        """Refuse measures that were asked for and that nothing is given for."""
        needs: dict[Measure, tuple[Sequence[object], str]] = {
            "contrastive": (self.sets, "contrastive sets"),
            "perturbation": (self.sets, "contrastive sets"),
            "generative": (self.expected, "items with expected forms"),
            "quality": (self.texts, "a text with references"),
            "context-use": (self.texts, "a text with references"),
            "attention": (self.texts, "a text with references"),
        }
        for measure in config.measures or ():
            found, what = needs[measure]
            if not found:
                raise UserError(f"--measure {measure}: needs {what}, and --on has none")


def read_suite(
    given: Sequence[str], languages: tuple[str, str], documents: Path | None = None
) -> Suite:
    """Read all of `--on`: files, folders, and texts as `SOURCE,REFERENCE`."""
    sets: list[TestSet] = []
    expected: list[ExpectedForms] = []
    texts: list[Text] = []
    bounds: dict[str, dict[str, float]] = {}
    for one in given:
        if "," in one and not Path(one).exists():
            texts.append(_pair(one))
        elif Path(one).is_dir():
            _read_folder(Path(one), languages, documents, sets, expected, texts)
            bounds |= _bounds(Path(one) / CARD)
        else:
            _read_file(Path(one), documents, sets, expected, texts)
    seen: dict[tuple[str, str], Path] = {}
    for test in sets:
        for item in test.content.items:
            first = seen.setdefault((item.set, item.id), test.path)
            if first != test.path:
                raise UserError(
                    f"{test.path}: item {item.id!r} of {item.set} is also in {first}; give one of"
                    " the two"
                )
    return Suite(tuple(sets), tuple(expected), tuple(texts), bounds)


def _read_folder(
    folder: Path,
    languages: tuple[str, str],
    documents: Path | None,
    sets: list[TestSet],
    expected: list[ExpectedForms],
    texts: list[Text],
) -> None:
    """A testbed, or a folder of contrastive sets; development sets are left alone."""
    before = len(sets) + len(expected) + len(texts)
    inner = folder / CONTRASTIVE
    files = inner if inner.is_dir() else folder
    for path in sorted([*files.glob("*.jsonl"), *files.glob("*.json")]):
        described = files == folder and path.name in (EXPECTED, CARD)
        if not described and not path.stem.endswith(DEVELOPMENT):
            _read_file(path, documents, sets, expected, texts)
    if (folder / EXPECTED).is_file():
        expected.append(_expected(folder / EXPECTED, documents))
    source, target = (folder / f"test.{language}" for language in languages)
    if source.is_file() and target.is_file():
        texts.append(_text(source, target))
    if len(sets) + len(expected) + len(texts) == before:
        raise UserError(
            f"{folder}: nothing to evaluate on: no contrastive set, no {EXPECTED}, and no"
            f" test.{languages[0]} with test.{languages[1]}, the model's languages"
        )


def _bounds(card: Path) -> dict[str, dict[str, float]]:
    """What a testbed's card says of scorers that are given the target context."""
    if not card.is_file():
        return {}
    tasks = read_json(card, "testbed card").get("tasks", {})
    return {
        task: {name: bound["all"] for name, bound in found["bounds_with_target"].items()}
        for task, found in tasks.items()
    }


def _read_file(
    path: Path,
    documents: Path | None,
    sets: list[TestSet],
    expected: list[ExpectedForms],
    texts: list[Text],
) -> None:
    """A contrastive set, items with expected forms, or documents with references."""
    if not path.is_file():
        raise UserError(f"{path}: no such file or folder")
    kind = _kind(path)
    if kind == "expected":
        expected.append(_expected(path, documents))
        return
    if kind == "documents":
        texts.append(_text(path, None))
        return
    found = read_set(path, documents)
    digest = hash_text(hash_file(path) + repr(found.items[0].source))
    if all(item.expected for item in found.items):
        items = tuple(expectations_of(found.items))
        expected.append(ExpectedForms(found.name, path, items, digest))
    if all(len(item.targets) > 1 for item in found.items):
        sets.append(TestSet(found, path, digest))


def _kind(path: Path) -> Literal["set", "expected", "documents"]:
    """By the keys of the first line, if it is JSONL."""
    if path.suffix != ".jsonl":
        return "set"
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    if '"candidates"' in first or '"contrastive"' in first or '"src segment"' in first:
        return "set"
    return "expected" if '"expected"' in first else "documents" if '"target"' in first else "set"


def _expected(path: Path, documents: Path | None) -> ExpectedForms:
    items = tuple(read_expectations(path, documents))
    for one in items:
        if not one.source:
            raise UserError(f"{path}: item {one.item.id} has no 'source' to translate")
    return ExpectedForms(path.name.split(".")[0], path, items, hash_file(path))


def _pair(given: str) -> Text:
    paths = [Path(part) for part in given.split(",")]
    if len(paths) != 2:
        raise UserError(f"--on {given}: write a text with its references as SOURCE,REFERENCE")
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file")
    return _text(paths[0], paths[1])


def _text(source: Path, target: Path | None) -> Text:
    if target is not None:
        check_documents(read_references(target), read_references(source))
    digest = hash_text(hash_file(source) + (hash_file(target) if target else ""))
    return Text(source.name, source, target, digest)
