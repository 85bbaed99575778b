"""The systems under evaluation: each has one member per seed, a model or a file.

A file holds what a model produced (`models` has the other kind of member). Measures use both
in the same way. Does not know measures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.decoding.loading import LoadedModel
from concatmt.errors import UserError
from concatmt.evaluation.config import Kind
from concatmt.evaluation.outcomes import OutcomeFile, read_items
from concatmt.evaluation.scores import Sentence, read_scores
from concatmt.evaluation.suite import ExpectedForms, TestSet
from concatmt.evaluation.texts import Text
from concatmt.evaluation.translations import TranslationFile, read_translations
from concatmt.signature import Signature

Deed = Literal["contrast", "translate", "score", "model"]


class Member(Protocol):
    """One seed of a system: a model, or a file that one produced."""

    @property
    def label(self) -> str:
        """The system's name, with a number if there are several seeds."""

    @property
    def origin(self) -> Path:
        """The path as given."""

    @property
    def deeds(self) -> frozenset[Deed]:
        """What it can do; `model` means `loaded`, `kept` and other contexts."""

    @property
    def sees_context(self) -> bool:
        """Whether its windows have context."""

    def facts(self) -> dict[str, Any]:
        """Facts for the list of systems: name in the paper's notation, hash, ..."""

    def contrast(self, test: TestSet, kind: Kind | None = None) -> OutcomeFile:
        """Answers to a contrastive set, with its own context or a changed one."""

    def translate(self, text: Text) -> TranslationFile:
        """Translations of a text."""

    def translate_items(self, expected: ExpectedForms) -> TranslationFile:
        """Translations of items, each a document of its own."""

    def scores(self, text: Text) -> tuple[Signature, list[Sentence]]:
        """Log-probs of a text's references, with every amount of context."""

    @property
    def loaded(self) -> LoadedModel:
        """The model itself, for measures that look inside."""

    def kept(self, name: str, depends_on: Sequence[object], make: Callable[[Path], None]) -> Path:
        """A file that is made once: calls `make` again only if what it depends on has changed."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A system with one member for each seed."""

    name: str
    members: Sequence[Member]


def members_of(subjects: Sequence[Subject]) -> list[Member]:
    """All seeds of all systems."""
    return [member for subject in subjects for member in subject.members]


def seeing_context(
    subjects: Sequence[Subject], what: str
) -> tuple[list[tuple[Subject, Member]], list[str]]:
    """The members whose windows have context, with their systems; a line for each of the others."""
    everyone = [(subject, member) for subject in subjects for member in subject.members]
    others = [member.label for _, member in everyone if not member.sees_context]
    left_out = [f"{what} of {label}: it sees no context" for label in others]
    return [(subject, member) for subject, member in everyone if member.sees_context], left_out


@dataclass(frozen=True, slots=True)
class Given:
    """A system's name, empty if it has none, and a path for each seed."""

    name: str
    paths: tuple[Path, ...]


def parse_given(arguments: Sequence[str]) -> list[Given]:
    """Read `[NAME=]PATH[,PATH...]`."""
    subjects = []
    for argument in arguments:
        name, equals, files = argument.partition("=")
        paths = tuple(Path(file) for file in (files if equals else argument).split(",") if file)
        if not paths or (equals and not name):
            raise UserError(f"{argument!r}: write a system as PATH, NAME=PATH or NAME=PATH,PATH")
        subjects.append(Given(name if equals else "", paths))
    return subjects


def check_names(subjects: Sequence[Subject]) -> None:
    """Refuse two systems with the same name."""
    names = [subject.name for subject in subjects]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two systems are called {name!r}; name them, as in NAME=PATH")


def labels(name: str, number: int) -> list[str]:
    """The names of a system's members."""
    return [name] if number == 1 else [f"{name} #{place}" for place in range(1, number + 1)]


class FileMember:
    """A file that `contrast`, `translate` or `score` wrote, or a text of translations."""

    def __init__(self, label: str, path: Path) -> None:
        self.label, self.origin = label, path
        self.deeds: frozenset[Deed] = frozenset({_deed(path)})

    @property
    def sees_context(self) -> bool:
        """Unknown for a file; what it lacks is refused when it is read."""
        return True

    def facts(self) -> dict[str, Any]:
        """No facts: the signature is printed with the figures."""
        return {}

    def contrast(self, test: TestSet, kind: Kind | None = None) -> OutcomeFile:
        """What is in the file, whatever the set."""
        return read_items(self.origin)

    def translate(self, text: Text) -> TranslationFile:
        """What is in the file; a text takes its documents from the lines of the references."""
        return read_translations(self.origin, text.path)

    def translate_items(self, expected: ExpectedForms) -> TranslationFile:
        """What is in the file."""
        return read_translations(self.origin)

    def scores(self, text: Text) -> tuple[Signature, list[Sentence]]:
        """What is in the file."""
        return read_scores(self.origin)

    @property
    def loaded(self) -> LoadedModel:
        """A file has no model."""
        raise UserError(f"{self.origin}: is a file; give runs or model directories, and --on")

    def kept(self, name: str, depends_on: Sequence[object], make: Callable[[Path], None]) -> Path:
        """A file keeps nothing."""
        raise UserError(f"{self.origin}: is a file; give runs or model directories, and --on")


def _deed(path: Path) -> Deed:
    """What kind of file this is, by its first lines."""
    if path.suffix != ".jsonl":
        return "translate"
    start = ""
    for number, line in enumerate(read_lines(path, ReadReport())):
        start += line
        if number == 1:
            break
    if '"log_probs"' in start:
        return "score"
    return "translate" if '"translation"' in start else "contrast"


def read_files(given: Sequence[Given]) -> list[Subject]:
    """Read systems whose members are files; the default name is that of the first file."""
    subjects = []
    for system in given:
        for path in system.paths:
            if path.is_dir():
                raise UserError(f"{path}: a folder; say with --on what to evaluate it on")
            if not path.is_file():
                raise UserError(
                    f"{path}: no such file; give files of contrast, translate or score, or runs"
                    " with --on"
                )
        name = system.name or system.paths[0].stem
        pairs = zip(labels(name, len(system.paths)), system.paths, strict=True)
        subjects.append(Subject(name, [FileMember(label, path) for label, path in pairs]))
    check_names(subjects)
    return subjects


def joined(member: Member, files: Sequence[OutcomeFile]) -> OutcomeFile:
    """The outcomes of one member on several sets, as one file."""
    values: Mapping[str, Any] = files[0].signature.values
    cut = [file.signature.values["context_cut"] for file in files if _is_cut(file)]
    signature = Signature({**values, "context_cut": ",".join(map(str, cut)) or None})
    outcomes = tuple(outcome for file in files for outcome in file.outcomes)
    return OutcomeFile(str(member.origin), signature, outcomes)


def _is_cut(file: OutcomeFile) -> bool:
    return "context_cut" in file.signature.values
