"""Prepares a corpus: from raw files to a store, on all cores.

Two passes (`spool`, `encode`) and learning the text pipeline between them. Work goes to
processes in chunks of documents and comes back in order, so the bytes of a store never depend on
the number of processes.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import Field

from concatmt import __version__
from concatmt.corpus.clean import CleanConfig
from concatmt.corpus.document import Document
from concatmt.corpus.document_marks import DocumentSizes, marks_beside
from concatmt.corpus.encode import Encoder, write_split
from concatmt.corpus.formats import Reader
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.spool import read_spooled_side, write_spool
from concatmt.corpus.store import MANIFEST, SplitName, Store, write_manifest
from concatmt.errors import UserError
from concatmt.files import atomic_folder
from concatmt.settings import Settings
from concatmt.text.pipeline import TextPipeline, TextSettings, learn_pipeline


class CorpusConfig(Settings):
    """The raw corpora of each split and how they are cleaned and encoded."""

    root: Path = Path()  # relative paths start here
    splits: dict[SplitName, list[Reader]] = Field(min_length=1)
    # What to learn the text pipeline from: a split, or corpora used for nothing else.
    learn_from: str | list[Reader] = "train"
    clean: CleanConfig = CleanConfig()
    max_tokens: int = Field(default=1024, ge=1)  # longest sentence; longer ones: see `clean.splits`


@dataclass
class PrepareReport:
    """What to report to the user."""

    mended: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # about doubtful documents
    dropped: dict[str, Counter[str]] = field(default_factory=dict)  # split -> reason -> pairs
    gapped: dict[str, int] = field(default_factory=dict)  # split -> documents with gaps


def prepare(
    config: CorpusConfig,
    text: TextSettings,
    output: Path,
    pipeline: TextPipeline | None = None,
    workers: int | None = None,
) -> tuple[Store, PrepareReport]:
    """Write the store of a corpus to `output`; learns a text pipeline unless one is given."""
    workers = workers or os.cpu_count() or 1
    learn_from = config.learn_from
    if pipeline is None and isinstance(learn_from, str) and learn_from not in config.splits:
        known = ", ".join(config.splits)
        raise UserError(f"corpus.learn_from: no split {learn_from!r}; splits are {known}")
    report = PrepareReport()
    with atomic_folder(output, MANIFEST) as folder:
        spools = {name: folder / f"{name}.spool" for name in config.splits}
        totals = {
            name: _spool(config, text, name, config.splits[name], spool, report, workers)
            for name, spool in spools.items()
        }
        if pipeline is None:
            if isinstance(learn_from, str):
                learnt_from = spools[learn_from]
            else:
                learnt_from = folder / "learn_from.spool"
                _spool(config, text, "learn_from", learn_from, learnt_from, report, workers)
            side = partial(read_spooled_side, learnt_from)
            pipeline = learn_pipeline(text, partial(side, "source"), partial(side, "target"))
            (folder / "learn_from.spool").unlink(missing_ok=True)
        pipeline.save(folder / "text")
        token_type = (
            "uint16" if max(len(pipeline.source), len(pipeline.target)) <= 1 << 16 else "uint32"
        )
        splits = {}
        for name, spool in spools.items():
            drop = name in config.clean.splits
            encoder = Encoder(folder / "text", token_type, config.max_tokens, drop)
            result = write_split(folder / name, spool, encoder, totals[name], workers)
            spool.unlink()
            splits[name] = {"statistics": result.statistics.to_json()}
            report.dropped[name] += result.dropped
            report.gapped[name] = result.gapped
        about = {
            "program": f"concatmt {__version__}",
            "text": TextPipeline.fingerprint(folder / "text"),
            "config": config.model_dump(mode="json", exclude={"root"}),
        }
        write_manifest(folder, token_type, splits, about)
    return Store.open(output), report


def _spool(
    config: CorpusConfig,
    text: TextSettings,
    split: str,
    readers: list[Reader],
    spool: Path,
    report: PrepareReport,
    workers: int,
) -> int:
    read = ReadReport()
    sizes = [DocumentSizes() for _ in readers]

    def documents() -> Iterator[Document]:
        for reader, size in zip(readers, sizes, strict=True):
            yield from size.count(reader.documents(config.root, read))

    clean = config.clean if split in config.clean.splits else None
    count, dropped = write_spool(documents(), text, clean, spool, workers)
    if not count:
        why = "nothing is left after cleaning" if dropped else "there are no sentences in it"
        files = [value for r in readers for value in r.model_dump(mode="json").values()]
        raise UserError(f"corpus.splits.{split}: empty: {why} ({', '.join(map(str, files))})")
    report.mended += read.messages()
    report.warnings += [
        f"corpus.splits.{split}: {warning}"
        for reader, size in zip(readers, sizes, strict=True)
        if (warning := _warning(reader, size, config.root))
    ]
    report.dropped[split] = dropped
    return count


def _warning(reader: Reader, sizes: DocumentSizes, root: Path) -> str | None:
    """What looks wrong with the documents of a corpus, and what probably helps."""
    if sizes.suspicion is None or reader.format == "lines":
        return None
    values = reader.model_dump().values()
    files = [file for value in values for file in (value if isinstance(value, list) else [value])]
    files = [file for file in files if isinstance(file, Path)]
    if sizes.longest == 1:
        help_ = f"format {reader.format!r} found a boundary after each; is it the right one?"
    elif reader.format != "text":
        help_ = f"format {reader.format!r} found no boundary there; is it the right one?"
    elif marks := marks_beside(root / files[0]):
        help_ = f"{marks[0].name} beside it looks like its boundaries: read it with {marks[1]!r}"
    else:
        help_ = (
            "format 'text' needs blank lines between documents; use 'ids' or 'starts' if a file"
            " says where they begin, or 'lines', which cuts pseudo-documents"
        )
    return f"{', '.join(map(str, files))}: {sizes.suspicion}; {help_}"
