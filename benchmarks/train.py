"""Speed of whole training, loading and optimiser included, beside MarianMT in a plain loop.

    python benchmarks/train.py --peer PEER_PYTHON [--sizes small base] [--threads 1] [--rounds 8]

Windows have 4 sentences of 8.6 +- 4.9 tokens, as in the paper's En-Ru corpus. Both sides see the
same batches, an update each in turn; seconds are CPU time of the process, so that what else the
machine does counts for neither. The limit is what the machine's matrix product would allow.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import VOCABULARY
from model import Worker, flops, gemm_rate, peer_worker, write_batches

from concatmt.corpus.batches import BatchConfig, BatchStream
from concatmt.corpus.prepare import CorpusConfig, prepare
from concatmt.corpus.store import Store
from concatmt.corpus.windows import Windows
from concatmt.files import write_json
from concatmt.model.config import SIZES
from concatmt.model.systems import parse_system
from concatmt.settings import parse_settings
from concatmt.text.pipeline import TextSettings
from concatmt.training.config import OptimiserConfig, TrainingConfig
from concatmt.training.processes import Processes
from concatmt.training.run import Run
from concatmt.training.train import Task, build_model
from concatmt.training.trainer import Trainer

TOKENS = 4096
CONFIG = TrainingConfig(
    tokens_per_update=TOKENS,
    batch=BatchConfig(tokens=TOKENS),
    validate_every=1 << 30,
    optimiser=OptimiserConfig(learning_rate=1e-4),
)
VARIANTS = {
    "s4to4": ("s4to4", "exact"),
    "s4to4+cd": ("s4to4+cd", "exact"),
    "s4to4+cd, stochastic": ("s4to4+cd", "stochastic"),
}


def write_data(folder: Path, vocabulary: int, documents: int = 1500) -> Path:
    """A store of random words; a document has ten sentences."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(vocabulary - 4)])

    def sentence(length: int) -> str:
        return " ".join(rng.choice(words, size=length))

    lines: list[list[str]] = [[], []]
    for number in range(10 * documents):
        length = int(np.clip(rng.gamma(3.08, 2.79), 1, 60))
        other = int(np.clip(round(length * rng.normal(1, 0.15)), 1, 60))
        lines[0].append(sentence(length))
        lines[1].append(sentence(other))
        if number % 10 == 9:
            lines[0].append("")
            lines[1].append("")
    # Every word once, so that the vocabulary has the size that is asked for.
    for text in lines:
        text.extend(" ".join(part) for part in np.array_split(words, len(words) // 8))
        text.append("")
    for name, text in zip(("en", "de"), lines, strict=True):
        (folder / name).write_text("\n".join(text))
    reader = {"format": "text", "source": "en", "target": "de"}
    tree = {"root": folder, "splits": {"train": [reader], "valid": [reader]}}
    text_tree = {
        "languages": {"target": "de"},
        "text": {"kind": "whitespace", "vocabulary": "joint"},
    }
    settings = parse_settings(TextSettings, text_tree, "-")
    prepare(parse_settings(CorpusConfig, tree, "-"), settings, folder / "store", workers=1)
    return folder / "store"


def make_trainer(data: Path, folder: Path, size: str, variant: str) -> Trainer:
    """A trainer that validates never."""
    system, discounting = VARIANTS[variant]
    config = CONFIG.model_copy(update={"discounting": discounting})
    store = Store.open(data)
    task = Task(data, parse_system(system), SIZES[size], config, 1)
    torch.manual_seed(1)
    windows = Windows.of(store.split("train"), 4)
    run = Run(folder / variant)
    run.folder.mkdir(parents=True)
    alone = Processes(0, 1, torch.device("cpu"))
    return Trainer(run, build_model(store, task), config, windows, windows, 1, alone)


def serve(spec: dict[str, Any]) -> None:
    """Answer `gemm`, or the name of a variant with the cost of its next update."""
    torch.set_num_threads(spec["threads"])
    with tempfile.TemporaryDirectory() as folder:
        trainers = {
            name: make_trainer(Path(spec["data"]), Path(folder), spec["size"], name)
            for name in VARIANTS
        }
        streams = {name: trainer.updates() for name, trainer in trainers.items()}
        for line in sys.stdin:
            if line.strip() == "gemm":
                print(json.dumps({"rate": gemm_rate()}), flush=True)
                continue
            name = line.strip()
            start = time.process_time()
            batches = next(streams[name])
            loaded = time.process_time()
            trainers[name].update(batches)
            end = time.process_time()
            target = batches[0].target
            answer = {
                "seconds": end - start,
                "loading": (loaded - start) / (end - start),
                "tokens": target.token_count,
                "padding": 1 - target.token_count / target.tokens.numel(),
                "flops": flops(batches[0], spec["size"]),
            }
            print(json.dumps(answer), flush=True)


def compare(peer: str, size: str, threads: int, rounds: int) -> dict[str, Any]:
    """Medians over rounds of one update each."""
    with tempfile.TemporaryDirectory() as folder:
        data = write_data(Path(folder), VOCABULARY[size])
        batches = Path(folder) / "batches.npz"
        stream = BatchStream(Windows.of(Store.open(data).split("train"), 4), CONFIG.batch, 1)
        write_batches(batches, islice(stream.epoch_batches(), rounds + 1))
        spec = {"threads": threads, "data": str(data), "size": size}
        ours = Worker([sys.executable, __file__, "--worker", json.dumps(spec)])
        theirs = peer_worker(peer, size, threads, batches, rounds + 1, optimise=True)
        rows: list[dict[str, float]] = []
        for i in range(rounds + 1):
            rate = ours.ask("gemm")["rate"]
            answers = {name: ours.ask(name) for name in VARIANTS}
            plain, other = answers["s4to4"], theirs.ask(str(i))
            row = {
                "tokens/s": plain["tokens"] / plain["seconds"],
                "times the peer": other["seconds"] / plain["seconds"],
                "share of the limit": plain["flops"] / plain["seconds"] / rate,
                "loading": plain["loading"],
                "padding": plain["padding"],
            }
            for name in list(VARIANTS)[1:]:
                row[f"{name}, times s4to4"] = plain["seconds"] / answers[name]["seconds"]
            rows.append(row)
        ours.close()
        theirs.close()
    medians = {key: statistics.median(row[key] for row in rows[1:]) for key in rows[0]}
    return {**medians, "rounds": rows[1:]}


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="interpreter of a venv with torch and transformers")
    parser.add_argument("--sizes", nargs="*", default=["small", "base"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        serve(json.loads(arguments.worker))
        return
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/train.py", *sys.argv[1:]]),
        "torch": torch.__version__,
    }
    for size in arguments.sizes:
        results[size] = compare(arguments.peer, size, arguments.threads, arguments.rounds)
        print(size, json.dumps(results[size], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
