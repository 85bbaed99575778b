"""Documents to translate, streamed from text, JSONL or TSV, in parts of bounded size.

A line of input is a sentence. In text, a blank line ends a document; in JSONL a line is a document,
`{"id": "...", "source": [...], "target": [...]}`; in TSV, `document TAB source [TAB target]`, equal
neighbours are one. A translation that is given is the gold target context. Does not know models.
"""

import json
import os
import select
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from concatmt.corpus.lines import ReadReport, decode_lines, mend, read_lines
from concatmt.errors import UserError
from concatmt.json_text import parse_json

InputFormat = Literal["text", "jsonl", "tsv"]
STDIN = Path("-")
BLOCK = 1 << 16


@dataclass
class Part:
    """Consecutive sentences of one document: all of them, or as many as are worked on at a time."""

    document: str
    first: int = 0  # place of the first sentence in the document; more than 0: a continuation
    source: list[str] = field(default_factory=list)
    gold: list[str] | None = None  # given translations, one for each sentence
    blank: int = 0  # blank lines before it in a text

    def __len__(self) -> int:
        return len(self.source)


class _Builder:
    """Collects sentences into parts."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.number = 0
        self.part: Part | None = None
        self.blank = 0

    def add(self, document: str | None, source: str, gold: str | None) -> Iterator[Part]:
        """Add a sentence of a document (None: the one that goes on, or an unnamed one)."""
        if self.part is None:
            self.number += 1
            name = str(self.number) if document is None else document
            self.part = Part(name, gold=None if gold is None else [], blank=self.blank)
            self.blank = 0
        self.part.source.append(source)
        if self.part.gold is not None:
            self.part.gold.append(gold or "")
        if len(self.part) == self.limit:
            yield from self.cut()

    def cut(self) -> Iterator[Part]:
        """Give away what was collected; the document goes on."""
        if self.part is not None and self.part.source:
            full = self.part
            gold: list[str] | None = None if full.gold is None else []
            self.part = Part(full.document, full.first + len(full), gold=gold)
            yield full

    def close(self) -> Iterator[Part]:
        """The document ends."""
        yield from self.cut()
        self.part = None


# Files whose markup, times or packing would be translated as if they were sentences.
NOT_SENTENCES = (
    *("ass", "doc", "docx", "epub", "htm", "html", "md", "odt", "pdf", "po", "pptx", "rtf", "sbv"),
    *("srt", "ssa", "stl", "sub", "tmx", "ttml", "vtt", "xhtml", "xlf", "xliff", "xlsx", "xml"),
    "zip",
)


def format_of(path: Path) -> InputFormat:
    """The format that the name of a file stands for."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    last = suffixes[-1].lstrip(".").lower() if suffixes else ""
    if last in NOT_SENTENCES:
        raise UserError(
            f"{path}: .{last} files are not read; known are text (a sentence a line, blank lines"
            " between documents), .tsv and .jsonl"
        )
    return "jsonl" if last == "jsonl" else "tsv" if last == "tsv" else "text"


def read_inputs(
    files: Sequence[tuple[Path, InputFormat]],
    limit: int,
    report: ReadReport,
    gold: Path | None = None,
) -> Iterator[Part | None]:
    """Stream several files as one; with more than one, documents carry the file's name."""
    if gold is not None and len(files) > 1:
        raise UserError("--gold: belongs to one text, but there are several inputs")
    for path, kind in files:
        for part in read_parts(path, kind, limit, report, gold):
            if part is not None and len(files) > 1:
                part.document = f"{path.name}:{part.document}"
            yield part


def read_parts(
    path: Path,
    kind: InputFormat,
    limit: int,
    report: ReadReport,
    gold: Path | None = None,
) -> Iterator[Part | None]:
    """Stream a file, or stdin, in parts of at most `limit` sentences.

    `gold` is a text with the translations of a text, line by line. None means that stdin has
    nothing more to give at the moment: what was read so far can be worked on.
    """
    lines = _stdin_lines(report) if path == STDIN else read_lines(path, report)
    name = "standard input" if path == STDIN else str(path)
    if gold is not None and kind != "text":
        raise UserError(f"{name}: {kind} carries its translations itself; leave --gold out")
    if kind == "jsonl":
        yield from _read_jsonl(lines, name, limit, report)
    elif kind == "tsv":
        yield from _read_tsv(lines, name, limit)
    else:
        golds = None if gold is None else read_lines(gold, report)
        yield from _read_text(lines, golds, name, limit)


def _read_text(
    lines: Iterator[str | None], golds: Iterator[str] | None, name: str, limit: int
) -> Iterator[Part | None]:
    builder = _Builder(limit)
    pairs = ((line, None) for line in lines) if golds is None else zip_longest(lines, golds)
    for number, (line, gold) in enumerate(pairs, start=1):
        if line is None and golds is None:
            yield from builder.cut()
            yield None
            continue
        if golds is not None and (line is None or gold is None):
            raise UserError(f"{name}, line {number}: the text and its --gold differ in length")
        assert line is not None
        if line.strip():
            yield from builder.add(None, line, gold)
        else:
            yield from builder.close()
            builder.blank += 1
    yield from builder.close()
    if builder.blank:
        yield Part("", blank=builder.blank)


def _read_tsv(lines: Iterator[str | None], name: str, limit: int) -> Iterator[Part | None]:
    builder, current, number = _Builder(limit), None, 0
    for line in lines:
        if line is None:
            yield from builder.cut()
            yield None
            continue
        number += 1
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            raise UserError(
                f"{name}, line {number}: {len(columns)} columns; expected document, source and"
                " perhaps target"
            )
        if columns[0] != current:
            yield from builder.close()
            current = columns[0]
        yield from builder.add(current, columns[1], columns[2] if len(columns) == 3 else None)
    yield from builder.close()


def _read_jsonl(
    lines: Iterator[str | None], name: str, limit: int, report: ReadReport
) -> Iterator[Part | None]:
    builder, number = _Builder(limit), 0
    for line in lines:
        if line is None:
            yield None
            continue
        number += 1
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            item = parse_json(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON: {error}") from error
        source = _strings(item, "source", where)
        golds = _strings(item, "target", where) if item.get("target") is not None else None
        if golds is not None and len(golds) != len(source):
            raise UserError(
                f"{where}: {len(source)} source sentences but {len(golds)} target sentences"
            )
        builder.blank = int(builder.number > 0)
        for place, sentence in enumerate(source):
            gold = None if golds is None else mend(golds[place], name, report)
            document = str(item.get("id", number))
            yield from builder.add(document, mend(sentence, name, report), gold)
        yield from builder.close()


def _strings(item: Any, key: str, where: str) -> list[str]:
    values = item.get(key) if isinstance(item, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return values


def _stdin_lines(report: ReadReport) -> Iterator[str | None]:
    """Lines as they come in; None whenever the next one is not there yet."""
    descriptor = sys.stdin.fileno()
    waiting: deque[bytes] = deque()

    def raw() -> Iterator[bytes]:
        rest: list[bytes] = []  # of a line that is not complete; joined once
        while block := os.read(descriptor, BLOCK):
            first, *others = block.split(b"\n")
            rest.append(first)
            if others:
                *whole, last = others
                waiting.extend([b"".join(rest), *whole])
                rest = [last]
            while waiting:
                yield waiting.popleft() + b"\n"
        if any(rest):
            yield b"".join(rest)

    lines = decode_lines(raw(), "standard input", report)
    while True:
        if not waiting and not select.select([descriptor], [], [], 0)[0]:
            yield None
        line = next(lines, None)
        if line is None:
            return
        yield line
