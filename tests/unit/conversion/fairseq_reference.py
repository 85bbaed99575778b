"""A plain second implementation of what a fairseq checkpoint computes, and random checkpoints.

Written from the description of the authors' code (docs/encodings.md), one window at a time, without
batches, fusion or caches, on fairseq's own names and ids, in double precision. It shares no code
with the package.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

DEFAULTS: dict[str, Any] = {
    "arch": "concat_transformer", "num_sent": 3, "dropout": 0.0,
    "encoder_embed_dim": 12, "decoder_embed_dim": 12,
    "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_embed_dim": 20, "decoder_ffn_embed_dim": 20,
}  # fmt: skip
WORDS = 9
Tokens = tuple[list[int], list[int]]  # fairseq's ids, and the segment of each


def write_checkpoint(folder: Path, extra: int = 1, **changes: Any) -> dict[str, Any]:
    """A random checkpoint with dictionaries of w0 .. w8; `extra` symbols follow them.

    Returns what was written.
    """
    options = argparse.Namespace(**{**DEFAULTS, **changes})
    state = {"args": options, "model": random_tensors(options, 4 + WORDS + extra)}
    torch.save(state, folder / "checkpoint.pt")
    for side in ("src", "tgt"):
        lines = "".join(f"w{i} {100 - i}\n" for i in range(WORDS))
        (folder / f"dict.{side}.txt").write_text(lines)
    return state


def random_tensors(options: argparse.Namespace, symbols: int) -> dict[str, Tensor]:
    """Tensors under fairseq's names."""
    generator = torch.Generator().manual_seed(0)
    dim = options.encoder_embed_dim
    tensors: dict[str, Tensor] = {}

    def add(name: str, *shape: int) -> None:
        tensors[name] = torch.randn(*shape, generator=generator) * 0.4

    def linear(name: str, outputs: int, inputs: int) -> None:
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)

    for side in ("encoder", "decoder"):
        add(f"{side}.embed_tokens.weight", symbols, dim)
        tensors[f"{side}.version"] = torch.tensor([3.0])
        tensors[f"{side}.embed_positions._float_tensor"] = torch.zeros(1)
        for layer in range(getattr(options, f"{side}_layers")):
            prefix = f"{side}.layers.{layer}"
            for attention in ("self_attn", *(["encoder_attn"] if side == "decoder" else [])):
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    linear(f"{prefix}.{attention}.{part}", dim, dim)
                layer_norm(tensors, f"{prefix}.{attention}_layer_norm", dim, generator)
            inner = getattr(options, f"{side}_ffn_embed_dim")
            linear(f"{prefix}.fc1", inner, dim)
            linear(f"{prefix}.fc2", dim, inner)
            layer_norm(tensors, f"{prefix}.final_layer_norm", dim, generator)
        if getattr(options, f"{side}_normalize_before", False):
            layer_norm(tensors, f"{side}.layer_norm", dim, generator)
    add("decoder.output_projection.weight", symbols, dim)
    if getattr(options, "share_all_embeddings", False):
        tensors["decoder.embed_tokens.weight"] = tensors["encoder.embed_tokens.weight"]
    if getattr(options, "share_decoder_input_output_embed", False):
        tensors["decoder.output_projection.weight"] = tensors["decoder.embed_tokens.weight"]
    if getattr(options, "lrn_segment_emb", False):
        width = getattr(options, "pse_segment_dim", 0)
        name = "embed_pse.se.weight" if width else "embed_segments.weight"
        add(f"encoder.{name}", options.num_sent + 1, width or dim)
        tensors[f"decoder.{name}"] = tensors[f"encoder.{name}"]
    return tensors


def layer_norm(tensors: dict[str, Tensor], name: str, dim: int, generator: torch.Generator) -> None:
    """A layer norm with weights around one."""
    tensors[f"{name}.weight"] = 1 + 0.3 * torch.randn(dim, generator=generator)
    tensors[f"{name}.bias"] = 0.3 * torch.randn(dim, generator=generator)


def sinusoid(position: int, dim: int) -> Tensor:
    half = dim // 2
    rates = [10000 ** (-i / (half - 1)) for i in range(half)]
    values = [math.sin(position * r) for r in rates] + [math.cos(position * r) for r in rates]
    return torch.tensor(values + [0.0] * (dim % 2), dtype=torch.float64)


