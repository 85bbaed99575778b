"""Imports fairseq checkpoints of `transformer` and `concat_transformer`.

The only place that reads a pickle, with `weights_only=True` and an allow-list. Every tensor of the
checkpoint must be used: one that is left over, missing or of another shape is an error, so a
model that loads computes the same function.
"""

import argparse
import pickle
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from concatmt.conversion.fairseq_dictionary import Dictionary
from concatmt.conversion.fairseq_options import Options
from concatmt.conversion.imported import Imported
from concatmt.conversion.weights import Weights
from concatmt.errors import UserError
from concatmt.files import check_regular
from concatmt.model.card import Origin
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
from concatmt.text.vocabulary import Vocabulary
from concatmt.text.whitespace import WhitespaceCodec, WhitespaceConfig

SCALAR = np.float64(0).__reduce__()[0]  # numpy's own function; its module differs by version
# What checkpoints hold besides tensors and plain containers: the options, and numpy numbers in
# the state of the data iterator and the meters.
ALLOWED: list[Any] = [
    argparse.Namespace,
    np.dtype,
    np.dtypes.Float32DType,
    np.dtypes.Float64DType,
    np.dtypes.Int64DType,
    (SCALAR, "numpy.core.multiarray.scalar"),
    (SCALAR, "numpy._core.multiarray.scalar"),
]
# Buffers without content: the version of the module and a tensor that only knows its device.
EMPTY = re.compile(r"(encoder|decoder)(\..*)?\.(version|_float_tensor)")


def import_fairseq(checkpoint: Path, source_dictionary: Path, target_dictionary: Path) -> Imported:
    """The model with its text: words between spaces, as its dictionaries have them."""
    model, source, target = import_checkpoint(checkpoint, source_dictionary, target_dictionary)
    same = source.symbols == target.symbols
    config = WhitespaceConfig(vocabulary="joint" if same else "separate")
    # A checkpoint need not name its languages, and words between spaces need no rules of any.
    settings = TextSettings(languages=Languages(source="und", target="und"), text=config)
    text = TextPipeline(settings, WhitespaceCodec(source), WhitespaceCodec(target))
    return Imported(model, text, Origin(made_from=f"the fairseq checkpoint {checkpoint.name}"))


def import_checkpoint(
    checkpoint: Path, source_dictionary: Path, target_dictionary: Path
) -> tuple[Transformer, Vocabulary, Vocabulary]:
    """The model in evaluation mode, and the vocabularies of its source and target side."""
    state = _load(checkpoint)
    options = Options(_options(state, checkpoint), str(checkpoint))
    dictionaries = [Dictionary.load(source_dictionary), Dictionary.load(target_dictionary)]
    if options.concatenation:
        markup = bool(options.get("add_doc_markup", False))
        dictionaries = [dictionary.with_window_end(markup) for dictionary in dictionaries]
    source, target = dictionaries
    config = options.model_config(len(source.symbols), len(target.symbols))
    if config.architecture.embeddings == "shared" and source.symbols != target.symbols:
        raise options.refusal(
            f"share_all_embeddings needs one dictionary, but {source_dictionary} and"
            f" {target_dictionary} differ"
        )
    model = Transformer(config)
    _fill(model, Weights(state["model"], str(checkpoint)), source, target)
    return model.eval(), source.vocabulary(), target.vocabulary()


def _load(path: Path) -> dict[str, Any]:
    check_regular(path)
    if zipfile.is_zipfile(path):
        _check_sums(path)
    file = path.open("rb")
    try:
        with file, torch.serialization.safe_globals(ALLOWED):
            state = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        named = re.search(r"GLOBAL (\S+)", str(error))
        what = f"it holds an object of type {named[1]}" if named else "not a PyTorch checkpoint"
        raise UserError(
            f"{path}: {what}; save it again with only its options and weights"
        ) from error
    except (RuntimeError, OSError, EOFError, ValueError, LookupError, AttributeError) as error:
        raise UserError(f"{path}: damaged, or not a PyTorch checkpoint") from error
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict):
        raise UserError(f"{path}: not a fairseq checkpoint: it has no 'model'")
    if not all(isinstance(tensor, Tensor) for tensor in state["model"].values()):
        raise UserError(f"{path}: not a fairseq checkpoint: its 'model' holds more than tensors")
    return state


