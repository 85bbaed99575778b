"""A model at work on a suite: makes the item files that are missing, and finds those that are not.

A file's name has the model's hash and that of everything else it depends on (settings, set, text,
version), so a file that is there is right. Does not compute figures.
"""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from concatmt import __version__
from concatmt.decoding.contrast import Contrast
from concatmt.decoding.document_scores import DocumentScorer
from concatmt.decoding.inputs import Part
from concatmt.decoding.job import Job, translate_file
from concatmt.decoding.journal import Journal, Shard
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.evaluation import items
from concatmt.evaluation.attention import attention_use, windows_of
from concatmt.evaluation.context_use import score_record
from concatmt.evaluation.perturbation import Kind, as_lines, perturb
from concatmt.evaluation.runs import Member
from concatmt.evaluation.sets import ContrastiveSet, read_set
from concatmt.evaluation.suite import ExpectedForms, SuiteConfig, TestSet, Text
from concatmt.files import atomic_file, hash_text, write_json, write_text
from concatmt.progress import progress
from concatmt.settings import Settings

ITEMS = "items"
DIGITS = 8


class Bench:
    """One model, its settings, and the folder of its item files."""

    def __init__(self, member: Member, config: SuiteConfig, output: Path) -> None:
        self.member, self.config = member, config
        self.shared = output / ITEMS
        self.folder = output / ITEMS / f"{member.system}-{member.key}"
        self._loaded: LoadedModel | None = None

    @property
    def model(self) -> LoadedModel:
        """Loaded when something is missing."""
        if self._loaded is None:
            self._loaded = LoadedModel.load(self.member.model)
        return self._loaded

    @property
    def window(self) -> int:
        """Sentences that the model sees of a contrastive item."""
        asked = self.config.contrast.context
        return self.member.config.system.sentences if asked is None else asked + 1

    def contrast(self, test: TestSet, kind: Kind | None = None) -> Path:
        """Answers to a contrastive set, with its own context or a changed one."""
        config = self.config.contrast
        key = _key(config, test.hash, *((kind, self.config.seed, self.window) if kind else ()))
        path = self.folder / f"contrast.{test.path.stem}.{kind or 'gold'}.{key}.jsonl"

        def make() -> None:
            content = test.content if kind is None else self.perturbed(test, kind)
            judge = Contrast(self.model, config)
            with progress(self._title(path), len(content.items), "items") as bar:
                answers = items.answer_set(judge, content, bar)
            signature = items.sets_signature(judge, [content])
            items.write_answers(path, signature, [content], [answers])

        return self._made(path, make)

    def perturbed(self, test: TestSet, kind: Kind) -> ContrastiveSet:
        """The set with another context; kept as a file, the same for all models of one window."""
        key = _key(None, test.hash, kind, self.config.seed, self.window)
        path = self.shared / "sets" / f"{test.content.name}.{kind}.{key}.jsonl"
        if not path.is_file():
            records, _ = perturb(test.content.items, kind, self.config.seed, self.window)
            write_text(path, as_lines(records))
        return read_set(path)

    def translate(self, text: Text) -> Path:
        """Translations of a text."""
        return self._translated(text.name, text.hash, text.parts)

    def translate_items(self, expected: ExpectedForms) -> Path:
        """Translations of items, each a document of its own."""

        def parts() -> list[Part]:
            return [Part(one.item.id, source=list(one.source)) for one in expected.items]

        return self._translated(expected.name, expected.hash, parts)

    def _translated(self, name: str, digest: str, parts: Callable[[], Iterable[Part]]) -> Path:
        config = self.config.translate.resolved()
        path = self.folder / f"translate.{name}.{_key(config, digest)}.jsonl"

        def make() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            model = self.model
            translator = Translator(model.engine, model.text, config, model.identity)
            job = Job(translator, Writer("jsonl"))
            with (
                Journal(path, job.signature, Shard(), resume=True) as journal,
                progress(self._title(path), unit="sentences") as bar,
            ):
                translate_file(job, parts(), journal, bar)

        return self._made(path, make)

    def scores(self, text: Text) -> Path:
        """Log-probs of a text's references, with every amount of context."""
        size = self.member.config.system.sentences
        key = _key(None, text.hash, self.config.documents)
        path = self.folder / f"score.{text.name}.{key}.jsonl"

        def make() -> None:
            scorer = DocumentScorer(self.model, range(size), self.config.contrast.pool)
            with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
                file.write(json.dumps({"signature": scorer.signature.to_json()}) + "\n")
                with progress(self._title(path), unit="sentences") as bar:
                    for scores in scorer.scores(text.parts(self.config.documents)):
                        for one in scores:
                            file.write(json.dumps(score_record(one), ensure_ascii=False) + "\n")
                        bar.advance(len(scores) // size)

        return self._made(path, make)

    def attention(self, text: Text) -> Path:
        """Attention shares and entropies on a text with its references."""
        limit = self.config.attention_documents
        path = self.folder / f"attention.{text.name}.{_key(None, text.hash, limit)}.json"

        def make() -> None:
            windows = windows_of(self.model, text.parts(limit))
            found = attention_use(self.model.engine.model, windows)
            layers = [dataclasses.asdict(one) for one in found]
            signature = {
                **self.model.identity,
                "K": self.model.engine.config.system.sentences,
                "target_context": "gold",
                "windows": len(windows),
            }
            write_json(path, {"signature": signature, "layers": layers})

        return self._made(path, make)

    def _made(self, path: Path, make: Callable[[], None]) -> Path:
        if not path.is_file():
            print(f"{self.member.label}: {path.name}", file=sys.stderr)
            make()
        return path

    def _title(self, path: Path) -> str:
        return f"{self.member.label}: {'.'.join(path.name.split('.')[:2])}"


def check_output(output: Path) -> None:
    """Refuse a folder that holds something else than an evaluation."""
    if output.is_file():
        raise UserError(f"{output}: a file; give a folder for the evaluation")
    ours = any((output / name).exists() for name in (ITEMS, "evaluation.json"))
    if output.is_dir() and any(output.iterdir()) and not ours:
        raise UserError(f"{output}: exists and is no evaluation; choose another output")


def _key(config: Settings | None, *parts: object) -> str:
    """A hash of what a file depends on beside the model; how work is shared out is not in it."""
    settings = config.model_dump(mode="json", exclude={"pool"}) if config else {}
    return hash_text(json.dumps([settings, *map(str, parts), __version__]))[:DIGITS]
