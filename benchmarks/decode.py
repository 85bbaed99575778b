"""Beam search beside CTranslate2, MarianMT and Marian: the same weights and windows.

    python benchmarks/decode.py --peer .bench-venv/bin/python [--sizes small base] [--rounds 3]
    python benchmarks/decode.py --peer .bench-venv/bin/python --sizes --opus MODEL --text TEXT

Random weights end no sentence, so every translation has exactly as many tokens as its source: no
engine gains by stopping early. OPUS-MT (a directory of Hugging Face's) translates the lines of a
text and ends them itself, each engine by its own rule. Each engine has `--threads` threads: ours,
CTranslate2's (`inter_threads`) and Marian's (`--cpu-threads`) work on different batches, MarianMT's
on one. Every engine first runs twice with each of the `--batches`, and then, in turn with the
others, with the one that was best for it. Seconds are those of the clock and of the CPU; on a
machine that does other things too, only the latter mean something. Prints tokens/s, ratios and how
many translations are equal. The peers' venv is made by `make bench`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from cases import LENGTH, Case, Exactly, random_case, real_case
from peers import PEERS, Run, export, peer_spec, start_peers

from concatmt.decoding.batches import plan
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis
from concatmt.decoding.search import Search
from concatmt.decoding.threads import in_threads
from concatmt.files import write_json
from concatmt.processor import name_of_processor

PAIRS = (
    ("ours float32", "ctranslate2 float32"),
    ("ours float32", "transformers"),
    ("ours float32", "marian float32"),
    ("ours int8", "ctranslate2 int8"),
    ("ours int8", "marian intgemm8"),
    ("ours int8", "marian packed8avx512"),
    ("ours int8", "ours float32"),
)


def ours(engine: Engine, case: Case, beam: int, threads: int, batch: int) -> Run:
    """By concatmt."""
    config = SearchConfig(beam=beam, stop="likely")
    if case.exact:
        config = SearchConfig(
            beam=beam, constrained=False, length_factor=0, length_constant=LENGTH - 1
        )
    rule = Exactly if case.exact else None
    start, cpu_start = time.perf_counter(), time.process_time()
    found: list[list[int]] = [[] for _ in case.windows]
    pool = PoolConfig(windows=batch, tokens=1 << 20)
    batches = plan([window.cost for window in case.windows], pool)

    def search(rows: list[int]) -> list[list[Hypothesis]]:
        windows = [case.windows[i] for i in rows]
        return Search(engine, config, rule).run(windows, [1] * len(rows))

    for rows, hypotheses in zip(batches, in_threads(search, batches, threads), strict=True):
        for row, beams in zip(rows, hypotheses, strict=True):
            found[row] = beams[0].tokens
    return Run(time.perf_counter() - start, time.process_time() - cpu_start, found)


def compare(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """All engines in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export(case, folder)
        spec = peer_spec(case, folder, arguments.beam, arguments.threads)
        peers = start_peers(arguments.engines, arguments.peer, spec)
        engines: dict[str, Callable[[int], Run]] = {
            f"ours {precision}": partial(
                ours,
                Engine(case.model, precision == "int8"),
                case,
                arguments.beam,
                arguments.threads,
            )
            for precision in ("float32", "int8")
        }
        engines |= {label: peer.run for label, peer in peers.items()}
        best = {
            label: min(arguments.batches, key=lambda batch: fastest(run, batch))
            for label, run in engines.items()
        }
        runs: dict[str, list[Run]] = {label: [] for label in engines}
        for _ in range(arguments.rounds):
            for label, run in engines.items():
                runs[label].append(run(best[label]))
        for peer in peers.values():
            peer.close()
    return {
        "windows": len(case.windows),
        "versions": {peer.name: peer.version for peer in peers.values()},
        "engines": speeds(case, runs, best),
        "ratios": ratios(runs),
    }


def fastest(run: Callable[[int], Run], batch: int) -> float:
    """CPU seconds of the better of two runs: the first one of a process may be slow."""
    return min(run(batch).cpu_seconds for _ in range(2))


def speeds(case: Case, runs: dict[str, list[Run]], best: dict[str, int]) -> dict[str, Any]:
    """Of each engine: its best batch, tokens a second (those of our translations in float32, which
    are the same work for all), and the share of equal translations.
    """
    wanted = runs["ours float32"][-1].found
    tokens = sum(len(one) + 1 for one in wanted)

    def equal(one: list[int], other: list[int]) -> bool:
        return one == (other[: len(one)] if case.exact else other)

    return {
        label: {
            "batch": best[label],
            "tokens_per_second": [tokens / run.seconds for run in of_label],
            "tokens_per_cpu_second": [tokens / run.cpu_seconds for run in of_label],
            "equal_to_ours_float32": statistics.mean(
                equal(a, b) for a, b in zip(wanted, of_label[-1].found, strict=True)
            ),
        }
        for label, of_label in runs.items()
    }


def ratios(runs: dict[str, list[Run]]) -> dict[str, Any]:
    """Of speeds, round by round, and their medians."""
    found = {}
    for a, b in PAIRS:
        if a not in runs or b not in runs:
            continue
        for clock in ("seconds", "cpu_seconds"):
            pairs = zip(runs[a], runs[b], strict=True)
            values = [getattr(y, clock) / getattr(x, clock) for x, y in pairs]
            found[f"{a} / {b}, {clock}"] = {"median": statistics.median(values), "all": values}
    return found


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--engines", nargs="*", choices=PEERS, default=PEERS)
    parser.add_argument("--sizes", nargs="*", default=["small", "base"])
    parser.add_argument("--opus", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--windows", type=int, default=128)
    parser.add_argument("--batches", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if arguments.opus and not arguments.text:
        parser.error("--opus translates the lines of --text")
    torch.set_num_threads(arguments.threads)
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/decode.py", *sys.argv[1:]]),
        "torch": torch.__version__,
        "processor": name_of_processor(),
        "threads": arguments.threads,
    }
    cases = [random_case(size, arguments.windows) for size in arguments.sizes]
    if arguments.opus:
        cases.append(real_case(arguments.opus, arguments.text, arguments.windows))
    for case in cases:
        results[case.name] = compare(case, arguments)
        print(case.name, json.dumps(results[case.name], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
