"""Runs a translation: parts of documents in, text out, to a stream or to a file by a journal.

Connects inputs, chunks, translator, writer and journal.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TextIO

from concatmt.corpus.parts import Part
from concatmt.decoding.chunks import SIZES, Chunk, cut_chunks
from concatmt.decoding.journal import Entry, Journal
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translation import History, Passage, Report
from concatmt.decoding.translator import Translator
from concatmt.progress import Progress
from concatmt.signature import Signature


class Job:
    """Translates chunks and formats the result."""

    def __init__(self, translator: Translator, writer: Writer) -> None:
        self.translator, self.writer = translator, writer
        self.history = History()  # of a document that continues in the next chunk

    @property
    def signature(self) -> Signature:
        """Everything but the input that decides the bytes of the output."""
        config, writer = self.translator.config, self.writer
        return Signature(
            {
                **self.translator.signature.values,
                "format": writer.kind,
                "nbest": config.nbest if writer.nbest else None,
                "windows": writer.windows or None,
                "batch": config.pool.windows,
            }
        )

    def chunks(self, parts: Iterable[Part | None]) -> Iterator[Chunk]:
        """Cut the input into chunks."""
        return cut_chunks(parts, SIZES[self.translator.config.mode])

    def translate(self, chunk: Chunk) -> Entry:
        """Translate one chunk."""
        passages = [Passage(part.source, part.gold) for part in chunk.parts]
        if chunk.parts[0].first:
            passages[0].history = deepcopy(self.history)
        translations, report = self.translator.translate_passages(passages)
        self.history = passages[-1].history
        pairs = zip(chunk.parts, translations, strict=True)
        text = "".join(self.writer.part(part, of_part) for part, of_part in pairs)
        return Entry(chunk.hash, report, self.history, text)


def translate_stream(
    job: Job, parts: Iterable[Part | None], output: TextIO, progress: Progress
) -> Report:
    """Write each chunk as soon as it is translated."""
    report = Report()
    output.write(job.writer.head(job.translator.signature))
    for chunk in job.chunks(parts):
        entry = job.translate(chunk)
        report.add(entry.report)
        output.write(entry.text)
        output.flush()
        progress.advance(len(chunk))
    return report


def translate_file(
    job: Job, parts: Iterable[Part | None], journal: Journal, progress: Progress
) -> Report | None:
    """Write a file by way of the journal; the process that joins the chunks returns the report."""
    chunks: list[tuple[str, int]] = []  # hash and owner of each
    for chunk in job.chunks(parts):
        owner = chunk.group % journal.shard.count
        chunks.append((chunk.hash, owner))
        if owner != journal.shard.rank:
            continue
        entry = journal.read(chunk.index, chunk.hash)
        if entry is None:
            entry = job.translate(chunk)
            journal.write(chunk.index, entry)
        job.history = entry.history
        progress.advance(len(chunk))
    if journal.shard.rank:
        journal.leave()
        return None
    return journal.join(chunks, job.writer.head(job.translator.signature))
