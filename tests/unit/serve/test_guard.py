"""What happens around a request: size, time, headers, log; some over real connections."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from concatmt.serve import logs
from concatmt.serve.config import ServeConfig
from concatmt.serve.server import make_service, web_server
from tests.unit.serve.conftest import MakeClient

GOOD = {"q": "Hello.", "source": "en", "target": "de"}
HEAD = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        yield connection


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """Status and rest of what comes until the server closes."""
    data = b""
    while part := connection.recv(65_536):
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body


def value(port: int, name: str) -> float:
    """A figure of /metrics."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    lines = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].split()[1])


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("host", "localhost:5000", 200),
        ("host", "[::1]:5000", 200),
        ("host", "LOCALHOST", 200),
        ("host", "evil.example", 400),
        ("host", "evil.example@localhost", 400),
        ("host", "[", 400),
        ("host", "[::1", 400),
        ("host", "", 400),
        ("origin", "http://localhost", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "http://[", 403),
        ("origin", "null", 403),
    ],
)
def test_only_names_of_this_machine_and_its_own_pages_are_let_in(
    client: TestClient, name: str, value: str, status: int
) -> None:
    assert client.get("/health", headers={"host": "localhost", name: value}).status_code == status


def test_an_upload_of_some_size_is_not_written_to_a_disk(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("written to a disk")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    file = {"file": ("a.exe", b"x" * 3_000_000)}
    answer = client.post("/translate_file", files=file, data={"source": "en", "target": "de"})
    assert answer.status_code == 400
    assert answer.json()["error"] == "Invalid request: file format not supported"


def test_nobody_says_to_be_somebody_else_to_escape_a_limit(folder: Path) -> None:
    limits = {"requests_per_minute": 1}
    for forwarded, statuses in ((False, [200, 429]), (True, [200, 200, 429])):
        config = ServeConfig.model_validate({"limits": limits, "forwarded": forwarded})
        server = web_server(make_service([folder], config))
        server.load()
        with TestClient(
            server.loaded_app,  # type: ignore[arg-type]
            base_url="http://localhost",
            client=("127.0.0.1", 5_000),
        ) as client:
            for number, status in enumerate(statuses):
                # The last entry is the proxy's; what stands before it anyone can write.
                last = 2 if forwarded and number == 2 else number + 1
                address = {"x-forwarded-for": f"10.0.0.{number}, 10.0.1.{last}"}
                body = {"q": "Hello."}
                assert client.post("/detect", json=body, headers=address).status_code == status


def test_a_head_that_does_not_end_is_not_waited_for(listening: int) -> None:
    with connected(listening) as connection:
        begin = time.monotonic()
        connection.sendall(HEAD.encode())
        assert answer(connection) == (0, b"")
        assert 0.5 < time.monotonic() - begin < 5


def test_a_body_that_does_not_come_is_not_waited_for(listening: int) -> None:
    with connected(listening) as connection:
        connection.sendall(f"{HEAD}Content-Length: 100\r\n\r\n{{".encode())
        status, body = answer(connection)
        assert (status, json.loads(body)) == (408, {"error": "the request came too slowly"})


def test_a_body_that_is_too_large_is_refused_unread(listening: int) -> None:
    with connected(listening) as connection:
        connection.sendall(f"{HEAD}Content-Length: 100001\r\n\r\n".encode())
        assert answer(connection)[0] == 413


def test_a_chunked_body_is_counted_as_it_comes(listening: int) -> None:
    with connected(listening) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        status = 0
        try:
            for _ in range(20):
                connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        except OSError:
            pass  # it was closed meanwhile
        else:
            status = answer(connection)[0]
        assert status in (0, 413)
    assert value(listening, "concatmt_sentences_waiting") == 0


def test_the_work_for_a_client_that_hangs_up_is_given_up(listening: int) -> None:
    before = value(listening, "concatmt_hang_ups_total")
    text = json.dumps(GOOD | {"q": "The sun shines on the old lamp.\n" * 400}).encode()
    with connected(listening) as connection:
        connection.sendall(f"{HEAD}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        end = time.monotonic() + 10
        while value(listening, "concatmt_sentences_waiting") < 300:
            assert time.monotonic() < end
    end = time.monotonic() + 5
    while value(listening, "concatmt_sentences_waiting"):
        assert time.monotonic() < end, "the sentences of the client still wait"
    assert value(listening, "concatmt_hang_ups_total") == before + 1


def test_a_name_that_is_not_ours_is_refused(client: TestClient) -> None:
    """A page that lets its own name point to this machine could read answers otherwise."""
    response = client.get("/languages", headers={"host": "evil.example"})
    assert response.status_code == 400


def test_pages_of_others_may_not_call_unless_asked(
    client: TestClient, make_client: MakeClient
) -> None:
    origin = {"origin": "https://page.example"}
    response = client.post("/translate", json=GOOD, headers=origin)
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers
    assert client.post("/translate", json=GOOD, headers={"origin": "http://localhost"}).is_success
    open_client = make_client(cors=["https://page.example"])
    response = open_client.post("/translate", json=GOOD, headers=origin)
    assert response.headers["access-control-allow-origin"] == "https://page.example"


def test_every_answer_has_security_headers_and_an_id(client: TestClient) -> None:
    for path in ("/", "/languages", "/nothing", "/download_file/.."):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert len(headers["x-request-id"]) == 32
    assert client.get("/", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/", headers={"x-request-id": "a b"}).headers["x-request-id"] != "a b"


def test_no_text_is_logged_unless_asked(
    client: TestClient, make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "Rosebud"
    formatter = logs.JsonLines()
    caplog.set_level(logging.INFO, "concatmt.serve")
    logging.getLogger("concatmt.serve").propagate = True
    client.post("/translate", json=GOOD | {"q": secret})
    client.post("/translate", json=GOOD | {"q": secret, "target": secret})
    client.get(f"/{secret}?q={secret}")
    lines = [formatter.format(record) for record in caplog.records]
    assert len(lines) >= 3
    assert all(json.loads(line)["event"] for line in lines)
    assert secret not in "".join(lines)
    caplog.clear()
    make_client(log_texts=True).post("/translate", json=GOOD | {"q": secret})
    assert secret in "".join(formatter.format(record) for record in caplog.records)


def test_when_too_much_waits_more_is_refused(make_client: MakeClient) -> None:
    client = make_client(limits={"queue": 5})
    texts = [f"Sentence {number}." for number in range(6)]
    assert client.post("/translate", json=GOOD | {"q": texts}).status_code == 200, "alone it may"

    async def both() -> list[int]:
        async def one() -> int:
            response = await asyncio.to_thread(client.post, "/translate", json=GOOD | {"q": texts})
            if response.status_code == 429:
                assert int(response.headers["retry-after"]) >= 1
                assert response.json()["error"].startswith("Slowdown: ")
            return response.status_code

        return list(await asyncio.gather(*(one() for _ in range(4))))

    statuses = asyncio.run(both())
    assert set(statuses) == {200, 429}


def test_what_takes_too_long_is_given_up(make_client: MakeClient) -> None:
    client = make_client(limits={"answer_seconds": 0.01})
    response = client.post("/translate", json=GOOD | {"q": "The sun shines.\n" * 50})
    assert response.status_code == 504
    assert "longer than 0.01 seconds" in response.json()["error"]
