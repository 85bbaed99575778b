"""Models as members of systems: each answers, translates and scores a test set only once.

The results are kept in a file whose name has a hash of everything they
depend on (weights, vocabulary, settings, set, version), so an existing file is never stale. Does
not compute figures.
"""

import functools
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt import __version__
from concatmt.corpus.parts import Part
from concatmt.decoding.contrast import Contrast
from concatmt.decoding.document_scores import DocumentScorer
from concatmt.decoding.job import Job, translate_file
from concatmt.decoding.journal import Journal, Shard
from concatmt.decoding.loading import HASH_DIGITS, LoadedModel
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.evaluation.answers import answer_set, sets_signature, write_answers
from concatmt.evaluation.config import EvaluateConfig, Kind
from concatmt.evaluation.outcomes import OutcomeFile, read_items
from concatmt.evaluation.perturbed_sets import as_lines, perturb
from concatmt.evaluation.scores import Sentence, read_scores, score_record
from concatmt.evaluation.sets import ContrastiveSet, read_set
from concatmt.evaluation.subjects import Deed, Given, Subject, check_names, labels
from concatmt.evaluation.suite import ExpectedForms, TestSet
from concatmt.evaluation.texts import Text
from concatmt.evaluation.translations import TranslationFile, read_translations
from concatmt.files import atomic_file, hash_text, read_json, write_text
from concatmt.model.config import ModelConfig
from concatmt.model.directory import CONFIG, RUN_DESCRIPTION, RUN_MODEL, load_config
from concatmt.model.systems import system_name
from concatmt.progress import progress
from concatmt.settings import Settings
from concatmt.signature import Signature
from concatmt.text.pipeline import TextPipeline
from concatmt.training.ending import Ending, ending_of_run, read_ending
from concatmt.training.run import Run

ITEMS = "items"
DIGITS = 8
DEEDS: frozenset[Deed] = frozenset({"contrast", "translate", "score", "model"})


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A trained model's folder, and what is known without loading its weights."""

    origin: Path  # the path as given
    model: Path  # the model directory
    config: ModelConfig
    key: str  # hash of the weights and of the text pipeline
    metrics: tuple[dict[str, Any], ...]  # of its training, if it was given as a run
    ending: Ending | None = None  # why its training ended, if that is known

    @property
    def system(self) -> str:
        """The system's name in the paper's notation."""
        return system_name(self.config.system)


