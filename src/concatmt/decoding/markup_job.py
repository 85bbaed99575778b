"""Translating files with markup: subtitles, pages, books. The same file comes back around the text.

Reads a whole file, since what it is made of is known at its end only, and writes it when all of it
is translated. Does not know the formats.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from concatmt.decoding.alignment import WordAligner
from concatmt.decoding.translation import History, Passage
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.files import atomic_file, check_regular
from concatmt.progress import Progress
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import READERS, open_segments
from concatmt.segments.segment import Segment, SegmentedFile, Summary, Translated

AT_A_TIME = 256  # sentences


@dataclass(frozen=True)
class OpenFile:
    """A file that was read, and where it will go."""

    content: SegmentedFile
    target: Path


def find_files(inputs: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Files and, relative to what was asked for, their names; folders with all that is inside."""
    found: list[tuple[Path, Path]] = []
    for path in inputs:
        if not path.is_dir():
            found.append((path, Path(path.name)))
            continue
        inside = [p for p in sorted(path.rglob("*")) if p.suffix.lower() in READERS and p.is_file()]
        if not inside:
            raise UserError(f"{path}: no files in it that can be read ({', '.join(READERS)})")
        found += [(p, p.relative_to(path)) for p in inside]
    names = Counter(name for _, name in found)
    for path, name in found:
        if names[name] > 1:
            raise UserError(f"{path}: two inputs are called {name}; translate them one by one")
    return found


def read_files(
    files: Sequence[tuple[Path, Path]], output: Path, config: FileConfig
) -> list[OpenFile]:
    """Read every file, so that a bad one is refused before anything is translated."""
    folder = len(files) > 1 or output.is_dir()
    if folder and output.exists() and not output.is_dir():
        raise UserError(f"{output}: several files need a folder to go to, and this is a file")
    opened = []
    for path, name in files:
        if not path.exists():
            raise UserError(f"{path}: no such file")
        check_regular(path)
        target = output / name if folder else output
        if target.exists() and target.samefile(path):
            raise UserError(f"{target}: is the input itself; give another --output")
        opened.append(OpenFile(open_segments(path.read_bytes(), str(path), config), target))
    return opened


def translate_markup(
    translator: Translator, files: Sequence[OpenFile], progress: Progress
) -> Summary:
    """Translate and write every file; what was counted over all of them."""
    total = Summary()
    for file in files:
        translations = _translated(translator, file.content, progress)
        data, summary = file.content.with_translations(translations)
        file.target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file.target) as temporary:
            temporary.write_bytes(data)
        for name, count in summary.counts.items():
            total.add(name, count)
    return total


def _translated(
    translator: Translator, file: SegmentedFile, progress: Progress
) -> list[Translated]:
    """Documents side by side, some hundred sentences at a time."""
    texts: list[Translated] = []
    aligner = WordAligner(translator.engine, translator.text)
    for batch in _batches(file.segments):
        passages = []
        for segments, history in batch:
            given = [segment.given for segment in segments]
            source = [segment.text for segment in segments]
            passages.append(Passage(source, given=given, history=history))
        found = [one for of in translator.translate_passages(passages) for one in of]
        alignments = aligner.align([(one.source, one.text) for one in found])
        texts += [Translated(one.text, links) for one, links in zip(found, alignments, strict=True)]
        progress.advance(sum(len(segments) for segments, _ in batch))
    return texts


def _batches(segments: Sequence[Segment]) -> Iterator[list[tuple[list[Segment], History]]]:
    """Documents, which begin at gaps, in batches; a long one goes on with its history."""
    batch: list[tuple[list[Segment], History]] = []
    size, history = 0, History()
    for number, segment in enumerate(segments):
        if number == 0 or segment.gap:
            batch.append(([], History()))
        elif not batch:
            batch.append(([], history))
        batch[-1][0].append(segment)
        size += 1
        if size == AT_A_TIME:
            yield batch
            history = batch[-1][1]  # has moved on to the end of what was translated
            batch, size = [], 0
    if batch:
        yield batch
