"""Translating files with markup: subtitles, pages, books. The same file comes back around the text.

Every file is read twice: all of them before anything is translated, so that a bad one is refused,
and each when its turn comes, piece by piece where its format has pieces. Does not know the formats.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from concatmt.corpus.formats import open_pieces, written_back
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
from concatmt.segments.pieces import whole
from concatmt.segments.segment import Segment, SegmentedFile, Summary, Translated
from concatmt.signature import Signature, Value

AT_A_TIME = 256  # sentences
HASH_DIGITS = 12


@dataclass(frozen=True)
class Source:
    """A file to translate, and where its translation goes."""

    path: Path
    suffix: str
    target: Path | None  # None: standard output
    content: bytes | None = None  # of standard input, which cannot be read twice

    @property
    def name(self) -> str:
        """As messages call it."""
        return "standard input" if self.path == STDIN else str(self.path)

    def pieces(self, config: FileConfig) -> Iterator[SegmentedFile]:
        """Read the file, piece by piece."""
        opened = self.path.open("rb") if self.content is None else BytesIO(self.content)
        with opened as file:
            yield from open_pieces(file, self.name, config, self.suffix)


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


def targets_of(files: Sequence[Found], output: Path | None) -> list[Source]:
    """Where every file goes."""
    if output is None and len(files) > 1:
        raise UserError("several files need a folder to go to: give --output")
    folder = output is not None and (len(files) > 1 or output.is_dir())
    if folder and output and output.exists() and not output.is_dir():
        raise UserError(f"{output}: several files need a folder to go to, and this is a file")
    sources = []
    for path, name, kind in files:
        target = output / name if folder and output else output
        if target and path.exists() and target.exists() and target.samefile(path):
            raise UserError(f"{target}: is the input itself; give another --output")
        if path != STDIN and not path.exists():
            raise UserError(f"{path}: no such file")
        if path != STDIN:
            check_regular(path)
        content = whole(sys.stdin.buffer, "standard input") if path == STDIN else None
        sources.append(Source(path, kind, target, content))
    return sources


def count_sentences(sources: Sequence[Source], config: FileConfig) -> int:
    """Read every file to its end, so that a bad one is refused before anything is translated."""
    return sum(len(piece.segments) for source in sources for piece in source.pieces(config))


@dataclass
class _State:
    """Where the translation of a file stands."""

    history: History
    index: int = 0  # of the next entry of the journal


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

    def run(
        self, sources: Sequence[Source], progress: Progress, notes: Sequence[str] = ()
    ) -> Summary:
        """Translate and write every file; what was counted over all of them.

        `notes` are told when nothing stands in the way any more.
        """
        total, start = Summary(), self._history()
        folders = []
        for number, source in enumerate(sources):
            with ExitStack() as stack:
                journal = None
                if source.target is not None and not is_stream(source.target):
                    source.target.parent.mkdir(parents=True, exist_ok=True)
                    journal = Journal(source.target, self.signature, Shard(0, 1, ""), self.resume)
                    stack.enter_context(journal)
                    folders.append(journal.folder)
                for note in notes if number == 0 else ():
                    print(f"note: {note}", file=sys.stderr)
                self._translate(source, journal, start, total, progress)
        for folder in folders:  # not before: a resumed job passes over files that are done
            remove_folder(folder)
        total.add("source tokens outside the vocabulary", self.report.unknown)
        return total

    def _translate(
        self,
        source: Source,
        journal: Journal | None,
        start: History,
        total: Summary,
        progress: Progress,
    ) -> None:
        """Write a file."""
        aligner = WordAligner(self.translator.engine, self.translator.text)
        state = _State(deepcopy(start))
        pieces = (
            self._rebuilt(piece, journal, state, aligner, total, progress)
            for piece in source.pieces(self.config)
        )
        if source.target is None:
            for data in pieces:
                sys.stdout.buffer.write(data)
            return
        with atomic_file(source.target) as temporary, temporary.open("wb") as file:
            file.writelines(pieces)

    def _history(self) -> History:
        """The end of what comes before each file, as context."""
        source, target = self.context
        passage = Passage(source, given=target)
        if source:
            self.report.add(self.translator.translate_passages([passage])[1])
        return passage.history

    def _rebuilt(
        self,
        piece: SegmentedFile,
        journal: Journal | None,
        state: _State,
        aligner: WordAligner,
        total: Summary,
        progress: Progress,
    ) -> bytes:
        """The bytes of a piece around its translations."""
        texts: list[Translated] = []
        for batch in _batches(piece.segments):
            digest = hash_text(json.dumps([[one.text, one.given, one.gap] for one in batch]))
            entry = None if journal is None else journal.read(state.index, digest)
            if entry is None:
                entry = self._entry(batch, digest, state.history, aligner)
                if journal is not None:
                    journal.write(state.index, entry)
            self.report.add(entry.report)
            state.history = entry.history
            state.index += 1
            texts += [_from_json(one) for one in json.loads(entry.text)]
            progress.advance(len(batch))
        data, summary = piece.with_translations(texts)
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
