"""The peers of benchmarks/decode.py, run in a venv of their own: CTranslate2 and MarianMT.

Answers each line on stdin (`{"name", "batch"}`) by translating all windows once, with a line of
JSON: seconds of the clock and of this process' CPU time, and the translations. Knows nothing of
concatmt.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ctranslate2
import torch
from safetensors.torch import load_file
from transformers import MarianConfig, MarianMTModel

PAD, END = 0, 3
Tokens = list[list[int]]


Peer = Callable[[Tokens, int], Tokens]  # windows and batch size


def ctranslate2_peer(spec: dict[str, str | int], quantization: str) -> Peer:
    """CTranslate2 with the exported weights, one batch on each thread."""
    translator = ctranslate2.Translator(
        str(spec["ctranslate2"]),
        compute_type=quantization,
        inter_threads=int(spec["threads"]),
        intra_threads=1,
    )
    length = int(spec["length"])

    def run(windows: Tokens, batch: int) -> Tokens:
        found = translator.translate_batch(
            [[*map(str, window[:-1]), "<end>"] for window in windows],
            beam_size=int(spec["beam"]),
            length_penalty=0.6,
            max_batch_size=batch,
            min_decoding_length=length,
            max_decoding_length=length,
        )
        return [[int(token) for token in one.hypotheses[0]] for one in found]

    return run


def marian_peer(spec: dict[str, str | int]) -> Peer:
    """MarianMT with the same weights (post-norm, shared embeddings, positions from 2)."""
    stack = {
        f"{side}_{key}": spec[name]
        for side in ("encoder", "decoder")
        for key, name in (("layers", "layers"), ("attention_heads", "heads"), ("ffn_dim", "ffn"))
    }
    config = MarianConfig(
        vocab_size=spec["vocabulary"],
        d_model=spec["dim"],
        **stack,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=END,
        forced_eos_token_id=None,
        attn_implementation="sdpa",
    )
    model = MarianMTModel(config).eval()
    missing, unexpected = model.load_state_dict(load_file(str(spec["marian"])), strict=False)
    assert not unexpected, unexpected
    assert all("embed_tokens" in name or "lm_head" in name for name in missing), missing
    model.tie_weights()
    length, beam = int(spec["length"]), int(spec["beam"])

    def run(windows: Tokens, batch: int) -> Tokens:
        found = []
        for start in range(0, len(windows), batch):
            rows = torch.tensor(windows[start : start + batch])
            ids = model.generate(
                rows,
                attention_mask=torch.ones_like(rows),
                num_beams=beam,
                length_penalty=0.6,
                min_new_tokens=length,
                max_new_tokens=length,
                suppress_tokens=[PAD],
                do_sample=False,
            )
            found += ids[:, 1:].tolist()
        return found

    return run


def main() -> None:
    """Serve until stdin ends."""
    spec = json.loads(sys.argv[1])
    torch.set_num_threads(int(spec["threads"]))
    windows = json.loads(Path(spec["windows"]).read_text())
    peers = {
        "ctranslate2 float32": lambda: ctranslate2_peer(spec, "float32"),
        "ctranslate2 int8": lambda: ctranslate2_peer(spec, "int8"),
        "transformers": lambda: marian_peer(spec),
    }
    built: dict[str, Peer] = {}
    for line in sys.stdin:
        question = json.loads(line)
        name = question["name"]
        if name not in built:
            built[name] = peers[name]()
            built[name](windows[:2], 2)
        start, cpu_start = time.perf_counter(), time.process_time()
        found = built[name](windows, question["batch"])
        answer = {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": time.process_time() - cpu_start,
            "found": found,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
