"""Other engines, each in a process of its own that runs benchmarks/decode_peer.py.

They get the weights of our model in their own formats. An engine that is not installed, or that
this processor cannot run, is left out with a message.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import torch
from cases import LENGTH, Case
from marian_npz import MODEL, VOCABULARY, write_marian
from safetensors.torch import save_file
from torch import Tensor

from concatmt.conversion.ctranslate2 import build_spec
from concatmt.conversion.hugging_face import NAMES
from concatmt.model.encodings import sinusoid
from concatmt.model.transformer import Transformer
from concatmt.processor import LIMIT
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

PEERS = (
    "transformers",
    "ctranslate2 float32",
    "ctranslate2 int8",
    "marian float32",
    "marian intgemm8",
    "marian packed8avx512",
)
LONGEST = 512  # positions


class Run(NamedTuple):
    """One translation of all windows."""

    seconds: float
    cpu_seconds: float
    found: list[list[int]]


class Missing(Exception):  # noqa: N818 - nothing is wrong with us
    """An engine that cannot be run here, with the reason."""


class Peer:
    """The process of one engine."""

    def __init__(self, name: str, python: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.told = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        script = str(Path(__file__).with_name("decode_peer.py"))
        # What concatmt may have set to keep torch's oneDNN off missing instructions is not theirs.
        environment = {key: value for key, value in os.environ.items() if key != LIMIT}
        if name.startswith("marian"):
            environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # it has --cpu-threads
        self.process = subprocess.Popen(
            [python, script, json.dumps({**spec, "name": name})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.told,
            text=True,
            env=environment,
        )
        self.version = self._answer()["version"]

    def run(self, batch: int) -> Run:
        """All windows, in batches of so many."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{batch}\n")
        self.process.stdin.flush()
        return Run(**self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = self.process.wait()
        self.told.seek(0)
        told = self.told.read().strip().splitlines()
        raise Missing(f"{self.name}: left out (exit {code}: {told[-1] if told else 'no message'})")

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def start_peers(names: list[str], python: str, spec: dict[str, Any]) -> dict[str, Peer]:
    """Those that can be run."""
    peers = {}
    for name in names:
        try:
            peers[name] = Peer(name, python, spec)
        except Missing as reason:
            print(reason, file=sys.stderr, flush=True)
    return peers


def export(case: Case, folder: Path) -> None:
    """The weights for all peers, and the windows; symbols are the ids as text."""
    model = case.model
    symbols = [*SPECIALS, *(str(i) for i in range(4, model.config.target_vocabulary))]
    symbols[SEPARATOR] = str(SEPARATOR)
    spec = build_spec(model, symbols, symbols)
    spec.validate()
    spec.optimize()
    (folder / "ctranslate2").mkdir()
    spec.save(str(folder / "ctranslate2"))
    save_file(transformers_tensors(model), folder / "transformers.safetensors")
    (folder / "marian").mkdir()
    write_marian(model, folder / "marian", endless=case.exact)
    inputs = [[*[t for s in w.source for t in (*s, SEPARATOR)][:-1], END] for w in case.windows]
    (folder / "windows.json").write_text(json.dumps(inputs))


def transformers_tensors(model: Transformer) -> dict[str, Tensor]:
    """Our parameters under the names of MarianMT, with our ids."""
    architecture = model.config.architecture
    places = torch.arange(LONGEST) + architecture.positions.first
    positions = sinusoid(places, architecture.dim, architecture.positions.frequencies)
    assert model.output.bias is not None
    tensors = {
        "model.shared.weight": model.source_embedding.weight,
        "final_logits_bias": model.output.bias[None],
        "model.encoder.embed_positions.weight": positions,
        "model.decoder.embed_positions.weight": positions,
    }
    for side, blocks in (("encoder", model.encoder), ("decoder", model.decoder)):
        for layer, block in enumerate(blocks):
            for name, parameter in block.named_parameters():
                ours, _, kind = name.rpartition(".")
                parts = parameter.chunk(len(NAMES[ours]))
                for theirs, part in zip(NAMES[ours], parts, strict=True):
                    tensors[f"model.{side}.layers.{layer}.{theirs}.{kind}"] = part
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def peer_spec(case: Case, folder: Path, beam: int, threads: int) -> dict[str, Any]:
    """What the peers are told."""
    config = case.model.config
    architecture = config.architecture
    return {
        "dim": architecture.dim,
        "layers": architecture.encoder.layers,
        "heads": architecture.encoder.heads,
        "ffn": architecture.encoder.feed_forward,
        "activation": architecture.activation,
        "vocabulary": config.target_vocabulary,
        "beam": beam,
        "threads": threads,
        "length": LENGTH - 1 if case.exact else None,
        "windows": str(folder / "windows.json"),
        "ctranslate2": str(folder / "ctranslate2"),
        "transformers": str(folder / "transformers.safetensors"),
        "marian": str(folder / "marian" / MODEL),
        "marian_vocabulary": str(folder / "marian" / VOCABULARY),
    }
