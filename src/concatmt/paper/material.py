"""Finds what the runs of a setting read, and checks it before training starts.

Corpora, test documents and contrastive sets, where docs/data.md puts them. A set whose items
depend on context is never used without it. Does not know models or results.
"""

import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from concatmt.config import Config
from concatmt.corpus.document import Document
from concatmt.corpus.formats import Reader
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import Part
from concatmt.corpus.store import MANIFEST, Store
from concatmt.errors import UserError
from concatmt.evaluation.measures.quality import lines
from concatmt.evaluation.sets import ContrastiveSet, read_set
from concatmt.evaluation.suite import Suite, TestSet, test_set
from concatmt.evaluation.texts import Text
from concatmt.files import hash_text
from concatmt.model.config import ModelConfig
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.paper.setting import Setting
from concatmt.settings import load_settings
from concatmt.training.checkpoints import KEEP_LAST
from concatmt.training.trackers import tracker_named

TESTBED, STORE, START = "corpus", "store", "start"
WHERE = "docs/data.md says where every file goes"
NAMED = 3  # missing files that a message lists
STORE_FACTOR = 3  # bytes that preparing needs at its peak, per byte of raw text
BYTES = 4  # of a weight


def config_of(setting: Setting, work: Path, more: Sequence[str] = ()) -> Config:
    """The preset with the setting's overrides, `more` of them, and what `--set` changed."""
    root = [f"corpus.root={work / TESTBED}"] if setting.dials is not None else []
    return load_settings(
        Config, setting.config, [*setting.overrides, *more, *root, *setting.changes]
    )


def test_documents(setting: Setting, work: Path) -> list[Document]:
    """The test split as text."""
    corpus, _ = config_of(setting, work).to_prepare()
    report = ReadReport()
    return [
        document
        for reader in corpus.splits["test"]
        for document in reader.documents(corpus.root, report)
    ]


def suite(setting: Setting, work: Path) -> Suite:
    """What the runs of a setting are evaluated on: its contrastive sets and its test documents."""
    documents = test_documents(setting, work)

    def load() -> list[Part]:
        return [
            Part(str(number), source=list(document.source), gold=list(document.target))
            for number, document in enumerate(documents, start=1)
        ]

    digest = hash_text(repr([(document.source, document.target) for document in documents]))
    text = Text("test", work, digest, load)
    return Suite(sets=tuple(contrastive_sets(setting, work)), texts=(text,))


def contrastive_sets(setting: Setting, work: Path) -> list[TestSet]:
    """The contrastive sets, with their contexts."""
    if setting.dials is not None:
        paths = sorted((work / TESTBED).glob("contrastive/*.jsonl"))
        return [test_set(read_set(path), path) for path in paths]
    corpus, _ = config_of(setting, work).to_prepare()
    documents = None if setting.documents is None else corpus.root / setting.documents
    if documents is not None and not documents.is_dir():
        raise UserError(
            f"{documents}: missing: the subtitles that the contexts of {setting.sets[0]} are taken"
            f" from; without them its items cannot be scored ({WHERE})"
        )
    problems = []
    for name in setting.sets:
        path = corpus.root / name
        if not path.is_file():
            raise UserError(f"{path}: missing: a contrastive set of {setting.name} ({WHERE})")
        content = read_set(path, documents)
        _check_context(path, content)
        problems.append(test_set(content, path))
    return problems


def _check_context(path: Path, contrastive: ContrastiveSet) -> None:
    """Refuse a set whose items depend on earlier sentences that are not there."""
    bare = [item for item in contrastive.items if len(item.source) == 1]
    lacking = [item for item in bare if item.distance is None or item.distance > 0]
    if lacking:
        raise UserError(
            f"{path}: {len(lacking):,} of {len(contrastive.items):,} items have no context, first"
            f" {lacking[0].id}; scores would not be those of {contrastive.name}; {WHERE}"
        )


