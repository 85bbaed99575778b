"""The second pass of preparing a corpus: encodes a spool into the files of a split.

Every sentence is written with its closing separator, so that a window is one slice.
"""

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from concatmt.corpus.clean import drop_pairs
from concatmt.corpus.document import Document
from concatmt.corpus.spool import chunks, read_spool
from concatmt.corpus.statistics import Statistics
from concatmt.errors import UserError
from concatmt.parallel import map_in_order
from concatmt.progress import progress
from concatmt.text.pipeline import TextPipeline
from concatmt.text.vocabulary import SEPARATOR

cached_pipeline = cache(TextPipeline.load)  # a process loads the text pipeline once


@dataclass(frozen=True)
class Encoder:
    """Encodes a chunk of documents; runs in another process."""

    text: Path  # folder of the text pipeline
    token_type: str
    max_tokens: int
    drop: bool  # whether sentences that are too long are dropped or are an error

    def __call__(self, documents: list[Document]) -> "EncodedChunk":
        pipeline = cached_pipeline(self.text)
        result = EncodedChunk()
        for document in documents:
            source = [pipeline.source.encode_normalised(text) for text in document.source]
            target = [pipeline.target.encode_normalised(text) for text in document.target]
            reasons = [
                self._reason(document, place, max(map(len, pair)))
                for place, pair in enumerate(zip(source, target, strict=True))
            ]
            kept, dropped = drop_pairs(document, reasons)
            if dropped:
                result.dropped += dropped
                source, target = (
                    [ids for ids, reason in zip(side, reasons, strict=True) if reason is None]
                    for side in (source, target)
                )
            if len(kept):
                result.add(kept, source, target)
        return result

    def _reason(self, document: Document, place: int, size: int) -> str | None:
        if size <= self.max_tokens:
            return None
        if self.drop:
            return f"longer than {self.max_tokens} tokens"
        raise UserError(
            f"{document.origin}, line {document.lines[place]}: a sentence of {size:,} tokens; the"
            f" limit is {self.max_tokens:,}; split it or raise corpus.max_tokens"
        )


@dataclass
class EncodedChunk:
    """Encoded documents, ready to be appended to the files of a split."""

    source: list[list[int]] = field(default_factory=list)
    target: list[list[int]] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)  # sentences of each document
    runs: list[int] = field(default_factory=list)  # sentences of each run
    statistics: Statistics = field(default_factory=Statistics)
    dropped: Counter[str] = field(default_factory=Counter)
    gapped: int = 0  # documents with gaps

    def add(self, document: Document, source: list[list[int]], target: list[list[int]]) -> None:
        """Add a document and its encoded sides."""
        self.source += source
        self.target += target
        self.documents.append(len(document))
        self.runs += [end - start for start, end in pairwise([0, *document.gaps, len(document)])]
        self.gapped += bool(document.gaps)
        self.statistics.documents.add([len(document)])
        self.statistics.source_words.add(len(text.split()) for text in document.source)
        self.statistics.target_words.add(len(text.split()) for text in document.target)
        self.statistics.source_tokens.add(map(len, source))
        self.statistics.target_tokens.add(map(len, target))


@dataclass
class SplitReport:
    """What became of a split."""

    statistics: Statistics = field(default_factory=Statistics)
    dropped: Counter[str] = field(default_factory=Counter)
    gapped: int = 0


def write_split(
    folder: Path, spool: Path, encoder: Encoder, total: int, workers: int
) -> SplitReport:
    """Encode the `total` sentences of a spool into the files of a split."""
    folder.mkdir()
    report = SplitReport()
    ends = dict.fromkeys(("source.offsets", "target.offsets", "documents", "runs"), 0)
    names = ("source.tokens", "target.tokens", *ends)
    with ExitStack() as stack:
        files = {n: stack.enter_context((folder / f"{n}.bin").open("wb")) for n in names}
        bar = stack.enter_context(progress(f"{folder.name}: encoding", total, "sentences"))
        for name in ends:
            files[name].write(np.zeros(1, dtype=np.int64).tobytes())
        for chunk in map_in_order(encoder, chunks(read_spool(spool)), workers):
            sizes = {"documents": chunk.documents, "runs": chunk.runs}
            for side, sentences in (("source", chunk.source), ("target", chunk.target)):
                flat = [i for sentence in sentences for i in (*sentence, SEPARATOR)]
                files[f"{side}.tokens"].write(np.array(flat, dtype=encoder.token_type).tobytes())
                sizes[f"{side}.offsets"] = [len(sentence) + 1 for sentence in sentences]
            for name, counts in sizes.items():
                bounds = ends[name] + np.cumsum(np.array(counts, dtype=np.int64))
                files[name].write(bounds.tobytes())
                ends[name] += sum(counts)
            report.statistics.merge(chunk.statistics)
            report.dropped += chunk.dropped
            report.gapped += chunk.gapped
            bar.advance(sum(chunk.documents))
    return report
