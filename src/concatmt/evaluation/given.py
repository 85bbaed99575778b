"""Systems as they are given on a command line: `[NAME=]PATH[,PATH...]`, one path for each seed.

Does not know what is at the paths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from concatmt.errors import UserError


@dataclass(frozen=True, slots=True)
class Given:
    """A system's name, empty if it has none, and a path for each seed."""

    name: str
    files: tuple[Path, ...]


def parse_given(arguments: Sequence[str]) -> list[Given]:
    """Read `[NAME=]PATH[,PATH...]`."""
    found = []
    for argument in arguments:
        name, equals, files = argument.partition("=")
        paths = tuple(Path(file) for file in (files if equals else argument).split(",") if file)
        if not paths or (equals and not name):
            raise UserError(f"{argument!r}: write a system as FILE, NAME=FILE or NAME=FILE,FILE")
        found.append(Given(name if equals else "", paths))
    return found


def named_files(arguments: Sequence[str]) -> list[Given]:
    """Files; without a name, a system is called as its first file."""
    found = []
    for one in parse_given(arguments):
        for path in one.files:
            if path.is_dir():
                raise UserError(f"{path}: a folder; say with --on what it is to be evaluated on")
            if not path.is_file():
                raise UserError(f"{path}: no such file; give files of contrast or translate")
        found.append(Given(one.name or one.files[0].stem, one.files))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two systems are called {name!r}; name them, as in NAME=FILE")
    return found
