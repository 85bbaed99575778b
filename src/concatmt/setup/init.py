"""`concatmt init`: examine a corpus, propose settings, measure speed, write a configuration.

Without a development set, documents of the training set are held out, and all of it is written
as JSONL beside the configuration. Nothing that it trains is kept.
"""

import itertools
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from concatmt.corpus.document import Document
from concatmt.errors import UserError
from concatmt.files import atomic_file, write_text
from concatmt.setup.corpora import Corpora, SplitFiles
from concatmt.setup.hardware import Hardware
from concatmt.setup.probe import Speeds, measure
from concatmt.setup.proposal import FEWEST_PASSES, Amount, Proposal, propose, with_length
from concatmt.training.forecast import duration

HELD_OUT = 50  # one document in this many for development, and one for testing
FEWEST = 4  # documents that can still be divided
LITTLE = 3_000_000  # words; with fewer, a model trained from scratch stays poor


@dataclass(frozen=True, slots=True)
class Start:
    """What to print on the console."""

    found: list[str]
    reasons: list[str]
    commands: list[tuple[str, str]]  # command, time


def start(
    folder: Path, output: Path, source: str | None, target: str | None, hours: float
) -> Start:
    """Examine the corpus, propose, measure, and write the configuration to `output`."""
    if output.exists():
        raise UserError(f"{output}: exists; choose another --output or remove it")
    corpora = Corpora.find(folder, source, target)
    for split in corpora.splits.values():
        split.count(corpora.root)
    train = corpora.splits["train"]
    amount = Amount(train.sizes.documents, train.sizes.sentences, train.words[1])
    if not amount.sentences:
        raise UserError(f"{folder}: the corpus has no sentences")
    proposal, speeds, (tree, epochs, seconds) = _fitting(corpora, amount, hours)
    splits, divided = _splits(corpora, output)
    whole = {
        "languages": dict(zip(("source", "target"), corpora.languages, strict=True)),
        "corpus": {"root": os.path.relpath(divided or corpora.root), "splits": splits},
        **tree,
    }
    write_text(output, _commented(whole, proposal, epochs, speeds))
    described = [_described(name, split) for name, split in corpora.splits.items()]
    described += corpora.notes + ([_about_division(divided)] if divided else [])
    if train.sizes.suspicion is not None:
        described.append(f"warning: {train.sizes.suspicion}: are document boundaries missing?")
    reasons = [f"{name}: {reason}" for name, reason in proposal.reasons.items()]
    reasons.append(_length_reason(proposal, epochs, hours, speeds))
    if amount.words < LITTLE:
        reasons.append(
            "instead: with so little text a pretrained model that is fine-tuned on it will be far"
            " better (concatmt convert, then concatmt train finetune --init)"
        )
    return Start(described, reasons, _commands(output, corpora, divided, proposal, speeds, seconds))


def _fitting(
    corpora: Corpora, amount: Amount, hours: float
) -> tuple[Proposal, Speeds, tuple[dict[str, Any], float, float]]:
    """The largest model that sees the text often enough in the time there is, as measured here."""
    train, hardware = corpora.splits["train"], Hardware.here()
    for smaller in itertools.count():
        proposal = propose(amount, hardware, train.sizes.suspicion is None, smaller)
        documents = train.documents(corpora.root)
        speeds = measure(documents, corpora.languages, proposal.system, proposal.tree)
        tokens = speeds.tokens * amount.sentences
        length = with_length(proposal, tokens, speeds.train, hours)
        if length[1] >= FEWEST_PASSES or proposal.smallest:
            break
    return proposal, speeds, length


def _described(name: str, split: SplitFiles) -> str:
    sizes = split.sizes
    formats = ", ".join(sorted({type(reader).name() for reader in split.readers}))
    return (
        f"{name}: {sizes.documents:,} documents, {sizes.sentences:,} sentence pairs,"
        f" {split.words[0]:,} and {split.words[1]:,} words ({formats})"
    )


def _length_reason(proposal: Proposal, epochs: float, hours: float, speeds: Speeds) -> str:
    if epochs < 0.95 * proposal.epochs:
        return (
            f"length: {epochs:.1f} passes of the {proposal.epochs:g} that would pay off, because of"
            f" --hours {hours:g} at {speeds.train:,.0f} tokens/s; more hours or a GPU would help"
        )
    return f"length: {epochs:.1f} passes at {speeds.train:,.0f} tokens/s"


