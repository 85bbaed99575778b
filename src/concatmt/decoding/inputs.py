"""Streams documents to translate from files or standard input, in parts of limited size.

A line of input is a sentence; a given translation is the gold target context. Which formats
exist is known to `corpus.formats`. Does not know models.
"""

import os
import select
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from concatmt.corpus.formats import format_named
from concatmt.corpus.lines import ReadReport, decode_lines
from concatmt.corpus.parts import Part
from concatmt.errors import UserError

STDIN = Path("-")
BLOCK = 1 << 16


def read_inputs(
    files: Sequence[tuple[Path, str]],
    limit: int,
    report: ReadReport,
    gold: Path | None = None,
) -> Iterator[Part | None]:
    """Stream several files as one; with more than one, documents carry the file's name."""
    if gold is not None and len(files) > 1:
        raise UserError("--gold: only with one input, but there are several")
    for path, kind in files:
        for part in read_parts(path, kind, limit, report, gold):
            if part is not None and len(files) > 1:
                part.document = f"{path.name}:{part.document}"
            yield part


def read_parts(
    path: Path,
    kind: str,
    limit: int,
    report: ReadReport,
    gold: Path | None = None,
) -> Iterator[Part | None]:
    """Stream a file, or stdin, in parts of at most `limit` sentences.

    `kind` is the name of a format; `gold` is the file with the translations, if they are in one of
    their own. None means that stdin has no more at the moment: process what there is.
    """
    files = [path] if gold is None else [path, gold]
    lines = _stdin_lines(report) if path == STDIN else None
    yield from format_named(kind).parts(files, limit, report, lines)


def _stdin_lines(report: ReadReport) -> Iterator[str | None]:
    """Lines as they arrive; None whenever the next one is not there yet."""
    descriptor = sys.stdin.fileno()
    waiting: deque[bytes] = deque()

    def raw() -> Iterator[bytes]:
        rest: list[bytes] = []  # of an incomplete line; joined once
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
