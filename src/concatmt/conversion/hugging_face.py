"""Imports MarianMT directories of Hugging Face's transformers.

Reads safetensors, or else pytorch_model.bin without running its pickled code.
A tensor, or an option that changes the function, without a counterpart is refused by name.
"""

import pickle
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from concatmt.conversion.imported import PAPERS, Imported, licence_of, marian_pipeline
from concatmt.conversion.weights import NEVER, Rows, Weights, build, stack_blocks
from concatmt.errors import UserError
from concatmt.files import check_regular, read_json
from concatmt.model.card import CARRIED, Origin
from concatmt.model.config import Architecture, ModelConfig, StackConfig, SystemConfig
from concatmt.model.encodings import PositionConfig, sinusoid
from concatmt.model.systems import parse_system
from concatmt.settings import parse_settings
from concatmt.text.marian import MarianConfig
from concatmt.text.vocabulary import PAD

CONFIG, TOKENIZER = "config.json", "tokenizer_config.json"
GENERATION = "generation_config.json"
SAFE, PICKLED = "model.safetensors", "pytorch_model.bin"
ACTIVATIONS: dict[str, Literal["relu", "swish"]] = {
    "swish": "swish",
    "silu": "swish",
    "relu": "relu",
}
Frequencies = Literal["half", "half-1"]
FREQUENCIES: dict[str, Frequencies] = {"port": "half", "marian": "half-1"}
DEFAULT_POSITIONS = "port"
# In config.json of directories exported by us.
SYSTEM, SENTENCE_LENGTH = "concatmt_system", "concatmt_sentence_length"
ORIGIN = "concatmt_origin"
# Options of which only one value fits our Transformer; absent means that value.
ONLY = {
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
}


def is_marian_directory(path: Path) -> bool:
    """Whether a path looks like one: a folder with a config.json of Hugging Face's kind."""
    if not (path / CONFIG).is_file():
        return False
    config = read_json(path / CONFIG, "model directory")
    return isinstance(config, dict) and "model_type" in config


def import_hugging_face(
    folder: Path, positions: str | None = None, text: MarianConfig | None = None
) -> Imported:
    """The model and its text.

    `positions`: `port` for the frequencies of transformers, `marian` for Marian's own; None: those
    of the file's tables if it has any, else `DEFAULT_POSITIONS`.
    """
    config = read_json(folder / CONFIG, "Hugging Face directory")
    _check(config, folder)
    tokenizer = _tokenizer(folder)
    weights = Weights(_tensors(folder), str(folder))
    table = _position_table(weights, config)
    if positions is not None or table is None:
        # Our exports without a table have the port's.
        default = "port" if SYSTEM in config else DEFAULT_POSITIONS
        table = PositionConfig(first=0, frequencies=FREQUENCIES[positions or default])
    source, target = _vocabularies(folder, config, tokenizer)
    shared = bool(config.get("share_encoder_decoder_embeddings", True))
    start = config.get("decoder_start_token_id", config["pad_token_id"])
    architecture = Architecture(
        dim=config["d_model"],
        encoder=_stack(config, "encoder"),
        decoder=_stack(config, "decoder"),
        embeddings="shared" if shared else "decoder-tied",
        dropout=config.get("dropout", 0.1),
        attention_dropout=config.get("attention_dropout", 0.0),
        activation_dropout=config.get("activation_dropout", 0.0),
        activation=ACTIVATIONS[config["activation_function"]],
        positions=table,
        output_bias=True,
        start="end" if start == target.end else "zero",
    )
    system = parse_system(config[SYSTEM]) if SYSTEM in config else SystemConfig()
    model_config = ModelConfig(
        architecture=architecture,
        system=system,
        source_vocabulary=len(source.vocabulary()),
        target_vocabulary=len(target.vocabulary()),
        sentence_length=config.get(SENTENCE_LENGTH),
    )
    tensors = _embeddings(weights, source, target, shared, system.sentences > 1)
    if _renormalises(folder):
        tensors["output.bias"][PAD] = NEVER
    layers = {"encoder": architecture.encoder.layers, "decoder": architecture.decoder.layers}
    tensors |= stack_blocks(layers, lambda side, layer: _block(weights, side, layer))
    model = build(model_config, tensors, weights)
    pipeline = marian_pipeline(
        text or MarianConfig(),
        (tokenizer.get("source_lang") or "und", tokenizer.get("target_lang") or "und"),
        (source.vocabulary(), target.vocabulary()),
        (_bytes(folder / "source.spm"), _bytes(folder / "target.spm")),
        str(folder),
    )
    papers = _papers(folder, CARRIED if SYSTEM in config else "")
    origin = Origin(
        made_from=f"the Hugging Face directory {folder.resolve().name}", licence=licence_of(papers)
    )
    if ORIGIN in config:
        origin = parse_settings(Origin, config[ORIGIN], str(folder / CONFIG))
    return Imported(model, pipeline, origin, papers)


