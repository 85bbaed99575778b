"""Resident memory of `concatmt serve` under a modest load for some minutes, and what would free it.

    python benchmarks/serve_memory.py MODEL TEXT [--int8] [--clients 8] [--minutes 8]

Clients ask for documents of 1 to 12 sentences, as in `serve_load.py`, half of them by the streaming
interface, whose documents are kept, with a limit of `--kept` documents. A line a minute: answers so
far, resident memory, of which the heap (anonymous), open files.
"""

import argparse
import asyncio
import json
import random
import time
from pathlib import Path

import psutil
from serve_load import Case, Connection, Server, http, read_documents

from concatmt.decoding.loading import LoadedModel
from concatmt.processor import name_of_processor

PAUSE_SECONDS = 0.05


def cases_of(model: Path, documents: list[list[str]]) -> list[Case]:
    """A request for each document, every other one as a document that the server keeps."""
    languages = LoadedModel.load(model).text.settings.languages
    pair = {"source": languages.source, "target": languages.target}
    cases = []
    for number, document in enumerate(documents):
        path, name = ("/documents", "text") if number % 2 else ("/translate", "q")
        request = http(path, {name: "\n".join(document), **pair})
        cases.append(Case(request, "", len(document)))
    return cases


async def client(
    server: Server, cases: list[Case], until: float, seed: int, answers: list[int]
) -> None:
    """Ask, read all of the answer, ask again; counts its answers."""
    draw = random.Random(seed)
    while time.perf_counter() < until:
        case = draw.choice(cases)
        if b"/documents" in case.request[:30]:
            await stream(server, case)
        else:
            status, _ = await Connection(server.port).ask(case.request)
            assert status == 200
        answers[seed] += 1
        await asyncio.sleep(PAUSE_SECONDS)


async def stream(server: Server, case: Case) -> None:
    """A document whose sentences come as chunks."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(case.request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 201"), answer[:200]
    assert answer.count(b'"index"') == case.sentences, answer
    writer.close()


def anonymous(process: psutil.Process) -> float:
    """Memory that no file stands behind: the heap and what Python and torch took beside it."""
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    line = next(line for line in text.splitlines() if line.startswith("Anonymous:"))
    return int(line.split()[1]) * 1024 / 1e6


async def watch(server: Server, cases: list[Case], options: argparse.Namespace) -> None:
    """All clients, and a line a minute."""
    begin = time.perf_counter()
    end = begin + 60 * options.minutes
    process = psutil.Process(server.process.pid)
    answers = [0] * options.clients
    clients = [
        asyncio.create_task(client(server, cases, end, seed, answers))
        for seed in range(options.clients)
    ]
    for minute in range(options.minutes + 1):
        await asyncio.sleep(max(0.0, begin + 60 * minute - time.perf_counter()))
        print(
            json.dumps(
                {
                    "minute": minute,
                    "answers": sum(answers),
                    "resident_mb": round(server.megabytes),
                    "heap_mb": round(anonymous(process)),
                    "files": server.descriptors,
                }
            ),
            flush=True,
        )
    await asyncio.gather(*clients)


def main() -> None:
    """Start a server and watch it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--minutes", type=int, default=8)
    parser.add_argument("--kept", type=int, default=200)
    options = parser.parse_args()
    print(f"processor: {name_of_processor()}")
    cases = cases_of(options.model, read_documents(options.text, 400, seed=1))
    server = Server(options.model, options.int8, "--keep-documents", str(options.kept))
    asyncio.run(watch(server, cases, options))
    print(f"exit code {server.stop()}")


if __name__ == "__main__":
    main()
