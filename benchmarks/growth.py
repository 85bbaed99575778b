"""How time and memory grow with documents, their length, K, beam and vocabulary.

    python benchmarks/growth.py [--size small] [--runs 2] [--picture growth.svg] [--output JSON]

One thing grows at a time, in three steps; the others stay as in `Point`. Random weights, sentences
of nine words that become nine words. Every measurement is a process of its own with one thread: CPU
seconds of translating alone, the fastest of the runs, and the memory that the process had at its
peak above what it had before (as Linux counts it). An exponent of 1 is linear growth: it is fitted
to the logarithms of all three sizes.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.files import write_json
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.processor import name_of_processor
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS, Vocabulary
from concatmt.text.whitespace import WhitespaceCodec, WhitespaceConfig

SENTENCE = 9  # words
Mode = Literal["prefix", "redecode"]
MODES: tuple[Mode, ...] = ("prefix", "redecode")


class Point(NamedTuple):
    """What is translated, and by what."""

    documents: int = 16
    sentences: int = 10  # of each document
    k: int = 4
    beam: int = 4
    vocabulary: int = 8000


AXES: dict[str, tuple[str, list[Point]]] = {
    "sentences of one document": (
        "sentences",
        [Point(documents=1, sentences=count) for count in (80, 320, 1280)],
    ),
    "documents of ten sentences": ("documents", [Point(documents=n) for n in (16, 64, 256)]),
    "K": ("k", [Point(k=k) for k in (2, 4, 8)]),
    "beam": ("beam", [Point(beam=beam) for beam in (2, 4, 8)]),
    "vocabulary": ("vocabulary", [Point(vocabulary=size) for size in (8000, 16_000, 32_000)]),
}


def translator(point: Point, size: str, mode: Mode) -> Translator:
    """A model with random weights that ends no sentence by itself."""
    torch.manual_seed(1)
    config = ModelConfig(
        architecture=SIZES[size].model_copy(update={"output_bias": True}),
        system=parse_system(f"s{point.k}to{point.k}"),
        source_vocabulary=point.vocabulary,
        target_vocabulary=point.vocabulary,
    )
    model = Transformer(config).eval()
    with torch.no_grad():
        assert model.output.bias is not None
        model.output.bias[[SEPARATOR, END]] = -50
    words = [f"w{i}" for i in range(len(SPECIALS), point.vocabulary)]
    codec = WhitespaceCodec(Vocabulary([*SPECIALS, *words]))
    settings = TextSettings(
        languages=Languages(source="en", target="fr"), text=WhitespaceConfig(vocabulary="joint")
    )
    search = SearchConfig(beam=point.beam, length_factor=0, length_constant=SENTENCE)
    options = TranslateConfig(mode=mode, search=search, pool=PoolConfig(threads=1))
    return Translator(Engine(model), TextPipeline(settings, codec, codec), options)


def documents_of(point: Point) -> Iterator[list[str]]:
    """Random words."""
    draw = np.random.default_rng(1)
    for _ in range(point.documents):
        words = draw.integers(len(SPECIALS), point.vocabulary, (point.sentences, SENTENCE))
        yield [" ".join(f"w{i}" for i in sentence) for sentence in words.tolist()]


def measure(point: Point, size: str, mode: Mode) -> dict[str, float]:
    """In this process."""
    torch.set_num_threads(1)
    model = translator(point, size, mode)
    for _ in model.translate_documents([["w4 w5"]]):
        pass
    # Making the model took more memory for a moment: Linux forgets that peak when it is told to.
    Path("/proc/self/clear_refs").write_text("5")
    before, start = megabytes("VmRSS"), time.process_time()
    words = sum(
        len(sentence.tokens)
        for document in model.translate_documents(documents_of(point))
        for sentence in document
    )
    seconds = time.process_time() - start
    expected = point.documents * point.sentences * SENTENCE
    if words != expected:
        raise SystemExit(f"{words} words came out, not {expected}")
    return {"seconds": seconds, "megabytes": megabytes("VmHWM") - before, "before": before}


def megabytes(name: str) -> float:
    """Memory of this process: at present (VmRSS), or at its peak (VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return (
        int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) / 1024
    )


