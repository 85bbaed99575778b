"""Exports models without segment encodings to CTranslate2, by CTranslate2's own classes.

CTranslate2 has token positions only, added to the input only: base and
sKtoK systems can be exported, with or without context discount, the others cannot. Needs the
package `ctranslate2`.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from concatmt.errors import UserError
from concatmt.files import atomic_folder
from concatmt.model.encodings import sinusoid
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import TextPipeline
from concatmt.text.vocabulary import END, SPECIALS, UNK

MARKER = "model.bin"
LONGEST = 4096  # positions of the exported model


def export_ctranslate2(
    model: Transformer, text: TextPipeline, folder: Path, quantization: str | None = None
) -> None:
    """Write `folder` as a CTranslate2 model directory, or refuse with the reason.

    Windows go in as symbols, `a </s> b <end>`, and come out likewise without `<end>`.
    """
    spec = build_spec(model, text.source.vocabulary.symbols, text.target.vocabulary.symbols)
    spec.validate()
    spec.optimize(quantization=quantization)
    with atomic_folder(folder, MARKER) as temporary:
        spec.save(str(temporary))


def build_spec(model: Transformer, source: list[str], target: list[str]) -> Any:
    """CTranslate2's description of the model, with the symbols of both sides."""
    encoding = model.config.system.encoding
    if encoding.kind != "none" or encoding.persistent:
        raise UserError(
            f"{system_name(model.config.system)}: CTranslate2 has no place for sentence positions"
            " or for positions in every block; only base and sKtoK systems can be exported"
        )
    architecture = model.config.architecture
    encoder, decoder = architecture.encoder, architecture.decoder
    if encoder.heads != decoder.heads:
        raise UserError("CTranslate2 needs as many heads in the encoder as in the decoder")
    try:
        from ctranslate2.specs import common_spec, transformer_spec
    except ImportError as error:
        raise UserError("the package 'ctranslate2' is missing: pip install ctranslate2") from error
    spec = transformer_spec.TransformerSpec.from_config(
        (encoder.layers, decoder.layers),
        encoder.heads,
        pre_norm=architecture.norm == "pre",
        activation=common_spec.Activation[architecture.activation.upper()],
    )
    _fill(spec, model)
    # The specification below announces a start with a zero vector; its symbol is not used.
    spec.config.decoder_start_token = SPECIALS[END]
    spec.config.bos_token = SPECIALS[END]
    spec.config.eos_token = SPECIALS[END]
    spec.config.unk_token = SPECIALS[UNK]
    spec.config.add_source_bos = False
    spec.config.add_source_eos = False
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    return spec


def _fill(spec: Any, model: Transformer) -> None:
    architecture = model.config.architecture
    # CTranslate2 counts positions from 0.
    places = torch.arange(LONGEST) + architecture.positions.first
    positions = sinusoid(places, architecture.dim, architecture.positions.frequencies).numpy()
    spec.decoder.start_from_zero_embedding = architecture.start == "zero"
    for side, embedding, blocks in (
        (spec.encoder, model.source_embedding, model.encoder),
        (spec.decoder, model.target_embedding, model.decoder),
    ):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = _array(embedding.weight)
        side.scale_embeddings = True
        side.position_encodings.encodings = positions
        for layer, block in zip(side.layer, blocks, strict=True):
            _block(layer, block)
    if architecture.norm == "pre":
        _norm(spec.encoder.layer_norm, model.encoder_norm)
        _norm(spec.decoder.layer_norm, model.decoder_norm)
    spec.decoder.projection.weight = _array(model.output.weight)
    if architecture.output_bias:
        spec.decoder.projection.bias = _array(model.output.bias)


def _block(layer: Any, block: Any) -> None:
    attention = block.self_attention
    _linear(layer.self_attention.linear[0], attention.qkv)
    _linear(layer.self_attention.linear[1], attention.output)
    _norm(layer.self_attention.layer_norm, block.self_attention_norm)
    if hasattr(block, "cross_attention"):
        cross = block.cross_attention
        for spec, linear in zip(
            layer.attention.linear, (cross.q, cross.kv, cross.output), strict=True
        ):
            _linear(spec, linear)
        _norm(layer.attention.layer_norm, block.cross_attention_norm)
    _linear(layer.ffn.linear_0, block.feed_forward_in)
    _linear(layer.ffn.linear_1, block.feed_forward_out)
    _norm(layer.ffn.layer_norm, block.feed_forward_norm)


def _linear(spec: Any, linear: nn.Linear) -> None:
    spec.weight = _array(linear.weight)
    spec.bias = _array(linear.bias)


def _norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _array(norm.weight)
    spec.beta = _array(norm.bias)


def _array(tensor: Any) -> Any:
    assert isinstance(tensor, Tensor)
    return tensor.detach().float().numpy()
