"""Finds the test sets for an evaluation: contrastive sets, expected forms, texts.

Looks in files and folders, such as a testbed's. Does not know models or measures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from concatmt.corpus.document_marks import marks_beside
from concatmt.corpus.formats import DEFAULT, format_of
from concatmt.errors import UserError
from concatmt.evaluation.expectations import Expectation, expectations_of, read_expectations
from concatmt.evaluation.sets import ContrastiveSet, read_set
from concatmt.evaluation.texts import Text, read_pair, read_test_split, read_text
from concatmt.files import hash_file, hash_text, read_json

Need = Literal["sets", "expected", "texts"]
NEEDS: dict[Need, str] = {
    "sets": "contrastive sets",
    "expected": "items with expected forms",
    "texts": "a text with references",
}
EXPECTED = "expected.jsonl"
CONTRASTIVE = "contrastive"
CARD = "card.json"
CONFIGURATIONS = (".yaml", ".yml")
DEVELOPMENT = "_dev"  # ends the names of Voita's development sets


@dataclass(frozen=True, slots=True)
class TestSet:
    """A contrastive set and the hash of what its items depend on."""

    name: str
    path: Path
    hash: str = ""
    content: ContrastiveSet | None = None  # None: only the systems' answers are known


@dataclass(frozen=True, slots=True)
class ExpectedForms:
    """Items to translate, with the forms to look for."""

    name: str
    path: Path
    items: tuple[Expectation, ...]
    hash: str


@dataclass(frozen=True, slots=True)
class Suite:
    """Everything that systems are evaluated on."""

    sets: tuple[TestSet, ...] = ()
    expected: tuple[ExpectedForms, ...] = ()
    texts: tuple[Text, ...] = ()
    # For a testbed: task -> observer -> its best possible accuracy, in per cent.
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def has(self, need: Need) -> bool:
        """Whether there is something of that kind."""
        return bool({"sets": self.sets, "expected": self.expected, "texts": self.texts}[need])

    @property
    def files(self) -> list[dict[str, str]]:
        """All files with their hashes."""
        read = [(test_set.path, test_set.hash) for test_set in self.sets]
        read += [(expected.path, expected.hash) for expected in self.expected]
        read += [(text.path, text.hash) for text in self.texts]
        return [{"file": str(path), "hash": digest} for path, digest in read]


def read_suite(
    given: Sequence[str], languages: tuple[str, str], documents: Path | None = None
) -> Suite:
    """Read all of `--on`: files, folders, configurations, and texts as `SOURCE,REFERENCE[,IDS]`."""
    sets: list[TestSet] = []
    expected: list[ExpectedForms] = []
    texts: list[Text] = []
    bounds: dict[str, dict[str, float]] = {}
    for path in given:
        if "," in path and not Path(path).exists():
            texts.append(read_pair(path))
        elif Path(path).suffix in CONFIGURATIONS:
            texts.append(read_test_split(Path(path)))
        elif Path(path).is_dir():
            _read_folder(Path(path), languages, documents, sets, expected, texts)
            bounds |= _bounds(Path(path) / CARD)
        else:
            _read_file(Path(path), documents, sets, expected, texts)
    seen: dict[tuple[str, str], Path] = {}
    for test in sets:
        for item in test.content.items if test.content else ():
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
    """A testbed, or a folder of contrastive sets; development sets are ignored."""
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
        texts.append(read_text(source, target, marks_beside(source)))
    if len(sets) + len(expected) + len(texts) == before:
        raise UserError(
            f"{folder}: nothing to evaluate on: no contrastive set, no {EXPECTED}, and no"
            f" test.{languages[0]} with test.{languages[1]}, the model's languages"
        )


def _bounds(card: Path) -> dict[str, dict[str, float]]:
    """The bounds in a testbed's card for scorers that see the target context."""
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
    kind = kind_of(path)
    if kind == "expected":
        expected.append(_expected(path, documents))
        return
    if kind == "documents":
        texts.append(read_text(path))
        return
    content = read_set(path, documents)
    test = test_set(content, path)
    if all(item.expected for item in content.items):
        items = tuple(expectations_of(content.items))
        expected.append(ExpectedForms(content.name, path, items, test.hash))
    if all(len(item.targets) > 1 for item in content.items):
        sets.append(test)


def test_set(content: ContrastiveSet, path: Path) -> TestSet:
    """A test set read from `path`, with the hash of its items and their contexts."""
    return TestSet(content.name, path, hash_text(repr(content.items)), content)


def kind_of(path: Path) -> Literal["set", "expected", "documents"]:
    """What a file holds: by its format, and if it is JSONL by the keys of its first line."""
    if path.suffix != ".jsonl":
        return "set" if format_of(path) == DEFAULT else "documents"
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    if '"candidates"' in first or '"contrastive"' in first or '"src segment"' in first:
        return "set"
    if '"expected"' in first:
        return "expected"
    return "documents" if '"target"' in first else "set"


def _expected(path: Path, documents: Path | None) -> ExpectedForms:
    items = tuple(read_expectations(path, documents))
    for item in items:
        if not item.source:
            raise UserError(f"{path}: item {item.item.id} has no 'source' to translate")
    return ExpectedForms(path.name.split(".")[0], path, items, hash_file(path))
