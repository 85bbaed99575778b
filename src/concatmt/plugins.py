"""Loads plug-ins: users' modules or files that register encodings, formats and measures.

A plug-in is imported and calls a `register` function. It is named on the command line
(`--plugin`), in the environment (which child processes inherit), or by an
installed package, as an entry point. Does not know what plug-ins register.
"""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from concatmt.errors import UserError

GROUP = "concatmt.plugins"  # of entry points
VARIABLE = "CONCATMT_PLUGINS"  # names separated by os.pathsep, as in PATH

_loaded: dict[str, ModuleType | None] = {}
_importing: list[str] = []  # names of the plug-ins that are being imported


def load_plugins(names: Sequence[str] = ()) -> None:
    """Import the plug-ins named here, in the environment and by installed packages."""
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name not in _loaded:
            _loaded[point.name] = None
            with _importing_as(f"{point.name} ({point.value})"):
                point.load()
    for name in [*filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)), *names]:
        load_plugin(name)


def load_plugin(name: str | Path) -> None:
    """Import a plug-in once, from a file or by module name.

    Processes started from now on load it too.
    """
    given = str(name)
    is_file = given.endswith(".py") or os.sep in given
    key = str(Path(given).resolve()) if is_file else given
    if key not in _loaded:
        if is_file and not Path(key).is_file():
            raise UserError(f"--plugin {given}: no such file")
        with _importing_as(given):
            _loaded[key] = _import_file(Path(key)) if is_file else importlib.import_module(key)
    others = list(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))
    if key not in others:
        os.environ[VARIABLE] = os.pathsep.join([*others, key])


def origin() -> str | None:
    """The plug-in being imported, which is calling `register`; None for our own code."""
    return _importing[-1] if _importing else None


@contextmanager
def _importing_as(name: str) -> Iterator[None]:
    _importing.append(name)
    try:
        yield
    except UserError as error:
        raise UserError(f"plug-in {name}: {error}") from error
    except Exception as error:
        # Any error in a user's file is the user's to fix; the message says where.
        message = f"plug-in {name}: {type(error).__name__}: {error}"
        raise UserError(f"{message}; --debug shows where") from error
    finally:
        _importing.pop()


def _import_file(path: Path) -> ModuleType:
    """Import a file under a unique name, so that its classes can be pickled."""
    name = f"concatmt_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
