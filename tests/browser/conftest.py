"""A real browser and a real server; `make test-browser` says where the browser is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.decoding.models import write_model

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSER = os.environ.get("CONCATMT_BROWSER", "")
# It must start as any user, in a container, and look for nothing outside.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    if not Path(BROWSER).is_file():
        pytest.skip("no browser: run `make test-browser`")
    api = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server with a tiny untrained model of windows, from English to German."""
    model = write_model(tmp_path_factory.mktemp("served") / "model")
    command = [sys.executable, "-m", "concatmt", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = None
        for line in server.stderr:
            if found := re.search(r"serving at (http://\S+)", line):
                break
        assert found, "the server did not start"
        reader = threading.Thread(target=server.stderr.read)  # or the log would fill the pipe
        reader.start()
        yield found[1]
        server.terminate()
        reader.join()
        assert server.wait(timeout=30) == 0


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, in a window of its own; errors of its scripts and outside requests are failures."""
    context = browser.new_context(viewport={"width": 1200, "height": 800}, accept_downloads=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((address, "blob:"))
            else problems.append(f"asks for {request.url}")
        ),
    )
    page.goto(address)
    page.wait_for_selector("#source option", state="attached")
    yield page
    context.close()
    assert problems == []
