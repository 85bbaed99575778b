"""`concatmt serve` under load on this machine: many clients, hang-ups, slow clients, SIGTERM.

    python benchmarks/serve_load.py MODEL TEXT [--int8] [--clients 100] [--seconds 60]

TEXT has a sentence a line and blank lines between documents. Every answer is compared with what the
translator gives offline, whose throughput is measured first, on the same documents and with as many
threads. The clients run on the same cores as the server.
"""

import argparse
import asyncio
import json
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.translator import Translator
from concatmt.processor import name_of_processor

HOST = "127.0.0.1"
LONGEST = 12  # sentences in a request
SAMPLE_SECONDS = 2.0


@dataclass
class Case:
    """A request and the right answer."""

    request: bytes
    expected: str
    sentences: int


@dataclass
class Outcome:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    sentences: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    refused: int = 0  # connections after the server had stopped to listen

    def quantile(self, share: float) -> float:
        """Seconds within which that share of the answers came."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def read_documents(path: Path, count: int, seed: int) -> list[list[str]]:
    """Documents of mixed lengths: short ones are most, as in subtitles and comments."""
    text = path.read_text(encoding="utf-8")
    sentences = [line for line in text.splitlines() if plain(line)]
    draw = random.Random(seed)
    documents = []
    for _ in range(count):
        length = min(LONGEST, 1 + int(draw.expovariate(1 / 2.5)))
        start = draw.randrange(len(sentences) - length)
        documents.append(sentences[start : start + length])
    return documents


def plain(line: str) -> bool:
    """Whether a line is one sentence for the server too."""
    from concatmt.text.splitting import sentence_spans

    line = line.rstrip("\n")
    return 3 <= len(line.split()) <= 40 and sentence_spans(line, "en") == [(0, len(line))]


@dataclass
class Speed:
    """Of translating."""

    rate: float  # sentences a second
    cost: float  # seconds of processor time for a sentence: comparable on a busy machine too


def offline(model: Path, documents: list[list[str]], int8: bool) -> tuple[list[Case], Speed]:
    """The right answers, and how fast they came."""
    translator = Translator.load(model, TranslateConfig(), int8)
    list(translator.translate_documents(documents[:64]))  # what is done once
    begin, used = time.perf_counter(), time.process_time()
    translated = list(translator.translate_documents(documents))
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    languages = translator.text.settings.languages
    cases = []
    for document, translations in zip(documents, translated, strict=True):
        fields = {
            "q": "\n".join(document), "source": languages.source, "target": languages.target
        }  # fmt: skip
        expected = "\n".join(one.text for one in translations)
        cases.append(Case(http("/translate", fields), expected, len(document)))
    count = sum(map(len, documents))
    return cases, Speed(count / seconds, used / count)


def http(path: str, fields: dict[str, str]) -> bytes:
    """A request as Subtitle Edit or Weblate sends it."""
    body = json.dumps(fields).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Server:
    """A server in a process of its own."""

    def __init__(self, model: Path, int8: bool, *options: str) -> None:
        command = [sys.executable, "-m", "concatmt", "serve", str(model), "--port", "0"]
        command += ["--metrics", *options] + ["--int8"] * int8
        begin = time.perf_counter()
        self.log = Path(f"serve-load-{os.getpid()}.log")
        self.process = subprocess.Popen(command, stderr=self.log.open("w"))
        self.port = self._port()
        self.started = time.perf_counter() - begin

    def _port(self) -> int:
        while self.process.poll() is None:
            if found := re.search(r"http://[^:]+:(\d+)", self.log.read_text()):
                return int(found[1])
            time.sleep(0.05)
        raise SystemExit(f"the server did not start: {self.log.read_text()}")

    @property
    def megabytes(self) -> float:
        """Resident memory."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 1e6)

    @property
    def processor_seconds(self) -> float:
        """What it has used."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def descriptors(self) -> int:
        """Open files and connections."""
        return int(psutil.Process(self.process.pid).num_fds())

    def figure(self, name: str) -> float:
        """Of /metrics."""
        address = f"http://{HOST}:{self.port}/metrics"
        with urllib.request.urlopen(address) as answer:
            text = answer.read().decode()
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        self.log.unlink()
        return code


class Connection:
    """A client that keeps its connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(HOST, self.port)
        reader, writer = self.streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        if "connection: close" in head:
            self.close()
        return int(head.split()[1]), body

    def close(self) -> None:
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


