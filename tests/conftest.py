"""Fixtures for all tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("concatmt", deadline=None, max_examples=50)
settings.load_profile("concatmt")

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so every process
# that they start; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Measurements of the machine are kept in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with golden vectors and real data, which is not part of the project."""
    named = os.environ.get("CONCATMT_SHARED")
    root = Path(__file__).resolve().parents[1]
    candidates = [Path(named)] if named else [folder / "shared" for folder in root.parents]
    for folder in candidates:
        if (folder / "golden").is_dir():
            return folder
    pytest.skip("the shared data are not beside the project")


@pytest.fixture
def concatmt(tmp_path: Path) -> Command:
    """Run the command in an empty folder: `concatmt("prepare", ...)`, with its output as text."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "concatmt", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, **options)  # type: ignore[call-overload,no-any-return]

    return run
