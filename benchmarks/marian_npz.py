"""A model of ours as Marian reads it: an npz with its options, and a vocabulary of numbers.

The inverse of `concatmt.conversion.marian`, of which it uses the names. Symbols are ids as text;
the end and `<unk>` come first, as Marian has them. Only models with Marian's positions, start and
output bias can be written.
"""

import json
from pathlib import Path

import numpy as np
import yaml
from torch import Tensor

from concatmt.conversion.marian import NAMES, NORMS, OPTIONS
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import END, PAD, SEPARATOR, UNK

MODEL, VOCABULARY = "model.npz", "vocabulary.yml"


def write_marian(model: Transformer, folder: Path, endless: bool) -> None:
    """Both files. `endless`: the end is never chosen, but where Marian cuts a translation off."""
    architecture = model.config.architecture
    positions = architecture.positions
    if (positions.first, positions.frequencies) != (0, "half-1") or architecture.start != "zero":
        raise ValueError("Marian counts positions from 0 and starts with a zero vector")
    order = [END, UNK, PAD, SEPARATOR, *range(4, model.config.target_vocabulary)]
    assert model.output.bias is not None
    bias = model.output.bias.detach().clone()
    if endless:
        bias[END] = -1e4
    tensors = {
        "Wemb": model.source_embedding.weight[order],
        "decoder_ff_logit_out_b": bias[order][None],
    }
    for side, blocks in (("encoder", model.encoder), ("decoder", model.decoder)):
        for layer, block in enumerate(blocks):
            tensors |= _block(dict(block.named_parameters()), f"{side}_l{layer + 1}_")
    arrays = {name: tensor.detach().float().numpy() for name, tensor in tensors.items()}
    options = np.frombuffer(yaml.safe_dump(_options(model)).encode() + b"\0", np.int8)
    np.savez(folder / MODEL, **arrays, **{OPTIONS: options})  # type: ignore[arg-type]
    names = {END: "</s>", UNK: "<unk>"}
    symbols = {names.get(i, str(i)): place for place, i in enumerate(order)}
    (folder / VOCABULARY).write_text(
        "".join(f"{json.dumps(name)}: {place}\n" for name, place in symbols.items())
    )


def _block(parameters: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Matrices are (in, out) there, vectors (1, n); stacked projections are apart."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in parameters.items():
        ours, _, kind = name.rpartition(".")
        if ours in NORMS:
            theirs = "scale" if kind == "weight" else "bias"
            tensors[f"{prefix}{NORMS[ours]}_ln_{theirs}"] = parameter[None]
            continue
        parts = parameter.chunk(len(NAMES[ours]))
        for pattern, part in zip(NAMES[ours], parts, strict=True):
            if kind == "weight":
                tensors[prefix + pattern.format("W")] = part.T.contiguous()
            else:
                tensors[prefix + pattern.format("b")] = part[None]
    return tensors


def _options(model: Transformer) -> dict[str, object]:
    architecture = model.config.architecture
    return {
        "type": "transformer",
        "dim-emb": architecture.dim,
        "dim-vocabs": [model.config.source_vocabulary, model.config.target_vocabulary],
        "enc-depth": architecture.encoder.layers,
        "dec-depth": architecture.decoder.layers,
        "transformer-heads": architecture.encoder.heads,
        "transformer-dim-ffn": architecture.encoder.feed_forward,
        "transformer-ffn-activation": architecture.activation,
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "tied-embeddings-all": True,
        "version": "v1.12.42",
    }