def _splits(corpora: Corpora, output: Path) -> tuple[dict[str, Any], Path | None]:
    """The corpora for the configuration, and the folder of a development set made here, if any.

    A test set is held out too unless there is one.
    """
    if "valid" in corpora.splits:
        return {
            name: [reader.model_dump(mode="json") for reader in split.readers]
            for name, split in corpora.splits.items()
        }, None
    train = corpora.splits["train"]
    if train.sizes.documents < FEWEST:
        raise UserError(
            f"{corpora.root}: no development set, and {train.sizes.documents} document(s) cannot be"
            f" divided; give dev.{corpora.languages[0]} and dev.{corpora.languages[1]}"
        )
    folder = output.with_suffix("")
    names = ("train", "valid", "test")
    every = min(HELD_OUT, max(3, train.sizes.documents // 2))
    parts: dict[str, list[Document]] = {name: [] for name in names}
    held_out = names if "test" not in corpora.splits else names[:2]
    for number, document in enumerate(train.documents(corpora.root)):
        kind = number % every
        name = held_out[kind + 1] if kind + 1 < len(held_out) else "train"
        parts[name].append(document)
    if "test" in corpora.splits:
        parts["test"] = list(corpora.splits["test"].documents(corpora.root))
    for name, documents in parts.items():
        _write(folder / f"{name}.jsonl", documents)
    return {name: [{"format": "jsonl", "file": f"{name}.jsonl"}] for name in names}, folder


def _write(path: Path, documents: Sequence[Document]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for document in documents:
            record = {"id": document.id, "source": document.source, "target": document.target}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _about_division(folder: Path) -> str:
    return f"no development set: one document in {HELD_OUT} was held out, see {folder}"


class _Dumper(yaml.SafeDumper):
    """Writes equal parts out in full, where YAML would use aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _commented(tree: dict[str, Any], proposal: Proposal, epochs: float, speeds: Speeds) -> str:
    """The configuration as YAML, with the reasons above what they explain."""
    lines = [
        "# Written by `concatmt init`; edit it, or use --set KEY=VALUE.",
        f"# System: {proposal.reasons['system']}.",
        f"# {speeds.parameters:,} parameters with the vocabulary of the probe's sample;"
        f" {epochs:.1f} passes over the training set.",
    ]
    for key, value in tree.items():
        if key in proposal.reasons:
            lines.append(f"# {proposal.reasons[key]}")
        text = yaml.dump(
            {key: value}, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100
        )
        lines.append(text.rstrip())
    return "\n".join(lines) + "\n"


def _commands(
    output: Path,
    corpora: Corpora,
    divided: Path | None,
    proposal: Proposal,
    speeds: Speeds,
    seconds: float,
) -> list[tuple[str, str]]:
    """The three commands, with the time of each at the probe's speed."""
    stem = output.with_suffix("").name
    data, run = f"{stem}-data", f"{stem}-run"
    sentences = sum(split.sizes.sentences for split in corpora.splits.values())
    tested = corpora.splits.get("test") or corpora.splits.get("valid")
    count = tested.sizes.sentences if tested else round(sentences / HELD_OUT)
    test = _test_file(corpora, divided)
    return [
        (
            _line("prepare", str(output), "--output", data),
            duration(sentences / speeds.prepare),
        ),
        (
            _line(
                "train", str(output), "--data", data, "--system", proposal.system, "--output", run
            ),
            f"{duration(seconds)}, plus validation",
        ),
        (
            _line("translate", f"{run}/model", test, "--output", f"{stem}.{corpora.languages[1]}"),
            duration(count / speeds.translate),
        ),
    ]


def _test_file(corpora: Corpora, divided: Path | None) -> str:
    if divided is not None:
        return str(divided / "test.jsonl")
    for name in ("test", "valid", "train"):
        for path in _files(corpora.splits.get(name)):
            return os.path.relpath(corpora.root / path)
    return "TEXT"


def _files(split: SplitFiles | None) -> Iterator[Path]:
    for reader in split.readers if split else ():
        yield from (value for _, value in reader if isinstance(value, Path))


def _line(*words: str) -> str:
    return shlex.join(["concatmt", *words])
