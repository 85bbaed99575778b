"""Beam search beside CTranslate2 and MarianMT: the same weights, windows and translations.

    python benchmarks/decode.py --peer .bench-venv/bin/python [--sizes small base] [--rounds 3]

Random weights end no sentence, so every translation has exactly as many tokens as its source: no
engine gains by stopping early. Each engine has `--threads` threads: ours and CTranslate2's
(`inter_threads`) work on different batches, MarianMT's on one. Every engine first runs twice with
each of the `--batches`, and then, in turn with the others, with the one that was best for it.
Seconds are those of the clock and of the CPU; on a machine that does other things too, only the
latter mean something. Prints tokens/s, ratios and how many translations are equal. The peer's venv
needs torch, transformers, ctranslate2 and safetensors.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from concatmt.decoding.batches import plan
from concatmt.decoding.boundaries import Allowed, Free
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.search import Search
from concatmt.decoding.threads import in_threads
from concatmt.files import write_json
from concatmt.model.config import SIZES, ModelConfig
from concatmt.model.encodings import FIRST_POSITION, sinusoid
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.processor import LIMIT
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

VOCABULARY = {"small": 8000, "base": 32000, "tiny": 8000}
SENTENCE = 9  # tokens of each of the four sentences, without its boundary
LENGTH = 4 * (SENTENCE + 1)  # tokens of a translation, the last of them <end>
PEERS = ("transformers", "ctranslate2 float32", "ctranslate2 int8")
PAIRS = (
    ("ours float32", "ctranslate2 float32"),
    ("ours float32", "transformers"),
    ("ours int8", "ctranslate2 int8"),
    ("ours int8", "ours float32"),
)


def build(size: str) -> Transformer:
    """A model with sharp random distributions."""
    torch.manual_seed(1)
    count = VOCABULARY[size]
    config = ModelConfig(
        architecture=SIZES[size],
        system=parse_system("s4to4"),
        source_vocabulary=count,
        target_vocabulary=count,
    )
    return Transformer(config).eval()


def make_windows(count: int, vocabulary: int) -> list[Window]:
    """Windows of four sentences."""
    random = np.random.default_rng(1)
    drawn = random.integers(4, vocabulary, (count, 4, SENTENCE)).tolist()
    return [Window(window) for window in drawn]


class Exactly(Free):
    """Translations of exactly `limits` tokens: <end> comes then, and not before."""

    def allowed(self) -> Allowed:
        full = self.words + self.separators >= self.limits
        return Allowed(~full, ~full, full)


class Run(NamedTuple):
    """One translation of all windows."""

    seconds: float
    cpu_seconds: float
    found: list[list[int]]


def ours(engine: Engine, windows: list[Window], beam: int, threads: int, batch: int) -> Run:
    """By concatmt."""
    config = SearchConfig(beam=beam, constrained=False, length_factor=0, length_constant=LENGTH - 1)
    start, cpu_start = time.perf_counter(), time.process_time()
    found: list[list[int]] = [[] for _ in windows]
    batches = plan([window.cost for window in windows], PoolConfig(windows=batch, tokens=1 << 20))

    def search(rows: list[int]) -> list[list[Hypothesis]]:
        return Search(engine, config, Exactly).run([windows[i] for i in rows])

    for rows, hypotheses in zip(batches, in_threads(search, batches, threads), strict=True):
        for row, beams in zip(rows, hypotheses, strict=True):
            found[row] = beams[0].tokens
    return Run(time.perf_counter() - start, time.process_time() - cpu_start, found)


def export(model: Transformer, folder: Path) -> None:
    """The weights for both peers; symbols are the ids as text."""
    from concatmt.conversion.ctranslate2 import build_spec

    symbols = [*SPECIALS, *(str(i) for i in range(4, model.config.target_vocabulary))]
    symbols[SEPARATOR] = str(SEPARATOR)
    spec = build_spec(model, symbols, symbols)
    spec.validate()
    spec.optimize()
    (folder / "ct2").mkdir()
    spec.save(str(folder / "ct2"))
    save_file(marian_tensors(model), folder / "marian.safetensors")


def marian_tensors(model: Transformer) -> dict[str, Tensor]:
    """Our parameters under the names of MarianMT."""
    positions = sinusoid(torch.arange(512) + FIRST_POSITION, model.config.architecture.dim)
    shared = model.source_embedding.weight.detach()
    tensors = {
        "model.shared.weight": shared,
        "final_logits_bias": torch.zeros(1, len(shared)),
        "model.encoder.embed_positions.weight": positions,
        "model.decoder.embed_positions.weight": positions,
    }
    state = {name: tensor.detach() for name, tensor in model.named_parameters()}
    plain = {
        "self_attention.output": "self_attn.out_proj",
        "self_attention_norm": "self_attn_layer_norm",
        "cross_attention.q": "encoder_attn.q_proj",
        "cross_attention.output": "encoder_attn.out_proj",
        "cross_attention_norm": "encoder_attn_layer_norm",
        "feed_forward_in": "fc1",
        "feed_forward_out": "fc2",
        "feed_forward_norm": "final_layer_norm",
    }
    stacked = {
        "self_attention.qkv": ("self_attn", "qkv"),
        "cross_attention.kv": ("encoder_attn", "kv"),
    }
    for name, tensor in state.items():
        side, _, rest = name.partition(".")
        if side not in ("encoder", "decoder"):
            continue
        layer, _, rest = rest.partition(".")
        part, _, kind = rest.rpartition(".")
        prefix = f"model.{side}.layers.{layer}"
        if part in plain:
            tensors[f"{prefix}.{plain[part]}.{kind}"] = tensor
        else:
            module, letters = stacked[part]
            for letter, piece in zip(letters, tensor.chunk(len(letters)), strict=True):
                tensors[f"{prefix}.{module}.{letter}_proj.{kind}"] = piece
    return {name: tensor.clone().contiguous() for name, tensor in tensors.items()}


class Peers:
    """The process of decode_peer.py."""

    def __init__(self, python: str, spec: dict[str, Any]) -> None:
        script = str(Path(__file__).with_name("decode_peer.py"))
        # What concatmt may have set to keep torch's oneDNN off missing instructions is not theirs.
        environment = {name: value for name, value in os.environ.items() if name != LIMIT}
        self.process = subprocess.Popen(
            [python, script, json.dumps(spec)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, name: str, batch: int) -> Run:
        """All windows by one of the peers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"name": name, "batch": batch}) + "\n")
        self.process.stdin.flush()
        return Run(**json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(peer: str, size: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """All engines in turn."""
    model = build(size)
    windows = make_windows(arguments.windows, VOCABULARY[size])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export(model, folder)
        peers = Peers(peer, peer_spec(size, windows, folder, arguments))
        engines = our_engines(model, windows, arguments)
        for label in PEERS:
            engines[label] = partial(peers.ask, label)
        best = {
            label: min(arguments.batches, key=lambda batch: fastest(run, batch))
            for label, run in engines.items()
        }
        runs: dict[str, list[Run]] = {label: [] for label in engines}
        for _ in range(arguments.rounds):
            for label, run in engines.items():
                runs[label].append(run(best[label]))
        peers.close()
    return {**speeds(runs, best), **ratios(runs)}


def fastest(run: Callable[[int], Run], batch: int) -> float:
    """CPU seconds of the better of two runs: the first one of a process may be slow."""
    return min(run(batch).cpu_seconds for _ in range(2))


def our_engines(
    model: Transformer, windows: list[Window], arguments: argparse.Namespace
) -> dict[str, Callable[[int], Run]]:
    """Functions of the batch size."""
    return {
        f"ours {precision}": partial(
            ours, Engine(model, precision == "int8"), windows, arguments.beam, arguments.threads
        )
        for precision in ("float32", "int8")
    }


def peer_spec(
    size: str, windows: list[Window], folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """What the peers are told; the windows go by file."""
    inputs = [[*[t for s in w.source for t in (*s, SEPARATOR)][:-1], END] for w in windows]
    (folder / "windows.json").write_text(json.dumps(inputs))
    shape = SIZES[size]
    return {
        "dim": shape.dim,
        "layers": shape.encoder.layers,
        "heads": shape.encoder.heads,
        "ffn": shape.encoder.feed_forward,
        "vocabulary": VOCABULARY[size],
        "beam": arguments.beam,
        "threads": arguments.threads,
        "length": LENGTH - 1,
        "windows": str(folder / "windows.json"),
        "ctranslate2": str(folder / "ct2"),
        "marian": str(folder / "marian.safetensors"),
    }


def speeds(runs: dict[str, list[Run]], best: dict[str, int]) -> dict[str, Any]:
    """Of each engine: its best batch, tokens a second, and the share of equal translations."""
    wanted = runs["ours float32"][-1].found
    tokens = len(wanted) * LENGTH
    return {
        label: {
            "batch": best[label],
            "tokens_per_second": [tokens / run.seconds for run in of_label],
            "tokens_per_cpu_second": [tokens / run.cpu_seconds for run in of_label],
            "equal_to_ours_float32": statistics.mean(
                a == b[: len(a)] for a, b in zip(wanted, of_label[-1].found, strict=True)
            ),
        }
        for label, of_label in runs.items()
    }


def ratios(runs: dict[str, list[Run]]) -> dict[str, Any]:
    """Of speeds, round by round, and their medians."""
    found = {}
    for a, b in PAIRS:
        for clock in ("seconds", "cpu_seconds"):
            pairs = zip(runs[a], runs[b], strict=True)
            values = [getattr(y, clock) / getattr(x, clock) for x, y in pairs]
            found[f"{a} / {b}, {clock}"] = {"median": statistics.median(values), "all": values}
    return found


def main() -> None:
    """Run and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--sizes", nargs="+", default=["small", "base"])
    parser.add_argument("--windows", type=int, default=128)
    parser.add_argument("--batches", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    results: dict[str, Any] = {
        "command": " ".join(["python", "benchmarks/decode.py", *sys.argv[1:]]),
        "torch": torch.__version__,
    }
    for size in arguments.sizes:
        results[size] = compare(arguments.peer, size, arguments)
        print(size, json.dumps(results[size], indent=1), flush=True)
    if arguments.output:
        write_json(arguments.output, results)


if __name__ == "__main__":
    main()