async def client(port: int, cases: list[Case], until: float, outcome: Outcome, seed: int) -> None:
    """Ask, compare, ask again; between requests a pause now and then, as people make."""
    draw = random.Random(seed)
    connection = Connection(port)
    while time.perf_counter() < until:
        case = draw.choice(cases)
        begin = time.perf_counter()
        try:
            status, body = await connection.ask(case.request)
        except ConnectionRefusedError:
            outcome.refused += 1
            break
        except (OSError, asyncio.IncompleteReadError) as error:
            outcome.errors.append(type(error).__name__)
            connection.close()
            continue
        if status != 200:
            outcome.errors.append(str(status))
            continue
        outcome.seconds.append(time.perf_counter() - begin)
        outcome.sentences += case.sentences
        text = json.loads(body)["translatedText"]
        if text != case.expected:
            outcome.wrong.append((case.expected, text))
    connection.close()


async def load(server: Server, cases: list[Case], count: int, seconds: float, alone: Speed) -> None:
    """All clients at once; `alone`: the speed of the translator."""
    outcome, memory = Outcome(), list[float]()
    before = server.processor_seconds, time.process_time()
    begin = time.perf_counter()
    tasks = [
        asyncio.create_task(client(server.port, cases, begin + seconds, outcome, seed))
        for seed in range(count)
    ]
    pending = set(tasks)
    while pending:
        _, pending = await asyncio.wait(pending, timeout=SAMPLE_SECONDS)
        memory.append(server.megabytes)
    for task in tasks:
        task.result()
    elapsed = time.perf_counter() - begin
    used = server.processor_seconds - before[0], time.process_time() - before[1]
    answers = len(outcome.seconds)
    print(f"{count} clients, {elapsed:.1f} s: {answers:,} answers, {len(outcome.errors)} errors,")
    speed = outcome.sentences / elapsed
    print(f"  {len(outcome.wrong)} other than offline, {speed:.1f} sentences/s,")
    print(f"  {speed / alone.rate:.2f} of offline")
    costs = [1e3 * seconds / outcome.sentences for seconds in used]
    print(
        f"  processor time a sentence: server {costs[0]:.2f} ms, clients {costs[1]:.2f} ms,",
        end=" ",
    )
    print(f"offline {1e3 * alone.cost:.2f} ms: {1e3 * alone.cost / costs[0]:.2f} of the server's")
    for expected, found in outcome.wrong[:3]:
        print(f"  expected {expected!r}\n  found    {found!r}")
    shares = ", ".join(f"p{100 * q:g} {outcome.quantile(q):.2f} s" for q in (0.5, 0.95, 0.99))
    print(f"  {shares}, longest {max(outcome.seconds):.2f} s")
    third = len(memory) // 3
    means = [statistics.mean(memory[i * third : (i + 1) * third or None]) for i in range(3)]
    print("  resident memory, mean of each third: " + ", ".join(f"{m:.0f} MB" for m in means))
    print(f"  errors: {sorted(set(outcome.errors)) or 'none'}")


