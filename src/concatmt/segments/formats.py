"""Which file is read by which module: the formats that come back as they were, but translated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO

from concatmt.errors import UserError
from concatmt.segments.books import Epub
from concatmt.segments.config import FileConfig
from concatmt.segments.passages import Splitter
from concatmt.segments.pieces import subtitle_pieces, text_pieces, whole
from concatmt.segments.running_text import RunningText, kind_for
from concatmt.segments.segment import SegmentedFile
from concatmt.segments.spans import encoding_of
from concatmt.segments.subtitles import MARKUPS, Subtitles
from concatmt.segments.web_pages import WebPage
from concatmt.segments.word_files import Docx
from concatmt.segments.xliff import Xliff
from concatmt.text.splitting import read_abbreviations, sentence_spans


def _subtitles(suffix: str) -> Callable[[bytes, str, Splitter, FileConfig], SegmentedFile]:
    def read(data: bytes, name: str, split: Splitter, config: FileConfig) -> SegmentedFile:
        return Subtitles(
            data, name, suffix, split, config.subtitles, config.encoding, config.target_language
        )

    return read


def _text(markdown: bool) -> Callable[[bytes, str, Splitter, FileConfig], SegmentedFile]:
    def read(data: bytes, name: str, split: Splitter, config: FileConfig) -> SegmentedFile:
        encoding = encoding_of(data, config.encoding)
        kind = "wrapped" if markdown else kind_for(config.split, data, encoding)
        return RunningText(data, name, split, kind, markdown, config.encoding)

    return read


READERS: dict[str, Callable[[bytes, str, Splitter, FileConfig], SegmentedFile]] = {
    ".srt": _subtitles(".srt"),
    ".vtt": _subtitles(".vtt"),
    ".ass": _subtitles(".ass"),
    ".ssa": _subtitles(".ssa"),
    ".md": _text(markdown=True),
    ".txt": _text(markdown=False),
    ".html": lambda data, name, split, config: WebPage(data, name, split, False, config.encoding),
    ".htm": lambda data, name, split, config: WebPage(data, name, split, False, config.encoding),
    ".xhtml": lambda data, name, split, config: WebPage(data, name, split, True, config.encoding),
    ".xlf": lambda data, name, split, config: Xliff(data, name, split, config.encoding),
    ".xliff": lambda data, name, split, config: Xliff(data, name, split, config.encoding),
    ".epub": lambda data, name, split, config: Epub(data, name, split),
    ".docx": lambda data, name, split, config: Docx(data, name, split),
}


def open_segments(
    data: bytes, name: str, config: FileConfig, suffix: str | None = None
) -> SegmentedFile:
    """Read a file by the suffix of its name, or the one that is given."""
    suffix = PurePath(name).suffix.lower() if suffix is None else suffix
    if suffix not in READERS:
        raise UserError(f"{name}: {suffix} files are not read; known are {', '.join(READERS)}")
    return READERS[suffix](data, name, _splitter(config), config)


def open_pieces(
    file: BinaryIO, name: str, config: FileConfig, suffix: str
) -> Iterator[SegmentedFile]:
    """Read a file piece by piece, each to be written back after the one before it."""
    if suffix in MARKUPS:
        yield from subtitle_pieces(file, name, suffix, _splitter(config), config)
    elif suffix == ".txt":
        yield from text_pieces(file, name, _splitter(config), config)
    else:
        yield open_segments(whole(file, name), name, config, suffix)


def _splitter(config: FileConfig) -> Splitter:
    known = read_abbreviations(config.abbreviations) if config.abbreviations else ()
    language = config.source_language or "en"
    return lambda text: sentence_spans(text, language, known)