class Reference:
    """The function of a checkpoint."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.options = vars(state["args"])
        self.tensors = {name: tensor.double() for name, tensor in state["model"].items()}
        self.dim = self.options["encoder_embed_dim"]

    def __call__(self, source: Tokens, target: Tokens, n: int) -> Tensor:
        """(T, V) log-probs; `target` is the decoder's input."""
        hidden = self.stack("decoder", target, n, self.stack("encoder", source, n, None))
        return (hidden @ self.tensors["decoder.output_projection.weight"].t()).log_softmax(-1)

    def option(self, name: str) -> Any:
        return self.options.get(name, False)

    def vectors(self, t: int, k: int, n: int) -> tuple[Tensor, Tensor]:
        """What is added at the input, and what before every later block."""
        width = self.option("pse_segment_dim") or self.dim
        segment = torch.zeros(width, dtype=torch.float64)
        if self.option("use_segment_emb"):
            if self.option("lrn_segment_emb"):
                name = "embed_pse.se" if self.option("pse_segment_dim") else "embed_segments"
                segment = self.tensors[f"encoder.{name}.weight"][k]
            elif self.option("onehot_segment_emb"):
                segment[k - 1] = 1
            else:
                segment = sinusoid(k, width)
        zero = torch.zeros(self.dim, dtype=torch.float64)
        if self.option("pse_segment_dim"):
            pse = torch.cat([sinusoid(t, self.dim - width), segment])
            return pse, pse if self.option("persistent_pse") else zero
        if self.option("segment_shifted_positions") and t > 2:
            t += (n - k) * self.option("position_shift")
        position = sinusoid(t, self.dim)
        again = position if self.option("persistent_positions") else zero
        return position + segment, again + segment * bool(self.option("persistent_segment_emb"))

    def stack(self, side: str, window: Tokens, n: int, memory: Tensor | None) -> Tensor:
        tokens, ks = window
        pairs = [self.vectors(i + 2, k, n) for i, k in enumerate(ks)]
        x = math.sqrt(self.dim) * self.tensors[f"{side}.embed_tokens.weight"][tokens]
        x = x + torch.stack([first for first, _ in pairs])
        again = torch.stack([later for _, later in pairs])
        for layer in range(self.options[f"{side}_layers"]):
            x = self.block(side, f"{side}.layers.{layer}", x + again if layer else x, memory)
        return self.norm(f"{side}.layer_norm", x) if self.option(f"{side}_normalize_before") else x

    def block(self, side: str, prefix: str, x: Tensor, memory: Tensor | None) -> Tensor:
        def look_within(y: Tensor) -> Tensor:
            return self.attention(side, f"{prefix}.self_attn", y, y, memory is not None)

        def look_at_source(y: Tensor) -> Tensor:
            assert memory is not None
            return self.attention(side, f"{prefix}.encoder_attn", y, memory, False)

        def feed_forward(y: Tensor) -> Tensor:
            return self.linear(f"{prefix}.fc2", self.linear(f"{prefix}.fc1", y).relu())

        x = self.residual(side, f"{prefix}.self_attn_layer_norm", x, look_within)
        if memory is not None:
            x = self.residual(side, f"{prefix}.encoder_attn_layer_norm", x, look_at_source)
        return self.residual(side, f"{prefix}.final_layer_norm", x, feed_forward)

    def residual(self, side: str, norm: str, x: Tensor, f: Any) -> Tensor:
        if self.option(f"{side}_normalize_before"):
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.tensors[f"{name}.weight"].t() + self.tensors[f"{name}.bias"]

    def norm(self, name: str, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return scaled * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def attention(self, side: str, name: str, x: Tensor, memory: Tensor, causal: bool) -> Tensor:
        heads = self.options[f"{side}_attention_heads"]
        q, k, v = (
            self.linear(f"{name}.{part}_proj", y).view(len(y), heads, -1)
            for part, y in (("q", x), ("k", memory), ("v", memory))
        )
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(self.dim // heads)
        if causal:
            scores = scores.masked_fill(torch.ones(len(x), len(x)).triu(1).bool(), -math.inf)
        mixed = torch.einsum("hij,jhd->ihd", scores.softmax(-1), v)
        return self.linear(f"{name}.out_proj", mixed.reshape(len(x), -1))