def _renormalises(folder: Path) -> bool:
    """Whether generate() bars padding and also removes it from the softmax."""
    if not (folder / GENERATION).is_file():
        return False
    config = read_json(folder / GENERATION, "Hugging Face directory")
    return isinstance(config, dict) and config.get("renormalize_logits") is True


def _papers(folder: Path, prefix: str) -> dict[str, bytes]:
    paths = {name: folder / f"{prefix}{name}" for name in PAPERS}
    return {name: _bytes(path) for name, path in paths.items() if path.is_file()}


def _tokenizer(folder: Path) -> dict[str, Any]:
    """The settings of the tokenizer that are used here, if there are any, each of its type."""
    path = folder / TOKENIZER
    if not path.is_file():
        return {}
    settings = read_json(path, "Hugging Face directory")
    if not isinstance(settings, dict):
        raise UserError(f"{path}: not the settings of a tokenizer: expected a JSON object")
    separator = settings.get("sep_token")
    if isinstance(separator, dict):  # a token may be written with its properties
        settings["sep_token"] = separator.get("content")
    for name in ("source_lang", "target_lang", "sep_token"):
        if not isinstance(settings.get(name), str | None):
            raise UserError(f"{path}: {name}: expected text, got {settings[name]!r}")
    return settings


def _check(config: dict[str, Any], folder: Path) -> None:
    kind = config.get("model_type")
    if kind != "marian":
        raise UserError(f"{folder}: a model of type {kind!r}; only 'marian' can be imported")
    needed = ("d_model", "activation_function", "vocab_size", "pad_token_id", "eos_token_id")
    if missing := [key for key in needed if key not in config]:
        raise UserError(f"{folder / CONFIG}: has no {missing[0]!r}")
    if config["activation_function"] not in ACTIVATIONS:
        raise UserError(
            f"{folder / CONFIG}: activation_function {config['activation_function']!r} is not one"
            f" of {', '.join(ACTIVATIONS)}"
        )
    for key, value in ONLY.items():
        if config.get(key, value) != value:
            raise UserError(f"{folder / CONFIG}: {key} {config[key]!r} has no counterpart here")
    start = config.get("decoder_start_token_id", config["pad_token_id"])
    pads = (config["pad_token_id"], config.get("decoder_vocab_size", 0) - 1)
    if start not in (*pads, config["eos_token_id"]):
        raise UserError(
            f"{folder / CONFIG}: decoder_start_token_id {start} is neither padding nor the end"
        )


def _stack(config: dict[str, Any], side: str) -> StackConfig:
    return StackConfig(
        layers=config[f"{side}_layers"],
        heads=config[f"{side}_attention_heads"],
        feed_forward=config[f"{side}_ffn_dim"],
    )


