"""A peer of benchmarks/decode.py, run in a venv of its own: CTranslate2, transformers or Marian.

Says its version, then answers each line on stdin (the size of batches) by translating all windows
once, with a line of JSON: seconds of the clock and of this process' CPU time, and the translations.
Knows nothing of concatmt.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAD, UNK, SEPARATOR, END = range(4)
Tokens = list[list[int]]
Spec = dict[str, Any]
Peer = Callable[[Tokens, int], Tokens]  # windows and batch size
LONGEST = 256  # tokens of a translation that nothing ends


def ctranslate2_peer(spec: Spec, quantization: str) -> Peer:
    """CTranslate2 with the exported weights, one batch on each thread."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(spec["ctranslate2"]),
        compute_type=quantization,
        inter_threads=int(spec["threads"]),
        intra_threads=1,
    )
    length = spec["length"]
    lengths = {"min_decoding_length": length, "max_decoding_length": length} if length else {}

    def run(windows: Tokens, batch: int) -> Tokens:
        found = translator.translate_batch(
            [[*map(str, window[:-1]), "<end>"] for window in windows],
            beam_size=int(spec["beam"]),
            length_penalty=0.6,
            max_batch_size=batch,
            **lengths,
        )
        return [[int(token) for token in one.hypotheses[0] if token.isdigit()] for one in found]

    return run


def transformers_peer(spec: Spec, _: str) -> Peer:
    """MarianMT with the same weights."""
    import torch
    from safetensors.torch import load_file
    from transformers import MarianConfig, MarianMTModel

    torch.set_num_threads(int(spec["threads"]))
    stack = {
        f"{side}_{key}": spec[name]
        for side in ("encoder", "decoder")
        for key, name in (("layers", "layers"), ("attention_heads", "heads"), ("ffn_dim", "ffn"))
    }
    config = MarianConfig(
        vocab_size=spec["vocabulary"],
        d_model=spec["dim"],
        **stack,
        activation_function=spec["activation"],
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
        attn_implementation="sdpa",
    )
    model = MarianMTModel(config).eval()
    tensors = load_file(spec["transformers"])
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    assert not unexpected, unexpected
    assert all("embed_tokens" in name or "lm_head" in name for name in missing), missing
    model.tie_weights()
    length = spec["length"]
    lengths = {"max_new_tokens": length or LONGEST}
    if length:
        lengths["min_new_tokens"] = length

    def run(windows: Tokens, batch: int) -> Tokens:
        order = sorted(range(len(windows)), key=lambda i: -len(windows[i]))
        found: Tokens = [[] for _ in windows]
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            widest = len(windows[some[0]])
            rows = torch.tensor([windows[i] + [PAD] * (widest - len(windows[i])) for i in some])
            ids = model.generate(
                rows,
                attention_mask=(rows != PAD).long(),
                num_beams=int(spec["beam"]),
                length_penalty=0.6,
                **lengths,
                suppress_tokens=[PAD, UNK],
                do_sample=False,
            )
            for i, row in zip(some, ids[:, 1:].tolist(), strict=True):
                found[i] = row[: row.index(END)] if END in row else row
        return found

    return run


def marian_peer(spec: Spec, kind: str) -> Peer:
    """Marian: `kind` is float32, or what its converter makes of the matrices."""
    import pymarian

    model = spec["marian"]
    if kind != "float32":
        model = f"{spec['marian']}.{kind}.bin"
        command = [sys.executable, "-m", "pymarian", "convert", "-f", spec["marian"], "-t", model]
        subprocess.run([*command, "-g", kind], check=True, capture_output=True)
    vocabulary = spec["marian_vocabulary"]
    # There is no least length. A model that must not end does so at the limit.
    factor = "1" if spec["length"] else "3"

    @cache
    def translator(batch: int) -> Any:
        return pymarian.Translator(
            f"-m {model} -v {vocabulary} {vocabulary} -b {spec['beam']} -n 0.6"
            f" --max-length-factor {factor} --cpu-threads {spec['threads']} --mini-batch {batch}"
            " --maxi-batch 100 --maxi-batch-sort src --quiet --quiet-translation"
        )

    def run(windows: Tokens, batch: int) -> Tokens:
        lines = [" ".join(map(str, window[:-1])) for window in windows]
        found = translator(batch).translate(lines)
        return [[int(symbol) for symbol in line.split()] for line in found]

    return run


MAKERS = {"ctranslate2": ctranslate2_peer, "transformers": transformers_peer, "marian": marian_peer}
PACKAGES = {"marian": "pymarian"}


def main() -> None:
    """Serve until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints is no answer
    spec = json.loads(sys.argv[1])
    library, _, kind = spec["name"].partition(" ")
    peer = MAKERS[library](spec, kind)
    windows = json.loads(Path(spec["windows"]).read_text())
    print(
        json.dumps({"version": version(PACKAGES.get(library, library))}), file=answers, flush=True
    )
    warm: set[int] = set()
    for line in sys.stdin:
        batch = int(line)
        if batch not in warm:
            warm.add(batch)
            peer(windows[:2], batch)
        start, cpu_start = time.perf_counter(), time.process_time()
        found = peer(windows, batch)
        answer = {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": time.process_time() - cpu_start,
            "found": found,
        }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
