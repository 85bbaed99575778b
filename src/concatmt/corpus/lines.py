"""Reads lines of text files: valid UTF-8, plain line ends, no control characters.

Byte-order marks, Windows line ends and control characters are accepted, repaired and counted in a
`ReadReport`, for the user. Files are streamed; `.gz` files are decompressed on the way.
"""

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from concatmt.errors import UserError

BOM = "\ufeff"
# C0 and C1 controls except the tab, and Unicode's line and paragraph separators.
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass
class ReadReport:
    """What was repaired while reading, counted by file."""

    marks: Counter[str] = field(default_factory=Counter)
    windows_ends: Counter[str] = field(default_factory=Counter)
    controls: Counter[str] = field(default_factory=Counter)

    def messages(self) -> list[str]:
        """One line for each kind of repair in a file."""
        kinds = (
            (self.marks, "byte-order mark removed", False),
            (self.windows_ends, "Windows line ends normalised", True),
            (self.controls, "control characters replaced by spaces", True),
        )
        return [
            f"{file}: {text}" + (f" (in {count:,} lines)" if with_count else "")
            for counts, text, with_count in kinds
            for file, count in sorted(counts.items())
        ]


def read_lines(path: Path, report: ReadReport) -> Iterator[str]:
    """The lines of a file, without their ends."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; check the path in the config")
    with path.open("rb") if path.suffix != ".gz" else gzip.open(path) as file:
        raw = file if path.suffix != ".gz" else _unpacked(file, path)
        yield from decode_lines(raw, str(path), report)


def _unpacked(lines: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The lines of a compressed file; a damaged or truncated one is an error."""
    try:
        yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{path}: damaged or cut off: {error}; copy it again") from error


def decode_lines(raw_lines: Iterable[bytes], name: str, report: ReadReport) -> Iterator[str]:
    """Decode lines of bytes, without their ends; `name` is their file, for messages."""
    for number, raw in enumerate(raw_lines, start=1):
        try:
            line = raw.decode("utf-8").removesuffix("\n")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise UserError(
                f"{name}, line {number}, byte {error.start + 1}: not UTF-8 (0x{byte:02x});"
                " convert the file to UTF-8"
            ) from error
        if number == 1 and line.startswith(BOM):
            line = line.removeprefix(BOM)
            report.marks[name] += 1
        if line.endswith("\r"):
            line = line.removesuffix("\r")
            report.windows_ends[name] += 1
        yield mend(line, name, report)


def mend(text: str, file: str, report: ReadReport) -> str:
    """Replace control characters by spaces; `file` is where the text is, for the report."""
    # Almost every line is printable, and that test is much faster than the search.
    if text.isprintable() or not CONTROL.search(text):
        return text
    report.controls[file] += 1
    return CONTROL.sub(" ", text)
