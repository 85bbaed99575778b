"""The first pass of preparing a corpus: reads, normalises and cleans into a spool file.

The spool has one JSON document per line. With it the text pipeline is learnt from exactly the text
that is encoded afterwards, and the tokeniser runs only once.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from concatmt.corpus.clean import CleanConfig, drop_pairs
from concatmt.corpus.document import Document
from concatmt.json_text import parse_json
from concatmt.parallel import map_in_order
from concatmt.progress import progress
from concatmt.text.pipeline import TextSettings, normaliser

CHUNK_SENTENCES = 4_000

cached_normaliser = cache(normaliser)  # one tokeniser per process


def write_spool(
    documents: Iterable[Document],
    text: TextSettings,
    clean: CleanConfig | None,
    spool: Path,
    workers: int,
) -> tuple[int, Counter[str]]:
    """Normalise and clean documents; returns how many sentences were kept, and what was dropped."""
    dropped: Counter[str] = Counter()
    count = 0
    with (
        spool.open("w", encoding="utf-8") as file,
        progress(f"{spool.stem}: reading", unit="sentences") as bar,
    ):
        for result in map_in_order(_Normaliser(text, clean), chunks(documents), workers):
            file.writelines(result.lines)
            dropped += result.dropped
            count += result.sentences
            bar.advance(result.sentences)
    return count, dropped


def read_spool(spool: Path) -> Iterator[Document]:
    """The documents of a spool."""
    with spool.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            document = parse_json(line)
            yield Document(**{**document, "gaps": tuple(document["gaps"])})


def read_spooled_side(spool: Path, side: str) -> Iterator[str]:
    """The normalised sentences of one side of a spool."""
    for document in read_spool(spool):
        yield from getattr(document, side)


def chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Group documents into lists large enough to send to a process."""
    chunk: list[Document] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += len(document)
        if size >= CHUNK_SENTENCES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass
class _Normalised:
    lines: list[str]
    sentences: int
    dropped: Counter[str]


@dataclass(frozen=True)
class _Normaliser:
    """Normalises a chunk of documents; runs in another process."""

    text: TextSettings
    clean: CleanConfig | None

    def __call__(self, documents: list[Document]) -> _Normalised:
        source, target = (cached_normaliser(self.text, side) for side in ("source", "target"))
        result = _Normalised([], 0, Counter())
        for raw in documents:
            document = Document(
                raw.id,
                raw.origin,
                raw.lines,
                [source(sentence) for sentence in raw.source],
                [target(sentence) for sentence in raw.target],
                raw.gaps,
            )
            if self.clean is not None:
                pairs = zip(document.source, document.target, strict=True)
                document, dropped = drop_pairs(document, [self.clean.reason(*p) for p in pairs])
                result.dropped += dropped
            if len(document):
                result.lines.append(json.dumps(asdict(document), ensure_ascii=False) + "\n")
                result.sentences += len(document)
        return result
