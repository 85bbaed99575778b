"""The peer of benchmarks/model.py: MarianMT of Hugging Face transformers, run in its own venv.

Answers each line on stdin with one training step (forward and backward, with `optimise` in the
specification the update too) on the batch of that number, as a line of JSON. Needs torch, numpy and
transformers; knows nothing of concatmt.
"""

import json
import resource
import sys
import time

import numpy as np
import torch
from transformers import MarianConfig, MarianMTModel


def build(spec: dict[str, int]) -> MarianMTModel:
    """The same sizes, dropout, sharing and attention kernel as ours."""
    stack = {"layers": spec["layers"], "attention_heads": spec["heads"], "ffn_dim": spec["ffn"]}
    config = MarianConfig(
        vocab_size=spec["vocabulary"],
        d_model=spec["dim"],
        **{
            f"{side}_{key}": value
            for side in ("encoder", "decoder")
            for key, value in stack.items()
        },
        dropout=spec["dropout"],
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        max_position_embeddings=1024,
        pad_token_id=0,
        eos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=3,
        use_cache=False,
        attn_implementation="sdpa",
    )
    return MarianMTModel(config).train()


def step(
    model: MarianMTModel, batch: dict[str, torch.Tensor], optimiser: torch.optim.Optimizer | None
) -> float:
    """Forward, label-smoothed loss, backward and, if there is an optimiser, the update."""
    model.zero_grad(set_to_none=True)
    logits = model(
        input_ids=batch["source"],
        attention_mask=(batch["source"] != 0).long(),
        decoder_input_ids=batch["shifted"],
    ).logits
    labels = batch["target"].masked_fill(batch["target"] == 0, -100)
    loss = (
        torch.nn.functional.cross_entropy(
            logits.view(-1, logits.shape[-1]), labels.view(-1), label_smoothing=0.1, reduction="sum"
        )
        / (labels != -100).sum()
    )
    loss.backward()  # type: ignore[no-untyped-call]
    if optimiser is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 25.0)
        optimiser.step()
    return float(loss.detach())


def main() -> None:
    """Serve steps until stdin ends."""
    spec = json.loads(sys.argv[1])
    torch.set_num_threads(spec["threads"])
    torch.manual_seed(0)
    arrays = np.load(spec["batches"])
    batches = [
        {key: torch.from_numpy(arrays[f"{key}{i}"]) for key in ("source", "target", "shifted")}
        for i in range(spec["count"])
    ]
    model = build(spec)
    optimiser = None
    if spec.get("optimise"):
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)
    for number, line in enumerate(sys.stdin):
        batch = batches[int(line) % len(batches)]
        start = time.process_time()
        loss = step(model, batch, optimiser)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            json.dumps({"seconds": seconds, "peak_mb": peak, "loss": loss, "step": number}),
            flush=True,
        )


if __name__ == "__main__":
    main()
