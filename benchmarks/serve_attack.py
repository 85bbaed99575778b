"""Requests that mean harm, and what `concatmt serve` answers to each.

    python benchmarks/serve_attack.py MODEL [--wrong-keys 10000]

Starts a server with a key on this machine; everything stays on loopback and is bounded in number
and size. Exit code 1 if an answer is a 500, the server is gone, or it lets something through.
"""

import argparse
import io
import json
import socket
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

from serve_load import HOST, Server

from concatmt.serve.access import add_key

Answer = tuple[int, bytes]  # status, 0: dropped
GOOD = {"q": "Hello.", "source": "en", "target": "fr"}


class Attacker:
    """Sends things."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key

    def send(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Answer:
        """A request of any bytes; the answer."""
        connection = HTTPConnection(HOST, self.port, timeout=60)
        try:
            headers = {"Content-Type": kind} if kind else {}
            headers["Authorization"] = f"Bearer {self.key}"
            connection.putrequest(method, path, skip_host=False)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.read()
        except OSError:
            return 0, b""
        finally:
            connection.close()

    def json(self, fields: object, path: str = "/translate") -> Answer:
        """As JSON."""
        return self.send("POST", path, json.dumps(fields).encode(), "application/json")

    def body(self, text: bytes) -> Answer:
        """Said to be JSON."""
        return self.send("POST", "/translate", text, "application/json")

    def file(self, name: str, data: bytes) -> Answer:
        """A file to translate."""
        parts = []
        for field in ("source", "target"):
            head = f'Content-Disposition: form-data; name="{field}"'
            parts.append(f"--x\r\n{head}\r\n\r\n{GOOD[field]}\r\n".encode())
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        parts.append(f"--x\r\n{head}\r\n\r\n".encode() + data + b"\r\n--x--\r\n")
        return self.send(
            "POST", "/translate_file", b"".join(parts), "multipart/form-data; boundary=x"
        )

    def raw(self, data: bytes) -> Answer:
        """Bytes on the wire."""
        with socket.create_connection((HOST, self.port), timeout=60) as connection:
            answer = b""
            try:
                connection.sendall(data)
                while part := connection.recv(65_536):
                    answer += part
            except OSError:
                pass
        return (int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0), answer


def zip_bomb(members: int, size: int) -> bytes:
    """A Word file of zeros."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for number in range(members):
            name = "word/document.xml" if number == 0 else f"word/header{number}.xml"
            archive.writestr(name, b"<w:t>" + b"a" * size)
    return data.getvalue()


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">'.encode() for i in range(9)
)
XLIFF = (
    ENTITIES + b']><xliff version="1.2"><file source-language="en"><body><trans-unit id="1">'
    b"<source>&j;</source></trans-unit></body></file></xliff>"
)


def glossaries(attacker: Attacker) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Glossaries that are too large or none at all."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    given = {
        "a glossary of 501 terms": {f"t{number}": "x" for number in range(501)},
        "a glossary of lists of lists": {"t": [["x"]]},
        "every word a term of ten forms": {
            letter: [letter * count + "q" for count in range(1, 11)] for letter in letters
        },
    }
    for name, glossary in given.items():
        fields = {"source": "en", "target": "fr", "text": " ".join(letters), "glossary": glossary}
        yield name, lambda fields=fields: attacker.json(fields, "/documents")  # type: ignore[misc]