def exponent(sizes: list[int], values: list[float]) -> float:
    """Of the power that fits best."""
    logs = [math.log(max(value, 1e-9)) for value in values]
    return float(np.polyfit(np.log(sizes), logs, 1)[0])


def run_all(size: str, runs: int) -> dict[str, Any]:
    """All points, run by run."""
    points = [(point, mode) for _, points in AXES.values() for point in points for mode in MODES]
    found: dict[tuple[Point, str], list[dict[str, float]]] = {}
    for number in range(runs):
        for point, mode in dict.fromkeys(points):
            spec = json.dumps({"point": point, "size": size, "mode": mode})
            command = [sys.executable, __file__, "--worker", spec]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.setdefault((point, mode), []).append(json.loads(done.stdout))
            print(number, mode, point, done.stdout.strip(), file=sys.stderr, flush=True)
    results: dict[str, Any] = {}
    for axis, (field, points_of_axis) in AXES.items():
        results[axis] = {"sizes": [getattr(point, field) for point in points_of_axis]}
        for mode in MODES:
            of_points = [found[point, mode] for point in points_of_axis]
            results[axis][mode] = summary(results[axis]["sizes"], of_points)
    return results


def summary(sizes: list[int], runs: list[list[dict[str, float]]]) -> dict[str, Any]:
    """The best of each point's runs, all seconds, and exponents."""
    seconds = [min(run["seconds"] for run in of_point) for of_point in runs]
    megabytes = [min(run["megabytes"] for run in of_point) for of_point in runs]
    return {
        "seconds": seconds,
        "all_seconds": [[run["seconds"] for run in of_point] for of_point in runs],
        "seconds_exponent": exponent(sizes, seconds),
        "megabytes": megabytes,
        "megabytes_before": [min(run["before"] for run in of_point) for of_point in runs],
        "megabytes_exponent": exponent(sizes, megabytes),
    }


def draw(results: dict[str, Any], path: Path) -> None:
    """Time above, memory below, one column for each thing that grows."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError("pictures need matplotlib: pip install 'concatmt[plots]'") from error
    matplotlib.rcParams["svg.hashsalt"] = "concatmt"  # the same picture is the same file
    figure = Figure(figsize=(14, 5.6), layout="constrained", dpi=90)
    grid = figure.subplots(2, len(AXES))
    rows = (("seconds", "CPU seconds"), ("megabytes", "MB at the peak"))
    for column, axis in enumerate(AXES):
        sizes = results[axis]["sizes"]
        for row, (key, label) in enumerate(rows):
            axes = grid[row][column]
            for mode, colour in zip(MODES, ("C0", "C1"), strict=True):
                of_mode = results[axis][mode]
                power = f"{mode}: {of_mode[f'{key}_exponent']:.2f}"
                axes.plot(sizes, of_mode[key], "o-", color=colour, label=power)
                first = of_mode[key][0]
                linear = [first * size / sizes[0] for size in sizes]
                axes.plot(sizes, linear, ":", color=colour, linewidth=0.8)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.yaxis.set_major_formatter("{x:g}")
            axes.legend(fontsize=8, title="exponent", title_fontsize=8)
            if row:
                axes.set_xlabel(axis)
            if not column:
                axes.set_ylabel(label)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Run and print; write JSON and the picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="small")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        spec = json.loads(arguments.worker)
        print(json.dumps(measure(Point(*spec["point"]), spec["size"], spec["mode"])))
        return
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/growth.py", *sys.argv[1:]]),
        "torch": torch.__version__,
        "processor": name_of_processor(),
        **run_all(arguments.size, arguments.runs),
    }
    print(json.dumps(results, indent=1))
    if arguments.output:
        write_json(arguments.output, results)
    if arguments.picture:
        draw(results, arguments.picture)


if __name__ == "__main__":
    main()
