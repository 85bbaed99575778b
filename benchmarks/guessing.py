"""One document at a time in `prefix`: with guessed context against sentence after sentence.

    python benchmarks/guessing.py MODEL INPUT [--sentences 5 200] [--documents 20] [--rounds 3]

Documents of so many sentences are cut out of the lines of a text. Both ways translate the same
document in turn, with two threads at their disposal; the translations must be the same. The time to
the first sentence is that of a service (`decoding.service`) that does nothing else.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from concatmt.decoding.config import PoolConfig, TranslateConfig
from concatmt.decoding.service import Service
from concatmt.decoding.translation import Passage, Report, Translation
from concatmt.decoding.translator import Translator
from concatmt.files import write_json

Way = Callable[[list[Passage]], tuple[list[list[Translation]], Report]]


def timed(way: Way, document: list[str]) -> tuple[float, list[Translation], Report]:
    """Seconds by the clock, and what came out."""
    start = time.perf_counter()
    (found,), report = way([Passage(document)])
    return time.perf_counter() - start, found, report


def first_sentence(translator: Translator, document: list[str]) -> float:
    """Seconds to the first sentence of a request."""
    times: list[float] = []
    with Service(translator) as service:
        start = time.perf_counter()
        request = service.submit(
            Passage(document), on_sentence=lambda *_: times.append(time.perf_counter() - start)
        )
        while not times:
            time.sleep(0.001)
        request.cancel()
    return times[0]


def compare(translator: Translator, documents: list[list[str]], rounds: int) -> dict[str, Any]:
    """Both ways in turn, document by document."""
    ways: dict[str, Way] = {
        "sequential": translator._side_by_side,
        "guessed": translator.translate_passages,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    total, equal, lines, largest = Report(), 0, 0, 0.0
    for document in documents:
        found: dict[str, list[Translation]] = {}
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(rounds):
            for name, way in ways.items():
                spent, found[name], report = timed(way, document)
                best[name] = min(best[name], spent)
        total.add(report)
        for name in ways:
            seconds[name].append(best[name])
        for one, other in zip(found["sequential"], found["guessed"], strict=True):
            lines += 1
            equal += one.text == other.text
            largest = max(largest, abs((one.score or 0) - (other.score or 0)))
    ratios = [a / b for a, b in zip(seconds["sequential"], seconds["guessed"], strict=True)]
    return {
        "documents": len(documents),
        "lines": lines,
        "equal": equal,
        "largest_difference_of_a_score": largest,
        "seconds": {name: sum(values) for name, values in seconds.items()},
        "ratio": sum(seconds["sequential"]) / sum(seconds["guessed"]),
        "ratios": {"median": statistics.median(ratios), "all": ratios},
        "searches_a_sentence": total.searches / lines,
        "first_sentence": first_sentence(translator, documents[0]),
    }


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--sentences", type=int, nargs="+", default=[5, 200])
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    pool = PoolConfig(threads=arguments.threads)
    translator = Translator.load(arguments.model, TranslateConfig(pool=pool), int8=arguments.int8)
    text = arguments.input.read_text(encoding="utf-8").split("\n")
    lines = [line for line in text if line.strip()]
    results = {}
    for size in arguments.sentences:
        documents = [lines[i * size : (i + 1) * size] for i in range(arguments.documents)]
        results[size] = compare(translator, [one for one in documents if one], arguments.rounds)
        print(size, json.dumps(results[size], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