def context_counts(sets: Sequence[TestSet]) -> str:
    """How many items of each set have context, as in `contrapro 11,990/12,000`."""
    counts = []
    for read in sets:
        items = read.content.items if read.content else []
        with_context = sum(len(item.source) > 1 for item in items)
        counts.append(f"{read.name} {with_context:,}/{len(items):,}")
    return ", ".join(counts)


def check(setting: Setting, work: Path, launcher: str, runs: int) -> None:
    """Everything that `runs` runs of a setting will need; an error names what is missing."""
    _check_extras(setting, work, launcher)
    _check_store(setting, work)
    if setting.dials is not None:
        return  # generated
    _check_corpora(setting, work)
    lines(suite(setting, work).texts[0].references, setting.convention)
    _check_disk(setting, work, runs)


def _check_extras(setting: Setting, work: Path, launcher: str) -> None:
    if launcher == "slurm" and importlib.util.find_spec("submitit") is None:
        raise UserError("--launcher slurm: install concatmt[slurm] for it")
    for name in config_of(setting, work).training.track:
        tracker_named(name)


def _check_store(setting: Setting, work: Path) -> None:
    """Refuse a store that was made with other text settings than those than the requested ones."""
    if not (work / STORE / MANIFEST).is_file():
        return
    _, text = config_of(setting, work).to_prepare()
    if Store.open(work / STORE).text.settings != text:
        raise UserError(
            f"{work / STORE}: was prepared with other text settings; give another --work, or"
            " delete it"
        )


def _files(readers: list[Reader]) -> Iterator[Path]:
    """All files that some corpora are read from."""
    for reader in readers:
        for _, value in reader:
            values = value if isinstance(value, list) else [value]
            yield from (path for path in values if isinstance(path, Path))


def _corpora(setting: Setting, work: Path) -> list[Path]:
    """The raw files that are still needed: with a store, only the test split."""
    corpus, _ = config_of(setting, work).to_prepare()
    if "test" not in corpus.splits:
        raise UserError(f"corpus.splits: {setting.name} needs a split 'test', for BLEU")
    prepared = (work / STORE / MANIFEST).is_file()
    readers = [] if prepared or isinstance(corpus.learn_from, str) else [*corpus.learn_from]
    for name, of_split in corpus.splits.items():
        readers += of_split if name == "test" or not prepared else []
    return list(dict.fromkeys(corpus.root / path for path in _files(readers)))


def _check_corpora(setting: Setting, work: Path) -> None:
    missing = [path for path in _corpora(setting, work) if not path.is_file()]
    if missing:
        names = ", ".join(map(str, missing[:NAMED]))
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        raise UserError(f"{names}{more}: missing: corpora of {setting.name} ({WHERE})")


def _check_disk(setting: Setting, work: Path, runs: int) -> None:
    """Run folders are kept: each has complete checkpoints, those to average, and the model."""
    config = config_of(setting, work)
    copies = KEEP_LAST * 3 + config.training.average + 1  # Adam keeps two numbers for each weight
    needed = runs * copies * BYTES * _weights(config)
    if not (work / STORE / MANIFEST).is_file():
        needed += STORE_FACTOR * sum(path.stat().st_size for path in _corpora(setting, work))
    there = next(folder for folder in (work, *work.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise UserError(
            f"{work}: {free / 1e9:.1f} GB are free, but {runs} runs need about"
            f" {needed / 1e9:.1f} GB; give --work on a larger disk"
        )


def _weights(config: Config) -> int:
    """About how many weights a model has: as the vocabulary is not known before it is learnt."""
    size: int = getattr(config.text, "merges", getattr(config.text, "size", 32_000))
    with torch.device("meta"):
        model = Transformer(
            ModelConfig(
                architecture=config.model,
                system=parse_system("s4to4"),
                source_vocabulary=size,
                target_vocabulary=size,
                sentence_length=10,
            )
        )
    return sum(parameter.numel() for parameter in model.parameters())