class ModelMember:
    """One trained model, the settings of its use, and the folder of its results."""

    deeds = DEEDS

    def __init__(
        self, folder: ModelFolder, label: str, config: EvaluateConfig, output: Path
    ) -> None:
        self.folder, self.label, self.config = folder, label, config
        self.origin = folder.origin
        self.shared = output / ITEMS
        self.items = output / ITEMS / f"{folder.system}-{folder.key}"

    @functools.cached_property
    def loaded(self) -> LoadedModel:
        """The loaded model; loads it when a result is missing."""
        return LoadedModel.load(self.folder.model)

    @property
    def sees_context(self) -> bool:
        """Whether its windows have context."""
        return self.folder.config.system.sentences > 1

    @property
    def window(self) -> int:
        """Sentences that the model sees of a contrastive item."""
        asked = self.config.contrast.context
        return self.folder.config.system.sentences if asked is None else asked + 1

    def facts(self) -> dict[str, Any]:
        """System, hash, and why the training ended."""
        ending = self.folder.ending
        return {
            "system": self.folder.system,
            "hash": self.folder.key,
            "ended": ending.to_json() if ending else None,
        }

    def kept(self, name: str, depends_on: Sequence[object], make: Callable[[Path], None]) -> Path:
        """The file `name` with a hash before its suffix; made if missing."""
        stem, _, suffix = name.rpartition(".")
        path = self.items / f"{stem}.{_key(*depends_on)}.{suffix}"
        if not path.is_file():
            print(f"{self.label}: {path.name}", file=sys.stderr)
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
        return path

    def contrast(self, test: TestSet, kind: Kind | None = None) -> OutcomeFile:
        """Answers to a contrastive set, with its own context or a changed one."""
        config = self.config.contrast
        changed = (kind, self.config.seed, self.window) if kind else ()

        def make(path: Path) -> None:
            content = test.content if kind is None else self.perturbed(test, kind)
            assert content is not None
            judge = Contrast(self.loaded, config)
            with progress(self._title(path), len(content.items), "items") as bar:
                answers = answer_set(judge, content, bar)
            signature = sets_signature(judge, [content])
            write_answers(path, signature, [content], [answers])

        name = f"contrast.{test.path.stem}.{kind or 'gold'}.jsonl"
        return read_items(self.kept(name, (config, test.hash, *changed), make))

    def perturbed(self, test: TestSet, kind: Kind) -> ContrastiveSet:
        """The set with another context; kept as a file, shared by models with the same window."""
        key = _key(None, test.hash, kind, self.config.seed, self.window)
        path = self.shared / "sets" / f"{test.name}.{kind}.{key}.jsonl"
        if not path.is_file():
            assert test.content is not None
            records, _ = perturb(test.content.items, kind, self.config.seed, self.window)
            write_text(path, as_lines(records))
        return read_set(path)

    def translate(self, text: Text) -> TranslationFile:
        """Translations of a text."""
        return self._translated(text.name, text.hash, text.parts)

    def translate_items(self, expected: ExpectedForms) -> TranslationFile:
        """Translations of items, each a document of its own."""

        def parts() -> list[Part]:
            return [
                Part(expectation.item.id, source=list(expectation.source))
                for expectation in expected.items
            ]

        return self._translated(expected.name, expected.hash, parts)

    def _translated(
        self, name: str, digest: str, parts: Callable[[], Iterable[Part]]
    ) -> TranslationFile:
        config = self.config.translate.resolved()

        def make(path: Path) -> None:
            model = self.loaded
            translator = Translator(model.engine, model.text, config, model.identity)
            job = Job(translator, Writer("jsonl"))
            with (
                Journal(path, job.signature, Shard(), resume=True) as journal,
                progress(self._title(path), unit="sentences") as bar,
            ):
                translate_file(job, parts(), journal, bar)

        return read_translations(self.kept(f"translate.{name}.jsonl", (config, digest), make))

    def scores(self, text: Text) -> tuple[Signature, list[Sentence]]:
        """Log-probs of a text's references, with every amount of context."""
        size, limit = self.folder.config.system.sentences, self.config.documents

        def make(path: Path) -> None:
            scorer = DocumentScorer(self.loaded, range(size), self.config.contrast.pool)
            with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
                file.write(json.dumps({"signature": scorer.signature.to_json()}) + "\n")
                with progress(self._title(path), unit="sentences") as bar:
                    for scores in scorer.scores(text.parts(limit)):
                        for score in scores:
                            file.write(json.dumps(score_record(score), ensure_ascii=False) + "\n")
                        bar.advance(len(scores) // size)

        return read_scores(self.kept(f"score.{text.name}.jsonl", (None, text.hash, limit), make))

    def _title(self, path: Path) -> str:
        return f"{self.label}: {'.'.join(path.name.split('.')[:2])}"


def _key(config: object, *parts: object) -> str:
    """A hash of what a file depends on beside the model, except how the work is distributed."""
    settings = {}
    if isinstance(config, Settings):
        settings = config.model_dump(mode="json", exclude={"pool"})
    return hash_text(json.dumps([settings, *map(str, parts), __version__]))[:DIGITS]


def check_output(output: Path) -> None:
    """Refuse a folder that holds something other than an evaluation."""
    if output.is_file():
        raise UserError(f"{output}: a file; give a folder for the evaluation")
    ours = any((output / name).exists() for name in (ITEMS, "evaluation.json"))
    if output.is_dir() and any(output.iterdir()) and not ours:
        raise UserError(f"{output}: exists and is not an evaluation; choose another output")


def read_models(given: Sequence[Given], config: EvaluateConfig, output: Path) -> list[Subject]:
    """Find the models; a system without a name gets the paper's notation."""
    subjects = []
    for system in given:
        folders = [find_model(path) for path in system.paths]
        first = folders[0]
        for folder in folders:
            if folder.system != first.system:
                raise UserError(
                    f"{folder.origin}: is of system {folder.system}, but {first.origin}, given as"
                    f" another seed of it, of {first.system}; separate systems by a space"
                )
        name = system.name or first.system
        pairs = zip(labels(name, len(folders)), folders, strict=True)
        subjects.append(
            Subject(name, [ModelMember(f, label, config, output) for label, f in pairs])
        )
    check_names(subjects)
    return subjects


def languages_of(folders: Sequence[ModelFolder]) -> tuple[str, str]:
    """Source and target language, which all systems must share."""
    pipelines = [
        (folder, TextPipeline.load(folder.model / "text").settings.languages) for folder in folders
    ]
    first, languages = pipelines[0]
    for folder, others in pipelines:
        if others != languages:
            raise UserError(
                f"{folder.origin}: translates {others.source}-{others.target}, but {first.origin}"
                f" {languages.source}-{languages.target}; compare systems of one language pair"
            )
    return languages.source, languages.target


def find_model(path: Path) -> ModelFolder:
    """The model of a finished training run, or of a model directory."""
    if not path.is_dir():
        raise UserError(f"{path}: no such folder; give training runs or model directories")
    model: Path = path
    metrics: tuple[dict[str, Any], ...] = ()
    if not (path / CONFIG).is_file():
        model, metrics = _finished(path)
    weights = read_json(model / CONFIG, "model directory")["weights_sha256"]
    config = load_config(model)
    if not (model / "text").is_dir():
        raise UserError(f"{model}: not a complete model directory: it has no text pipeline")
    key = hash_text(weights + TextPipeline.fingerprint(model / "text"))[:HASH_DIGITS]
    ending = read_ending(model)
    if ending is None and metrics:
        ending = ending_of_run(Run(path))
    return ModelFolder(path, model, config, key, metrics, ending)


def _finished(path: Path) -> tuple[Path, tuple[dict[str, Any], ...]]:
    """The model and the metrics of a finished training run."""
    if not (path / RUN_DESCRIPTION).is_file():
        raise UserError(
            f"{path}: neither a training run nor a model directory: it has no {RUN_DESCRIPTION}"
            f" and no {CONFIG}"
        )
    metrics = tuple(Run(path).metrics())
    trained = metrics[-1]["update"] if metrics else 0
    if Run(path).in_training:
        raise UserError(
            f"{path}: is still training (update {trained:,}); wait until it has finished"
        )
    if not (path / RUN_MODEL / CONFIG).is_file():
        raise UserError(
            f"{path}: the training is not finished (update {trained:,}): it has no averaged model;"
            " run the same 'concatmt train' again to resume it"
        )
    return path / RUN_MODEL, metrics