def _check_sums(path: Path) -> None:
    """Check the checksums of the archive; PyTorch does not."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UserError(f"{path}: damaged, or not a PyTorch checkpoint") from error
    if damaged is not None:
        raise UserError(f"{path}: damaged: the checksum of {damaged!r} does not fit")


def _options(state: dict[str, Any], path: Path) -> dict[str, Any]:
    """The options of older checkpoints are in `args`, those of newer ones in `cfg`."""
    options = state.get("args")
    if options is None and isinstance(state.get("cfg"), dict):
        options = state["cfg"].get("model")
    if isinstance(options, argparse.Namespace):
        options = vars(options)
    if not isinstance(options, dict):
        raise UserError(f"{path}: not a fairseq checkpoint: it has neither 'args' nor 'cfg'")
    return options


def _fill(model: Transformer, weights: Weights, source: Dictionary, target: Dictionary) -> None:
    parameters = {name: parameter.shape for name, parameter in model.named_parameters()}
    tensors = _embeddings(model, weights, source, target)
    for side, layers in (("encoder", len(model.encoder)), ("decoder", len(model.decoder))):
        for layer in range(layers):
            block = _block(weights, f"{side}.layers.{layer}", side == "decoder")
            tensors |= {f"{side}.{layer}.{name}": tensor for name, tensor in block.items()}
        if f"{side}_norm.weight" in parameters:
            for kind in ("weight", "bias"):
                tensors[f"{side}_norm.{kind}"] = weights.take(f"{side}.layer_norm.{kind}")
    if "encoding.weight" in parameters:
        tensors["encoding.weight"] = _segments(model, weights)
    weights.finish(EMPTY)
    for name, shape in parameters.items():
        if tensors[name].shape != shape:
            raise weights.refusal(
                f"what becomes {name!r} has shape {tuple(tensors[name].shape)}, but its options"
                f" and dictionaries ask for {tuple(shape)}"
            )
    model.load_state_dict(tensors, strict=False)


def _embeddings(
    model: Transformer, weights: Weights, source: Dictionary, target: Dictionary
) -> dict[str, Tensor]:
    sharing = model.config.architecture.embeddings
    encoder = weights.take("encoder.embed_tokens.weight")
    if sharing == "shared":
        weights.take_same("decoder.embed_tokens.weight", encoder)
        decoder = encoder
    else:
        decoder = weights.take("decoder.embed_tokens.weight")
    # Older versions call the projection embed_out.
    name = (
        "decoder.embed_out"
        if "decoder.embed_out" in weights
        else "decoder.output_projection.weight"
    )
    output = decoder
    if sharing == "separate":
        output = weights.take(name)
    else:
        weights.take_same(name, decoder)
    rows = {}
    for key, matrix, dictionary in (
        ("source_embedding.weight", encoder, source),
        ("target_embedding.weight", decoder, target),
        ("output.weight", output, target),
    ):
        if len(matrix) != len(dictionary.symbols):
            raise weights.refusal(
                f"has embeddings of {len(matrix)} symbols, but {dictionary.path} makes"
                f" {len(dictionary.symbols)} (special ones included): not its dictionary"
            )
        rows[key] = matrix[dictionary.order()]
    return rows


def _segments(model: Transformer, weights: Weights) -> Tensor:
    """The learned segment vectors (K, d_SE); their first row there is padding."""
    pse = model.config.system.encoding.fusion == "pse"
    name = "embed_pse.se.weight" if pse else "embed_segments.weight"
    table = weights.take(f"encoder.{name}")
    weights.take_same(f"decoder.{name}", table)
    return table[1:]


def _block(weights: Weights, prefix: str, decoder: bool) -> dict[str, Tensor]:
    """The tensors of one block under our names; projections of one input are stacked."""
    tensors = {}
    for kind in ("weight", "bias"):

        def take(*names: str, kind: str = kind) -> Tensor:
            return torch.cat([weights.take(f"{prefix}.{name}.{kind}") for name in names])

        tensors[f"self_attention.qkv.{kind}"] = take(*(f"self_attn.{c}_proj" for c in "qkv"))
        tensors[f"self_attention.output.{kind}"] = take("self_attn.out_proj")
        tensors[f"self_attention_norm.{kind}"] = take("self_attn_layer_norm")
        if decoder:
            tensors[f"cross_attention.q.{kind}"] = take("encoder_attn.q_proj")
            tensors[f"cross_attention.kv.{kind}"] = take(
                "encoder_attn.k_proj", "encoder_attn.v_proj"
            )
            tensors[f"cross_attention.output.{kind}"] = take("encoder_attn.out_proj")
            tensors[f"cross_attention_norm.{kind}"] = take("encoder_attn_layer_norm")
        tensors[f"feed_forward_in.{kind}"] = take("fc1")
        tensors[f"feed_forward_out.{kind}"] = take("fc2")
        tensors[f"feed_forward_norm.{kind}"] = take("final_layer_norm")
    return tensors
