"""Translating files with markup: subtitles, pages, books. The same file comes back around the text.

Reads a whole file, since what it is made of is known at its end only, and writes it when all of it
is translated. Does not know the formats.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from concatmt.corpus.formats import open_file, written_back
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.decoding.alignment import WordAligner
from concatmt.decoding.inputs import STDIN
from concatmt.decoding.journal import Entry, Journal, Shard
from concatmt.decoding.translation import History, Passage, Report, Translation
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.files import atomic_file, check_regular, hash_text, is_stream, remove_folder
from concatmt.progress import Progress
from concatmt.segments.config import FileConfig
from concatmt.segments.segment import Segment, SegmentedFile, Summary, Translated
from concatmt.signature import Signature, Value

AT_A_TIME = 256  # sentences
HASH_DIGITS = 12
MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class OpenFile:
    """A file that was read, and where it will go."""

    content: SegmentedFile
    target: Path | None  # None: standard output


Found = tuple[Path, Path, str]  # a file, its name relative to what was asked for, its suffix


def find_files(inputs: Sequence[Path], kind: str | None = None) -> list[Found]:
    """Files, and folders with all that is inside; `kind`: the suffix that says what they are."""
    known = written_back()
    found: list[Found] = []
    for path in inputs:
        if not path.is_dir():
            found.append((path, Path(path.name), kind or path.suffix.lower()))
            continue
        inside = [p for p in sorted(path.rglob("*")) if p.suffix.lower() in known and p.is_file()]
        if not inside:
            raise UserError(f"{path}: no files in it that can be read ({', '.join(known)})")
        found += [(p, p.relative_to(path), p.suffix.lower()) for p in inside]
    names = Counter(name for _, name, _ in found)
    for path, name, _ in found:
        if names[name] > 1:
            raise UserError(f"{path}: two inputs are called {name}; translate them one by one")
    return found


def read_files(files: Sequence[Found], output: Path | None, config: FileConfig) -> list[OpenFile]:
    """Read every file, so that a bad one is refused before anything is translated."""
    if output is None and len(files) > 1:
        raise UserError("several files need a folder to go to: give --output")
    folder = output is not None and (len(files) > 1 or output.is_dir())
    if folder and output and output.exists() and not output.is_dir():
        raise UserError(f"{output}: several files need a folder to go to, and this is a file")
    opened = []
    for path, name, kind in files:
        target = output / name if folder and output else output
        if target and path.exists() and target.exists() and target.samefile(path):
            raise UserError(f"{target}: is the input itself; give another --output")
        name_of_it = "standard input" if path == STDIN else str(path)
        opened.append(OpenFile(open_file(_content(path), name_of_it, config, kind), target))
    return opened


def _content(path: Path) -> bytes:
    if path == STDIN:
        return sys.stdin.buffer.read()
    if not path.exists():
        raise UserError(f"{path}: no such file")
    check_regular(path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise UserError(
            f"{path}: {size:,} bytes, but files with markup are read whole, up to {MOST_BYTES:,};"
            " cut it, or give text with a sentence a line, which is streamed"
        )
    return path.read_bytes()


@dataclass(frozen=True)
class MarkupJob:
    """What is done with every file."""

    translator: Translator
    config: FileConfig
    context: tuple[Sequence[str], Sequence[str] | None] = ((), None)  # what comes before each file
    resume: bool = False
    report: Report = field(default_factory=Report)  # what happened in translating

    @property
    def signature(self) -> Signature:
        """Everything but the files that decides the bytes of the output."""
        own = json.dumps([self.config.model_dump(mode="json"), self.context])
        values: dict[str, Value] = {
            "nbest": self.translator.config.nbest,
            "files": hash_text(own)[:HASH_DIGITS],
        }
        return Signature({**self.translator.signature.values, **values})

    def run(self, files: Sequence[OpenFile], progress: Progress) -> Summary:
        """Translate and write every file; what was counted over all of them."""
        total, start = Summary(), self._history()
        folders = []
        for file in files:
            if file.target is None:
                data = self._rebuilt(file.content, None, start, total, progress)
                sys.stdout.buffer.write(data)
                continue
            if is_stream(file.target):
                data = self._rebuilt(file.content, None, start, total, progress)
                with atomic_file(file.target) as temporary:
                    temporary.write_bytes(data)
                continue
            file.target.parent.mkdir(parents=True, exist_ok=True)
            journal = Journal(file.target, self.signature, Shard(0, 1, ""), self.resume)
            with journal:
                data = self._rebuilt(file.content, journal, start, total, progress)
                with atomic_file(file.target) as temporary:
                    temporary.write_bytes(data)
            folders.append(journal.folder)
        for folder in folders:  # not before: a resumed job passes over files that are done
            remove_folder(folder)
        total.add("source tokens outside the vocabulary", self.report.unknown)
        return total

    def _history(self) -> History:
        """The end of what comes before each file, as context."""
        source, target = self.context
        passage = Passage(source, given=target)
        if source:
            self.report.add(self.translator.translate_passages([passage])[1])
        return passage.history

    def _rebuilt(
        self,
        file: SegmentedFile,
        journal: Journal | None,
        start: History,
        total: Summary,
        progress: Progress,
    ) -> bytes:
        """The bytes of a file around its translations."""
        aligner = WordAligner(self.translator.engine, self.translator.text)
        texts: list[Translated] = []
        history = deepcopy(start)
        for index, batch in enumerate(_batches(file.segments)):
            digest = hash_text(json.dumps([[one.text, one.given, one.gap] for one in batch]))
            entry = None if journal is None else journal.read(index, digest)
            if entry is None:
                entry = self._entry(batch, digest, history, aligner)
                if journal is not None:
                    journal.write(index, entry)
            self.report.add(entry.report)
            history = entry.history
            texts += [_from_json(one) for one in json.loads(entry.text)]
            progress.advance(len(batch))
        data, summary = file.with_translations(texts)
        for name, count in summary.counts.items():
            total.add(name, count)
        return data

    def _entry(
        self, batch: Sequence[Segment], digest: str, history: History, aligner: WordAligner
    ) -> Entry:
        """The translations of some segments; documents, which begin at gaps, go side by side."""
        passages: list[Passage] = []
        for number, segment in enumerate(batch):
            if number == 0 or segment.gap:
                passages.append(Passage([], given=[], history=History()))
                if number == 0 and not segment.gap:
                    passages[0].history = history
            passages[-1].source = [*passages[-1].source, segment.text]
            passages[-1].given = [*(passages[-1].given or []), segment.given]
        documents, report = self.translator.translate_passages(passages)
        texts = _aligned([one for of in documents for one in of], batch, aligner)
        return Entry(
            digest, report, passages[-1].history, json.dumps([_to_json(one) for one in texts])
        )


def _aligned(
    found: Sequence[Translation], segments: Sequence[Segment], aligner: WordAligner
) -> list[Translated]:
    """Translations and their alternatives, with word alignments where they are of use."""
    others = [[a for a in one.alternatives if a.text != one.text] for one in found]
    texts = [one.text for one in found] + [a.text for of in others for a in of]
    sources = list(segments) + [s for s, of in zip(segments, others, strict=True) for _ in of]
    wanted = [(s.text, text) for s, text in zip(sources, texts, strict=True) if s.aligned]
    made = iter(aligner.align(wanted))
    links = iter([next(made) if segment.aligned else () for segment in sources])
    best = [Translated(one.text, next(links), one.score or 0.0) for one in found]
    return [
        replace(
            translated, alternatives=tuple(Translated(a.text, next(links), a.score) for a in of)
        )
        for translated, of in zip(best, others, strict=True)
    ]


def _from_json(value: list[Any]) -> Translated:
    text, alignment, score, alternatives = value
    return Translated(
        text, tuple((s, t) for s, t in alignment), score, tuple(map(_from_json, alternatives))
    )


def _to_json(one: Translated) -> list[Any]:
    return [one.text, one.alignment, one.score, [_to_json(other) for other in one.alternatives]]


def _batches(segments: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """Some hundred at a time."""
    for first in range(0, len(segments), AT_A_TIME):
        yield segments[first : first + AT_A_TIME]


def read_context(path: Path | None, translation: Path | None) -> tuple[list[str], list[str] | None]:
    """The sentences of a text, a line each, and their translations if there are any."""
    if path is None:
        if translation is not None:
            raise UserError("--context-translation: of what? give --context-file too")
        return [], None
    report = ReadReport()
    source = [line for line in read_lines(path, report) if line.strip()]
    if translation is None:
        return source, None
    target = [line for line in read_lines(translation, report) if line.strip()]
    if len(source) != len(target):
        raise UserError(
            f"{translation}: {len(target)} lines with text, but {path} has {len(source)}"
        )
    return source, target
