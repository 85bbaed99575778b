"""A server with tiny models that the tests share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytest.importorskip("python_multipart", reason="the extra `serve` is not installed")

import uvicorn
from starlette.testclient import TestClient

from concatmt.decoding.translator import Translator
from concatmt.serve.app import make_app
from concatmt.serve.config import ServeConfig
from concatmt.serve.server import make_service, web_server
from tests.unit.decoding.models import write_model

MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained s3to3 model from English to German."""
    return write_model(tmp_path_factory.mktemp("served") / "model")


@pytest.fixture(scope="session")
def translator(folder: Path) -> Translator:
    """What the answers are compared with."""
    return Translator.load(folder)


@pytest.fixture(scope="session")
def make_client(folder: Path) -> Iterator[MakeClient]:
    """Clients of servers with given settings."""
    clients = []

    def make(**settings: Any) -> TestClient:
        service = make_service([folder], ServeConfig.model_validate(settings))
        service.models.load_first()
        client = TestClient(make_app(service), base_url="http://localhost")  # type: ignore[arg-type]
        client.__enter__()
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.__exit__()


@pytest.fixture(scope="session")
def client(make_client: MakeClient) -> TestClient:
    """A client of a server as it is without options."""
    return make_client()


@pytest.fixture(scope="session")
def listening(folder: Path) -> Iterator[int]:
    """The port of a server that listens, with short deadlines."""
    limits = {"client_seconds": 1.0, "body": 100_000}
    config = ServeConfig.model_validate({"limits": limits, "metrics": True, "port": 0})
    service = make_service([folder], config)
    service.models.load_first()
    server = uvicorn.Server(web_server(service))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(timeout=20)