def _tensors(folder: Path) -> dict[str, Tensor]:
    if (folder / SAFE).is_file():
        try:
            return load_file(folder / SAFE)
        except SafetensorError as error:
            raise UserError(f"{folder / SAFE}: damaged: {error}") from error
    if not (folder / PICKLED).is_file():
        raise UserError(f"{folder}: has neither {SAFE} nor {PICKLED}")
    try:
        state = torch.load(folder / PICKLED, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise UserError(
            f"{folder / PICKLED}: damaged, or it holds more than tensors; save it as safetensors"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(t, Tensor) for t in state.values()):
        raise UserError(f"{folder / PICKLED}: not a dictionary of tensors")
    return state


def _position_table(weights: Weights, config: dict[str, Any]) -> PositionConfig | None:
    """Which sinusoid the position tables hold, if the file has them."""
    known = [
        PositionConfig(first=first, frequencies=frequencies)
        for first in (0, PositionConfig().first)
        for frequencies in FREQUENCIES.values()
    ]
    tables = [f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")]
    found: PositionConfig | None = None
    for name in tables:
        if name not in weights:
            continue
        table = weights.take(name)
        for positions in known:
            places = torch.arange(len(table)) + positions.first
            rows = sinusoid(places, config["d_model"], positions.frequencies)
            if rows.shape == table.shape and torch.allclose(table, rows, atol=1e-3):
                found = positions
                break
        else:
            raise weights.refusal(f"{name!r} is no table of sinusoids: trained positions")
    return found


def _vocabularies(
    folder: Path, config: dict[str, Any], tokenizer: dict[str, Any]
) -> tuple[Rows, Rows]:
    separator = tokenizer.get("sep_token")
    source = _rows(folder / "vocab.json", config["vocab_size"], config, separator)
    if not tokenizer.get("separate_vocabs"):
        return source, source
    size = config.get("decoder_vocab_size") or config["vocab_size"]
    return source, _rows(folder / "target_vocab.json", size, config, separator)


def _rows(path: Path, size: int, config: dict[str, Any], separator: str | None) -> Rows:
    ids = read_json(path, "Hugging Face directory")
    if not isinstance(ids, dict) or not all(isinstance(i, int) for i in ids.values()):
        raise UserError(f"{path}: not a vocabulary: expected symbols with their ids")
    if sorted(ids.values()) != list(range(size)):
        raise UserError(
            f"{path}: {len(ids)} symbols whose ids are not 0 to {size - 1}, each once, as"
            f" {CONFIG} says"
        )
    symbols = sorted(ids, key=ids.__getitem__)
    for needed in ("</s>", "<unk>", "<pad>"):
        if needed not in ids:
            raise UserError(f"{path}: has no {needed}")
    return Rows(
        symbols,
        end=ids["</s>"],
        unk=ids["<unk>"],
        pad=ids["<pad>"],
        separator=ids.get(separator) if separator else None,
    )


def _embeddings(
    weights: Weights, source: Rows, target: Rows, shared: bool, windows: bool
) -> dict[str, Tensor]:
    """If shared, `model.shared.weight` counts; other copies in the file are known to be wrong."""
    names = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    if shared:
        table = weights.take("model.shared.weight")
        for name in (*names, "lm_head.weight"):
            if name in weights and not torch.equal(weights.take(name), table):
                raise weights.refusal(
                    f"{name!r} differs from 'model.shared.weight', with which it should be tied;"
                    " remove the wrong one from the file (Helsinki's own repair keeps"
                    " 'model.shared.weight')"
                )
        encoder = decoder = output = table
    else:
        encoder, decoder = weights.take(names[0]), weights.take(names[1])
        output = weights.take("lm_head.weight") if "lm_head.weight" in weights else decoder
        if not torch.equal(output, decoder):
            raise weights.refusal("'lm_head.weight' differs from the decoder's embeddings")
    bias = torch.zeros(len(output))
    if "final_logits_bias" in weights:
        bias = weights.take("final_logits_bias").flatten()
    for what, rows, table in (("source", source, encoder), ("target", target, decoder)):
        if len(table) != len(rows.symbols):
            raise weights.refusal(
                f"embeddings of {len(table)} {what} symbols, but the vocabulary has"
                f" {len(rows.symbols)}"
            )
        assert rows.pad is not None
        if bool(table[rows.pad].any()):
            raise weights.refusal(f"the {what} row of <pad> is not zero")
    return {
        "source_embedding.weight": source.matrix(encoder),
        "target_embedding.weight": target.matrix(decoder),
        "output.weight": target.matrix(output),
        "output.bias": target.bias(bias, windows),
    }


def _block(weights: Weights, side: str, layer: int) -> dict[str, Tensor]:
    """The tensors of one block under our names; projections of one input are stacked."""
    tensors = {}
    for kind in ("weight", "bias"):

        def take(*names: str, kind: str = kind) -> Tensor:
            prefix = f"model.{side}.layers.{layer}"
            return torch.cat([weights.take(f"{prefix}.{name}.{kind}") for name in names])

        for ours, theirs in NAMES.items():
            if side == "decoder" or not ours.startswith("cross"):
                tensors[f"{ours}.{kind}"] = take(*theirs)
    return tensors


NAMES = {
    "self_attention.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention.output": ("self_attn.out_proj",),
    "self_attention_norm": ("self_attn_layer_norm",),
    "cross_attention.q": ("encoder_attn.q_proj",),
    "cross_attention.kv": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "cross_attention.output": ("encoder_attn.out_proj",),
    "cross_attention_norm": ("encoder_attn_layer_norm",),
    "feed_forward_in": ("fc1",),
    "feed_forward_out": ("fc2",),
    "feed_forward_norm": ("final_layer_norm",),
}


def _bytes(path: Path) -> bytes:
    check_regular(path)
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path.parent}: has no {path.name}, which its text needs") from error