async def hang_ups(server: Server, cases: list[Case], count: int) -> None:
    """Clients that ask and leave at once, beside one that does not."""
    before, files = server.megabytes, server.descriptors
    stop = asyncio.Event()
    outcome = Outcome()

    async def patient() -> None:
        while not stop.is_set():
            await client(server.port, cases[:20], time.perf_counter() + 1, outcome, 0)

    task = asyncio.create_task(patient())
    for number in range(count):
        _, writer = await asyncio.open_connection(HOST, server.port)
        writer.write(cases[number % len(cases)].request)
        await writer.drain()
        await asyncio.sleep(0.005)
        writer.transport.abort()
    stop.set()
    await task
    begin = time.perf_counter()
    while await asyncio.to_thread(server.figure, "concatmt_rows_searching"):
        await asyncio.sleep(0.1)
    print(f"{count} hang-ups: all rows free after {time.perf_counter() - begin:.1f} s,")
    report(server, outcome, before, files)


async def slow(server: Server, cases: list[Case], count: int) -> None:
    """Clients that send a head byte by byte, beside one that does not."""
    before, files = server.megabytes, server.descriptors
    outcome = Outcome()
    streams = [await asyncio.open_connection(HOST, server.port) for _ in range(count)]

    async def drip(writer: asyncio.StreamWriter) -> None:
        try:
            for byte in b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " + b"x" * 100:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            pass

    tasks = [asyncio.create_task(drip(writer)) for _, writer in streams]
    begin = time.perf_counter()
    await client(server.port, cases[:20], begin + 10, outcome, 0)
    await asyncio.wait([asyncio.create_task(reader.read()) for reader, _ in streams])
    print(f"{count} slow clients: all dropped after {time.perf_counter() - begin:.0f} s,")
    for task in tasks:
        task.cancel()
    await asyncio.sleep(0.5)
    report(server, outcome, before, files)


def report(server: Server, outcome: Outcome, before: float, files: int) -> None:
    """What the patient client saw, and what is left behind."""
    print(
        f"  meanwhile {len(outcome.seconds)} answers to others, p95 {outcome.quantile(0.95):.2f} s,"
    )
    print(f"  {len(outcome.wrong)} wrong, {len(outcome.errors)} errors;")
    print(f"  memory {before:.0f} -> {server.megabytes:.0f} MB,", end=" ")
    print(f"open files {files} -> {server.descriptors}")


async def terminate(server: Server, cases: list[Case], count: int) -> None:
    """SIGTERM under load: what was accepted is answered."""
    outcome = Outcome()
    begin = time.perf_counter()
    tasks = [
        asyncio.create_task(client(server.port, cases, begin + 20, outcome, seed))
        for seed in range(count)
    ]
    await asyncio.sleep(4)
    sent = time.perf_counter()
    code = await asyncio.to_thread(server.stop)
    seconds = time.perf_counter() - sent
    await asyncio.gather(*tasks)
    print(f"SIGTERM under {count} clients: exit code {code} after {seconds:.1f} s,")
    print(f"  {len(outcome.seconds)} answers, {outcome.refused} refused when it was gone,")
    print(f"  {len(outcome.wrong)} wrong, lost: {sorted(outcome.errors) or 'none'}")


def main() -> None:
    """Everything, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hang-ups", type=int, default=1_000)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--documents", type=int, default=400)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    documents = read_documents(options.text, options.documents, seed=1)
    cases, alone = offline(options.model, documents, options.int8)
    print(f"processor: {name_of_processor()}; {os.cpu_count()} cores")
    print(f"offline: {alone.rate:.1f} sentences/s")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    server = Server(options.model, options.int8)
    status, _ = asyncio.run(first(server, cases[0]))
    print(f"start to listening: {server.started:.1f} s; first answer: {status}")
    steps: list[Callable[[], Awaitable[None]]] = [
        lambda: load(server, cases, options.clients, options.seconds, alone),
        lambda: hang_ups(server, cases, options.hang_ups),
        lambda: slow(server, cases, options.slow),
        lambda: terminate(server, cases, options.clients),
    ]

    async def run() -> None:
        for step in steps:
            await step()

    asyncio.run(run())


async def first(server: Server, case: Case) -> tuple[int, bytes]:
    """One request."""
    return await Connection(server.port).ask(case.request)


if __name__ == "__main__":
    main()
