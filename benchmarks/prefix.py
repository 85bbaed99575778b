"""The mode `prefix` beside `redecode`: sentences per CPU second, and what is in reach.

    python benchmarks/prefix.py random [--sizes small base] [--windows 64]
    python benchmarks/prefix.py trained MODEL INPUT [--lines 500] [--stop certain]

`random`: windows of four sentences of equal length, random weights, translations of exactly as many
tokens as their source. `redecode` searches all four sentences, `prefix` the last, after three that
are forced. `trained`: a model translates the documents of a file in both modes, a search ends by
the rule of its mode, or by that of `--stop` in both; how often the translations are equal is told
too. All on one thread and in turn. Counted besides is what both modes need in multiplications at
least; in `random` by the lengths, in `trained` by the lengths of what came out, if every search
ended with its best hypothesis.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import LENGTH, SENTENCE, VOCABULARY, Exactly, build, make_windows
from operations import Counter

from concatmt.corpus.lines import ReadReport
from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.inputs import read_parts
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.search import Search
from concatmt.decoding.translation import Passage, Translation
from concatmt.decoding.translator import Translator
from concatmt.files import write_json
from concatmt.model.config import SIZES

Lengths = Sequence[int]  # of the sentences of a window, each with its boundary


def count_redecode(counter: Counter, source: Lengths, target: Lengths, beam: int) -> None:
    """A window: every sentence is searched."""
    counter.encode(sum(source))
    count_steps(counter, 0, sum(target), sum(source), beam)


def count_prefix(counter: Counter, source: Lengths, target: Lengths, beam: int) -> None:
    """A window: all sentences but the last are forced."""
    counter.encode(sum(source))
    forced = sum(target[:-1])
    counter.decode(range(1, forced + 1), sum(source), last_layer=False)
    count_steps(counter, forced, target[-1], sum(source), beam)


def count_steps(counter: Counter, before: int, tokens: int, source: int, beam: int) -> None:
    """So many distributions: the first for one hypothesis, the others for the whole beam."""
    counter.decode([before + 1], source)
    for step in range(1, tokens):
        counter.decode([before + 1 + step] * beam, source)
    counter.logits(1 + beam * (tokens - 1))


def alternate(ways: dict[str, Callable[[], Any]], rounds: int) -> tuple[Any, Any]:
    """CPU seconds of each way in each round, and its last result."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found = {}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            found[name] = way()
            seconds[name].append(time.process_time() - start)
    return seconds, found


def summary(
    seconds: dict[str, list[float]], sentences: int, counters: dict[str, Counter]
) -> dict[str, Any]:
    """Speeds and ratios."""
    pairs = zip(seconds["prefix"], seconds["redecode"], strict=True)
    totals = {name: counter.sum.total for name, counter in counters.items()}
    return {
        "sentences": sentences,
        "sentences_per_cpu_second": {
            name: sentences / statistics.median(values) for name, values in seconds.items()
        },
        "ratios": [b / a for a, b in pairs],
        "operations": {name: counter.sum.rounded() for name, counter in counters.items()},
        "ratio_in_reach": totals["redecode"] / totals["prefix"],
    }


def run_random(size: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Both modes with random weights."""
    engine = Engine(build(size))
    windows = make_windows(arguments.windows, VOCABULARY[size])
    draw = np.random.default_rng(2)
    forced = draw.integers(4, VOCABULARY[size], (len(windows), 3, SENTENCE)).tolist()
    given = [Window(w.source, f) for w, f in zip(windows, forced, strict=True)]

    def search(some: Sequence[Window], tokens: int) -> None:
        # The search counts the boundaries of what is forced.
        limit = tokens + len(some[0].forced)
        config = SearchConfig(
            beam=arguments.beam, constrained=False, length_factor=0, length_constant=limit
        )
        for start in range(0, len(some), arguments.batch):
            batch = list(some[start : start + arguments.batch])
            for found in Search(engine, config, Exactly).run(batch):
                assert len(found[0].tokens) == tokens

    ways = {
        "redecode": lambda: search(windows, LENGTH - 1),
        "prefix": lambda: search(given, SENTENCE),
    }
    seconds, _ = alternate(ways, arguments.rounds)
    counters = {name: Counter(SIZES[size], VOCABULARY[size]) for name in ways}
    lengths = [SENTENCE + 1] * 4
    for _ in windows:
        count_redecode(counters["redecode"], lengths, lengths, arguments.beam)
        count_prefix(counters["prefix"], lengths, lengths, arguments.beam)
    return summary(seconds, len(windows), counters)


def run_trained(arguments: argparse.Namespace) -> dict[str, Any]:
    """Both modes with a model that has learnt something."""
    loaded = LoadedModel.load(arguments.model)
    parts = read_parts(arguments.input, "text", 1024, ReadReport())
    documents, lines = [], 0
    for part in parts:
        if part is not None and part.source and lines < arguments.lines:
            documents.append(list(islice(part.source, arguments.lines - lines)))
            lines += len(documents[-1])

    def translate(mode: str) -> list[list[Translation]]:
        base = TranslateConfig()
        search = base.search.model_copy(update={"beam": arguments.beam, "stop": arguments.stop})
        pool = base.pool.model_copy(update={"threads": 1, "windows": arguments.batch})
        config = base.model_copy(update={"mode": mode, "search": search, "pool": pool})
        translator = Translator(loaded.engine, loaded.text, config, loaded.identity)
        return translator.translate_passages([Passage(document) for document in documents])[0]

    ways = {"redecode": lambda: translate("redecode"), "prefix": lambda: translate("prefix")}
    seconds, found = alternate(ways, arguments.rounds)
    config = loaded.engine.config
    counters = {name: Counter(config.architecture, config.target_vocabulary) for name in ways}
    size = config.system.sentences
    for document in found["prefix"]:
        source = [len(loaded.text.source.encode(one.source)) + 1 for one in document]
        target = [len(one.tokens) + 1 for one in document]
        for end in range(1, len(document) + 1):
            window = slice(max(0, end - size), end)
            args = source[window], target[window], arguments.beam
            count_redecode(counters["redecode"], *args)
            count_prefix(counters["prefix"], *args)
    texts = {name: [one.text for doc in of for one in doc] for name, of in found.items()}
    equal = sum(a == b for a, b in zip(texts["prefix"], texts["redecode"], strict=True))
    return {**summary(seconds, lines, counters), "equal_translations": equal / lines}


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    random, trained = kinds.add_parser("random"), kinds.add_parser("trained")
    random.add_argument("--sizes", nargs="+", default=["small", "base"])
    random.add_argument("--windows", type=int, default=64)
    trained.add_argument("model", type=Path)
    trained.add_argument("input", type=Path)
    trained.add_argument("--lines", type=int, default=500)
    trained.add_argument("--stop", choices=["certain", "likely"])
    for kind in (random, trained):
        kind.add_argument("--batch", type=int, default=64)
        kind.add_argument("--beam", type=int, default=4)
        kind.add_argument("--rounds", type=int, default=3)
        kind.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/prefix.py", *sys.argv[1:]]),
        "torch": torch.__version__,
    }
    if arguments.kind == "random":
        for size in arguments.sizes:
            results[size] = run_random(size, arguments)
    else:
        results["trained"] = run_trained(arguments)
    print(json.dumps(results, indent=1))
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