def attacks(attacker: Attacker, limit: int) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Names and deeds."""
    json_, body, file, raw = attacker.json, attacker.body, attacker.file, attacker.raw
    yield "text over the limit of characters", lambda: json_(GOOD | {"q": "x" * 30_000})
    yield "body over the limit", lambda: body(b" " * (limit + 1))
    head = b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    yield (
        "Content-Length over the limit",
        lambda: raw(head + b"Content-Length: 99999999999\r\n\r\n"),
    )
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    yield (
        "chunks without end",
        lambda: raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 16),
    )
    yield "negative Content-Length", lambda: raw(head + b"Content-Length: -1\r\n\r\n")
    yield "two lengths", lambda: raw(head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx")
    smuggled = (
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
    )
    yield "length and chunks (smuggling)", lambda: raw(head + smuggled)
    yield "head of 1 MB", lambda: raw(head + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n")
    yield "no HTTP", lambda: raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
    yield "JSON nested 100,000 deep", lambda: body(b'{"q":' + b"[" * 100_000)
    yield "JSON with a number of 1 million digits", lambda: body(b'{"q":' + b"1" * 1_000_000 + b"}")
    yield "JSON with half of a surrogate pair", lambda: body(b'{"q":"\\ud800"}')
    yield "JSON that is not UTF-8", lambda: body(b'{"q":"\xff"}')
    yield "q is an object", lambda: json_(GOOD | {"q": {"a": [1]}})
    yield "q is a list of lists", lambda: json_(GOOD | {"q": [["a"]]})
    yield "source is a list", lambda: json_(GOOD | {"source": ["en"]})
    yield (
        "alternatives is infinite",
        lambda: body(b'{"q":"a","source":"en","target":"fr","alternatives":1e999}'),
    )
    yield "alternatives is a billion", lambda: json_(GOOD | {"alternatives": 10**9})
    yield "100,000 texts", lambda: json_(GOOD | {"q": ["a"] * 100_000})
    yield "one word of 20,000 letters", lambda: json_(GOOD | {"q": "x" * 20_000})
    yield "20,000 line ends", lambda: json_(GOOD | {"q": "\n" * 20_000})
    yield "NUL and control characters", lambda: json_(GOOD | {"q": "a\0b\x1b[31m\u202e"})
    yield "right-to-left and emoji", lambda: json_(GOOD | {"q": "\u202eabc 👩‍👩‍👧‍👦"})
    form = b"&".join(b"a%d=1" % i for i in range(100_000))
    yield (
        "a form of 100,000 fields",
        lambda: attacker.send("POST", "/translate", form, "application/x-www-form-urlencoded"),
    )
    yield (
        "a form without its boundary",
        lambda: attacker.send("POST", "/translate_file", b"--y\r\n", "multipart/form-data"),
    )
    yield "zip bomb, one member", lambda: file("a.docx", zip_bomb(1, 300_000_000))
    yield "zip bomb, 200 members", lambda: file("a.docx", zip_bomb(200, 3_000_000))
    yield "a Word file that is no zip", lambda: file("a.docx", b"PK\x03\x04 nothing")
    yield "XML entities (billion laughs)", lambda: file("a.xlf", XLIFF)
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + XLIFF[len(ENTITIES) + 2 :]
    yield "XML entity of a file", lambda: file("a.xlf", outside.replace(b"&j;", b"&a;"))
    yield "file name with a path", lambda: file("../../etc/cron.d/x.txt", b"Hello.")
    yield "file name of 10,000 letters", lambda: file("x" * 10_000 + ".txt", b"Hello.")
    yield "a text file of one word of 9 MB", lambda: file("a.txt", b"x" * 9_000_000)
    for piece in ("[", "{{", "a@"):
        data = piece.encode() * 20_000
        yield f"20,000 times {piece} in Markdown", lambda data=data: file("a.md", data)  # type: ignore[misc]
    yield "program as a file", lambda: file("a.exe", b"MZ")
    for path in ("/download_file/../../etc/passwd", "/download_file/..%2f..%2fetc%2fpasswd",
                 "/download_file/%2e%2e", "/page/..%2f..%2fserver.py", "/page/../server.py",
                 "//etc/passwd", "/documents/..%2f..", "/%00"):  # fmt: skip
        yield f"GET {path}", lambda path=path: attacker.send("GET", path)  # type: ignore[misc]
    yield "Host of another", lambda: raw(b"GET /languages HTTP/1.1\r\nHost: evil.example\r\n"
                                         b"Connection: close\r\n\r\n")  # fmt: skip
    other = b"Origin: https://evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    yield "Origin of another", lambda: raw(head + other)
    for name in (b"[", b"evil.example@127.0.0.1"):
        line = b"GET /health HTTP/1.1\r\nConnection: close\r\nHost: " + name + b"\r\n\r\n"
        yield f"Host {name.decode()}", lambda line=line: raw(line)  # type: ignore[misc]
    broken = b"Origin: http://[\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    yield "Origin http://[", lambda: raw(head + broken)
    yield "TRACE", lambda: attacker.send("TRACE", "/translate")
    yield "a document of somebody else", lambda: attacker.send("GET", "/documents/AAAA")
    yield from glossaries(attacker)


def wrong_keys(port: int, count: int) -> tuple[Counter[int], float]:
    """Guesses, over one connection; the answers and the time."""
    connection = HTTPConnection(HOST, port, timeout=60)
    statuses: Counter[int] = Counter()
    begin = time.perf_counter()
    for number in range(count):
        body = json.dumps(GOOD | {"api_key": f"guess-{number}"})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        statuses[response.status] += 1
    return statuses, time.perf_counter() - begin


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--wrong-keys", type=int, default=10_000)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.txt"
        key = add_key(keys, "tester")
        limits = ["--answer-seconds", "20", "--client-seconds", "5"]
        server = Server(options.model, False, "--api-keys", str(keys), *limits)
        attacker = Attacker(server.port, key)
        before = server.megabytes
        print("| request | answer | seconds |\n| --- | --- | ---: |")
        for name, deed in attacks(attacker, 10_000_000):
            begin = time.perf_counter()
            status, answer = deed()
            seconds = time.perf_counter() - begin
            text = answer.rpartition(b"\r\n\r\n")[2][:110].decode("utf-8", "replace")
            bad += status == 500 or b"root:" in answer or b"import " in answer
            shown = " ".join(text.split()).replace("|", "/")
            print(f"| {name} | {status or 'dropped'} `{shown}` | {seconds:.2f} |", flush=True)
        statuses, seconds = wrong_keys(server.port, options.wrong_keys)
        found = ", ".join(f"{count:,} x {status}" for status, count in statuses.items())
        print(f"| {options.wrong_keys:,} wrong keys | {found} | {seconds:.1f} |")
        bad += statuses[403] != options.wrong_keys
        alive = attacker.json(GOOD)[0]
        print(f"\nafterwards: answer {alive}, memory {before:.0f} -> {server.megabytes:.0f} MB,")
        code = server.stop()
        print(f"exit code {code}")
    return int(bool(bad) or alive != 200 or code != 0)


if __name__ == "__main__":
    sys.exit(main())
