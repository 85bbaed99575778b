"""All benchmarks of speed, one after the other, and their tables in Markdown.

    python benchmarks/bench.py --peer .bench-venv/bin/python --output bench [--short]
        [--opus OPUS-MT-EN-FR --text TEXT] [--sets VOITA...] [--model MODEL]

`make bench` makes the peers' venv and runs this. Each benchmark writes its JSON to the output
folder; decode-speed.md, train-speed.md, model-speed.md and growth.md are made of these, with
processor, versions, rounds, and the load of the machine when each began. What needs something that
is not given is left out with a message. `--short` shows in some minutes that everything runs; its
figures mean nothing.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.files import write_json, write_text
from concatmt.processor import name_of_processor

HERE = Path(__file__).parent
Results = dict[str, Any]
BUSY = 0.5  # load of a machine that does hardly anything else


@dataclass(frozen=True)
class Step:
    """One benchmark: its script and arguments, and the table that its results become."""

    name: str
    title: str
    command: list[str]
    table: Callable[[Results], list[str]]
    file: str
    missing: str = ""  # why it cannot be run


def steps_of(arguments: argparse.Namespace) -> list[Step]:
    """All of them, in the order in which they are run."""
    short, peer = arguments.short, arguments.peer
    rounds = ["--rounds", "1" if short else str(arguments.rounds)]
    sizes = ["--sizes", "tiny"] if short else ["--sizes", "small", "base"]
    # On a busy machine threads of a short operation wait for each other.
    few = ("--windows 16 --batches 8 --threads 1" if short else "--batches 32 64").split()
    no_opus = "" if arguments.opus and arguments.text else "needs OPUS= (a directory) and TEXT="
    real = [f"--opus={arguments.opus}", f"--text={arguments.text}", "--sizes"]
    steps = [
        Step("decode", "Beam search", ["decode.py", "--peer", peer, *sizes, *few, *rounds],
             decode_table, "decode-speed"),
        Step("opus", "OPUS-MT, real text", ["decode.py", "--peer", peer, *real, *few, *rounds],
             decode_table, "decode-speed", no_opus),
    ]  # fmt: skip
    for count in (4,) if short else (4, 16, 64):
        command = ["decode.py", "--peer", peer, *real, f"--windows={count}", "--batches=64"]
        steps.append(
            Step(f"opus-{count}", f"OPUS-MT, {count} sentences", [*command, *rounds],
                 decode_table, "decode-speed", no_opus)
        )  # fmt: skip
    items = ["--items", "12" if short else "600", "--slice", "300"]
    no_sets = "" if arguments.sets else "needs SETS= (contrastive sets)"
    steps += [
        Step("score", "Contrastive scoring",
             ["score.py", *map(str, arguments.sets), *sizes, *items, *rounds],
             score_table, "decode-speed", no_sets),
        Step("prefix", "prefix against redecode, random weights",
             ["prefix.py", "random", *sizes, "--windows", "8" if short else "64", *rounds],
             prefix_table, "decode-speed"),
        Step("guessing", "One document, in pieces against one sentence after the other",
             ["guessing.py", str(arguments.model), str(arguments.text),
              "--sentences", *(["14"] if short else ["5", "200"]), *rounds],
             guessing_table, "decode-speed",
             "" if arguments.model and arguments.text else "needs MODEL= and TEXT="),
        Step("train", "Whole training", ["train.py", "--peer", peer, *sizes, *rounds],
             train_table, "train-speed"),
        Step("model", "A training step",
             ["model.py", "--peer", peer, *sizes, *rounds, "--overheads"],
             model_table, "model-speed"),
        Step("growth", "Growth", ["growth.py", "--size", "tiny" if short else "small",
             "--runs", "1" if short else "2", "--picture", str(arguments.output / "growth.svg")],
             growth_table, "growth"),
    ]  # fmt: skip
    return [step for step in steps if not arguments.only or step.name in arguments.only]


def run(step: Step, output: Path) -> Results | None:
    """Its results, which are also in a file; None if it failed."""
    file = output / f"{step.name}.json"
    load = os.getloadavg()[0]
    command = [sys.executable, str(HERE / step.command[0]), *step.command[1:]]
    with (output / f"{step.name}.log").open("w", encoding="utf-8") as log:
        done = subprocess.run([*command, "--output", str(file)], stdout=log, stderr=log)
    if done.returncode:
        print(f"{step.name}: failed; see {output / step.name}.log", file=sys.stderr, flush=True)
        return None
    results: Results = json.loads(file.read_text(encoding="utf-8"))
    results |= {"load": load, "command": f"python benchmarks/{shlex.join(step.command)}"}
    write_json(file, results)
    return results


def page(title: str, sections: Sequence[tuple[Step, Results]]) -> str:
    """A file of tables."""
    lines = [
        f"# {title}",
        "",
        f"{name_of_processor()}, {os.cpu_count()} cores; concatmt {__version__}, torch"
        f" {torch.__version__}. Made by `make bench`; rounds in brackets, ratios are medians and"
        " above 1 where ours is faster.",
    ]
    for step, results in sections:
        load = results["load"]
        note = f"Load of the machine at the start: {load:.1f}."
        if load > BUSY:
            note += " Something else ran beside: seconds of the clock are provisional."
        lines += ["", f"## {step.title}", "", f"    {results['command']}", "", note, ""]
        lines += step.table(results)
    return "\n".join([*lines, ""])


def cases(results: Results) -> dict[str, Any]:
    """What was measured for each size or model."""
    return {name: value for name, value in results.items() if isinstance(value, dict)}


def rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(line)} |" for line in lines]


def rounds_of(values: Sequence[float], digits: int = 2) -> str:
    """The median, and every round."""
    middle = sorted(values)[len(values) // 2]
    if len(values) % 2 == 0:
        middle = (middle + sorted(values)[len(values) // 2 - 1]) / 2
    every = ", ".join(f"{value:.{digits}f}" for value in values)
    return f"{middle:.{digits}f} ({every})" if len(values) > 1 else every


def decode_table(results: Results) -> list[str]:
    """Engines, then ratios."""
    lines: list[str] = []
    for name, case in cases(results).items():
        versions = {label.partition(" ")[0]: v for label, v in case["versions"].items()}
        told = ", ".join(f"{label} {version}" for label, version in versions.items())
        body = [
            [
                label,
                str(engine["batch"]),
                rounds_of(engine["tokens_per_second"], 0),
                rounds_of(engine["tokens_per_cpu_second"], 0),
                rounds_of(
                    [
                        clock / cpu
                        for clock, cpu in zip(
                            engine["tokens_per_second"],
                            engine["tokens_per_cpu_second"],
                            strict=True,
                        )
                    ],
                    1,
                ),
                f"{100 * engine['equal_to_ours_float32']:.0f}%",
            ]
            for label, engine in case["engines"].items()
        ]
        lines += [
            f"{name}, {case['windows']} windows, {results['threads']} threads ({told}):",
            "",
            *rows(["engine", "batch", "tokens/s", "per CPU second", "cores in use", "equal"], body),
            "",
            *rows(
                ["ratio", "clock", "CPU seconds"],
                [
                    [
                        pair,
                        rounds_of(case["ratios"][f"{pair}, seconds"]["all"]),
                        rounds_of(case["ratios"][f"{pair}, cpu_seconds"]["all"]),
                    ]
                    for pair in dict.fromkeys(key.rpartition(",")[0] for key in case["ratios"])
                ],
            ),
            "",
        ]
    return lines[:-1]


def score_table(results: Results) -> list[str]:
    """Shared against the other ways."""
    ways = ("plain", "padded", "packed")
    body = [
        [
            size,
            f"{case['windows']:,}",
            *(rounds_of(case[f"ratios_to_{way}_windows"]) for way in ways),
        ]
        for size, case in cases(results).items()
    ]
    return rows(["size", "windows", *(f"to {way}" for way in ways)], body)


def prefix_table(results: Results) -> list[str]:
    """Measured and counted."""
    body = [
        [size, f"{case['ratio_in_reach']:.2f}", rounds_of(case["ratios"])]
        for size, case in cases(results).items()
    ]
    return rows(["size", "counted", "measured, CPU seconds"], body)


def guessing_table(results: Results) -> list[str]:
    """By the length of the document."""
    body = [
        [
            size,
            f"{case['ratio']:.2f}",
            f"{case['searches_a_sentence']:.2f}",
            f"{case['equal']} of {case['lines']}",
            f"{case['first_sentence']:.2f} s",
        ]
        for size, case in cases(results).items()
    ]
    head = ["sentences", "ratio, clock", "searches a sentence", "equal", "first sentence"]
    return rows(head, body)


def train_table(results: Results) -> list[str]:
    """What is measured in every round."""
    sizes = cases(results)
    keys = [key for key in next(iter(sizes.values())) if key != "rounds"]
    body = []
    for key in keys:
        digits = 0 if key == "tokens/s" else 4 if key == "loading" else 2
        cells = [rounds_of([row[key] for row in case["rounds"]], digits) for case in sizes.values()]
        body.append([key, *cells])
    return rows(["", *sizes], body)


def model_table(results: Results) -> list[str]:
    """Speed and memory of ours and the peer."""
    keys = ("tokens_per_second", "peer_tokens_per_second", "ratio_to_peer", "share_of_limit",
            "peak_mb", "peer_peak_mb")  # fmt: skip
    body = []
    for key in keys:
        digits = 2 if key in ("ratio_to_peer", "share_of_limit") else 0
        cells = [
            rounds_of([row[key] for row in case["rounds"]], digits)
            for case in cases(results).values()
        ]
        body.append([key.replace("_", " "), *cells])
    return rows(["", *cases(results)], body)


def growth_table(results: Results) -> list[str]:
    """Seconds and memory by size, with the exponents."""
    body = []
    for axis, case in cases(results).items():
        for mode in ("prefix", "redecode"):
            of_mode = case[mode]
            body.append(
                [
                    axis,
                    mode,
                    ", ".join(f"{size:,}" for size in case["sizes"]),
                    ", ".join(f"{value:.1f}" for value in of_mode["seconds"]),
                    f"{of_mode['seconds_exponent']:.2f}",
                    ", ".join(f"{value:.0f}" for value in of_mode["megabytes"]),
                    f"{of_mode['megabytes_exponent']:.2f}",
                ]
            )
    head = ["what grows", "mode", "sizes", "CPU seconds", "exponent", "MB", "exponent"]
    return ["![time and memory](growth.svg)", "", *rows(head, body)]


TITLES = {
    "decode-speed": "Speed of decoding and scoring",
    "train-speed": "Speed of whole training",
    "model-speed": "Speed and memory of a training step",
    "growth": "Growth of time and memory",
}


def main() -> None:
    """Run everything that can be run; exit 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--opus", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--sets", type=Path, nargs="*", default=[])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of benchmarks")
    arguments = parser.parse_args()
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    steps = steps_of(arguments)
    if not steps:
        raise UserError(f"--only {shlex.join(arguments.only)}: no benchmark has such a name")
    done: dict[str, list[tuple[Step, Results]]] = {}
    failed = False
    for step in steps:
        if step.missing:
            print(f"{step.name}: left out, {step.missing}", file=sys.stderr, flush=True)
            continue
        print(f"{step.name}: {shlex.join(step.command)}", flush=True)
        results = run(step, output)
        failed = failed or results is None
        if results is not None:
            done.setdefault(step.file, []).append((step, results))
            write_text(output / f"{step.file}.md", page(TITLES[step.file], done[step.file]))
    sys.exit(failed)


if __name__ == "__main__":
    main()
