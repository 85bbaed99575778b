"""Exports models without sentence positions to MarianMT directories of Hugging Face's transformers.

There a model has token positions, post-norm blocks and SentencePiece text; systems with sentence
positions, and other kinds of text, have no place and are refused by name. Ids are those of the
original for models that came from there.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from concatmt import __version__
from concatmt.conversion.hugging_face import (
    CONFIG,
    GENERATION,
    NAMES,
    ORIGIN,
    SAFE,
    SENTENCE_LENGTH,
    SYSTEM,
    TOKENIZER,
)
from concatmt.conversion.weights import NEVER
from concatmt.errors import UserError
from concatmt.files import atomic_folder, read_json, write_json, write_text
from concatmt.model.card import CARRIED, Origin, carry_papers
from concatmt.model.directory import save_tensors
from concatmt.model.encodings import sinusoid
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.text.codec import Codec
from concatmt.text.marian import MarianCodec, MarianConfig
from concatmt.text.pipeline import TextPipeline
from concatmt.text.sentence_piece import SentencePieceCodec
from concatmt.text.vocabulary import END, PAD, SEPARATOR, SPECIALS, UNK

LONGEST = 1024  # tokens of a window
SIDES = ("source", "target")


class Symbols:
    """One of our vocabularies in the order of transformers' ids."""

    def __init__(self, symbols: list[str], windows: bool, specials_first: bool) -> None:
        """Without `windows` the separator is left out.

        The end and `<unk>` are 0 and 1, as in OPUS-MT; padding comes last, and after it the
        separator. With `specials_first` both come before the words.
        """
        words = list(range(len(SPECIALS), len(symbols)))
        last = [PAD, SEPARATOR] if windows else [PAD]
        self.order = [END, UNK, *last, *words] if specials_first else [END, UNK, *words, *last]
        separator = next(
            name for name in ("<sep>", *(f"<sep{i}>" for i in range(9))) if name not in symbols
        )
        self.names = {END: "</s>", UNK: "<unk>", PAD: "<pad>", SEPARATOR: separator}
        self.ids = {self.names.get(i, symbols[i]): place for place, i in enumerate(self.order)}

    def id_of(self, special: int) -> int:
        """Transformers' id of one of our specials."""
        return self.ids[self.names[special]]


def export_hugging_face(
    model: Transformer,
    text: TextPipeline,
    output: Path,
    origin: Origin | None = None,
    papers: Path | None = None,
) -> None:
    """Write `output` as a MarianMT directory, or refuse with the reason.

    papers: a model directory whose ORIGINAL files are carried along.
    """
    _check(model, text)
    _check_output(output)
    windows = model.config.system.sentences > 1
    sides = [
        Symbols(codec.vocabulary.symbols, windows, specials_first=windows and not text.joint)
        for codec in (text.source, text.target)
    ]
    source, target = sides
    origin = origin or Origin(made_from=f"a training with concatmt {__version__}")
    with atomic_folder(output, GENERATION) as folder:
        save_tensors(folder / SAFE, _tensors(model, source, target), {"format": "pt"})
        write_json(folder / CONFIG, _config(model, source, target, origin))
        generation = _generation(model, source, target)
        if _never_pads(model):
            generation["renormalize_logits"] = True
        write_json(folder / GENERATION, generation)
        write_json(folder / TOKENIZER, _tokenizer(text, source, windows))
        write_json(folder / "vocab.json", source.ids)
        if not text.joint:
            write_json(folder / "target_vocab.json", target.ids)
        for side, codec in zip(SIDES, (text.source, text.target), strict=True):
            (folder / f"{side}.spm").write_bytes(_spm(codec))
        write_text(folder / "README.md", _readme(model, text, target, origin))
        if papers is not None:
            carry_papers(papers, folder)


def _check(model: Transformer, text: TextPipeline) -> None:
    system, architecture = model.config.system, model.config.architecture
    name = system_name(system)
    if system.encoding.kind != "none" or system.encoding.persistent:
        raise UserError(
            f"{name}: MarianMT has no place for sentence positions or for positions in every"
            " block; only base and sKtoK systems can be exported"
        )
    if architecture.norm != "post":
        raise UserError(f"{name}: norm pre: MarianMT only has norms after a sublayer")
    if architecture.embeddings == "separate":
        raise UserError(
            f"{name}: embeddings separate: MarianMT ties the output to the decoder's embeddings"
        )
    if architecture.embeddings == "decoder-tied" and text.joint:
        raise UserError(
            f"{name}: embeddings decoder-tied with one vocabulary: MarianMT shares both tables then"
        )
    for codec in (text.source, text.target):
        if not isinstance(codec, MarianCodec | SentencePieceCodec):
            raise UserError(
                f"text of kind {text.settings.text.kind}: MarianMT reads SentencePiece models only"
            )
        if isinstance(codec, SentencePieceCodec) and codec.lowercase:
            raise UserError("text.lowercase: MarianMT's tokenizer does not lowercase")


def _check_output(output: Path) -> None:
    """Only replace a folder that was exported by concatmt."""
    if (output / CONFIG).is_file():
        config = read_json(output / CONFIG, "output folder")
        if not isinstance(config, dict) or SYSTEM not in config:
            raise UserError(f"{output}: exists and holds another model; choose another output")


def _spm(codec: Codec) -> bytes:
    assert isinstance(codec, MarianCodec | SentencePieceCodec)
    return codec.model


def _never_pads(model: Transformer) -> bool:
    """Whether the bias keeps padding, whose row is zero, out of every softmax."""
    bias, row = model.output.bias, model.output.weight.detach()[PAD]
    return bias is not None and bias[PAD].item() == NEVER and not bool(row.any())


def _tensors(model: Transformer, source: Symbols, target: Symbols) -> dict[str, Tensor]:
    architecture = model.config.architecture
    tensors: dict[str, Tensor] = {}
    if architecture.embeddings == "shared":
        tensors["model.shared.weight"] = model.source_embedding.weight[source.order]
    else:
        tensors["model.encoder.embed_tokens.weight"] = model.source_embedding.weight[source.order]
        tensors["model.decoder.embed_tokens.weight"] = model.target_embedding.weight[target.order]
    bias = torch.zeros(model.config.target_vocabulary)
    if model.output.bias is not None:
        bias = model.output.bias.detach().clone()
    if _never_pads(model):
        bias[PAD] = 0  # generate() removes it from the softmax instead, as with OPUS-MT's models
    tensors["final_logits_bias"] = bias[target.order][None]
    for side, blocks in (("encoder", model.encoder), ("decoder", model.decoder)):
        for layer, block in enumerate(blocks):
            for name, parameter in block.named_parameters():
                ours, _, kind = name.rpartition(".")
                parts = parameter.chunk(len(NAMES[ours]))
                for theirs, part in zip(NAMES[ours], parts, strict=True):
                    tensors[f"model.{side}.layers.{layer}.{theirs}.{kind}"] = part
    positions = architecture.positions
    if (positions.first, positions.frequencies) != (0, "half"):
        # transformers computes others, so the table goes into the file.
        places = torch.arange(LONGEST) + positions.first
        table = sinusoid(places, architecture.dim, positions.frequencies)
        for side in ("encoder", "decoder"):
            tensors[f"model.{side}.embed_positions.weight"] = table.clone()
    return {name: tensor.detach().float().contiguous() for name, tensor in tensors.items()}


def _config(model: Transformer, source: Symbols, target: Symbols, origin: Origin) -> dict[str, Any]:
    architecture = model.config.architecture
    stacks = {
        key: value
        for side, stack in (("encoder", architecture.encoder), ("decoder", architecture.decoder))
        for key, value in {
            f"{side}_layers": stack.layers,
            f"{side}_attention_heads": stack.heads,
            f"{side}_ffn_dim": stack.feed_forward,
        }.items()
    }
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "d_model": architecture.dim,
        **stacks,
        "num_hidden_layers": architecture.encoder.layers,
        "activation_function": architecture.activation,
        "dropout": architecture.dropout,
        "attention_dropout": architecture.attention_dropout,
        "activation_dropout": architecture.activation_dropout,
        "scale_embedding": True,
        "max_position_embeddings": LONGEST,
        "share_encoder_decoder_embeddings": architecture.embeddings == "shared",
        "vocab_size": len(source.order),
        "decoder_vocab_size": len(target.order),
        "pad_token_id": source.id_of(PAD),
        "eos_token_id": target.id_of(END),
        "decoder_start_token_id": _start(model, target),
        "forced_eos_token_id": target.id_of(END),
        "torch_dtype": "float32",
        SYSTEM: system_name(model.config.system),
        SENTENCE_LENGTH: model.config.sentence_length,
        ORIGIN: origin.model_dump(mode="json"),
    }


def _start(model: Transformer, target: Symbols) -> int:
    """The decoder's first input."""
    return target.id_of(PAD if model.config.architecture.start == "zero" else END)


def _generation(model: Transformer, source: Symbols, target: Symbols) -> dict[str, Any]:
    """Like our search: beam 4, scores divided by lengths, and no `<unk>`."""
    return {
        "num_beams": 4,
        "length_penalty": 1.0,
        "max_length": LONGEST // 2,
        "bad_words_ids": [[target.id_of(PAD)], [target.id_of(UNK)]],
        "pad_token_id": source.id_of(PAD),
        "eos_token_id": target.id_of(END),
        "forced_eos_token_id": target.id_of(END),
        "decoder_start_token_id": _start(model, target),
    }


def _tokenizer(text: TextPipeline, source: Symbols, windows: bool) -> dict[str, Any]:
    languages = text.settings.languages
    tokenizer = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": languages.source,
        "target_lang": languages.target,
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "model_max_length": LONGEST // 2,
        "separate_vocabs": not text.joint,
    }
    return {**tokenizer, "sep_token": source.names[SEPARATOR]} if windows else tokenizer


def _readme(model: Transformer, text: TextPipeline, target: Symbols, origin: Origin) -> str:
    config, languages = model.config, text.settings.languages
    size, separator = config.system.sentences, target.names[SEPARATOR]
    label = text.settings.text.label if isinstance(text.settings.text, MarianConfig) else None
    lines = [
        f"# {languages.source}-{languages.target}, {system_name(config.system)}",
        "",
        f"A MarianMT model for transformers, exported by concatmt {__version__}. Made from"
        f" {origin.made_from}; licence: {origin.licence}. {'; '.join(origin.steps)}".rstrip()
        + ".",
        f"Files {CARRIED}* are the original's, if it came with any.",
        "",
        "    from transformers import MarianMTModel, MarianTokenizer",
        "",
        '    tokenizer = MarianTokenizer.from_pretrained("DIR")',
        '    model = MarianMTModel.from_pretrained("DIR")',
    ]
    if size == 1:
        lines += ['    ids = model.generate(**tokenizer(["A sentence."], return_tensors="pt"))']
    else:
        lines += [
            f'    window = "{separator}".join(["A sentence.", "And the next one."])',
            '    ids = model.generate(**tokenizer([window], return_tensors="pt"))[0]',
            "",
            f"A window is up to {size} consecutive sentences with `{separator}` between them, no"
            " spaces around it; the last one is the sentence to translate, the others are its"
            f" context. The translation has `{separator}` between its sentences too (id"
            f" {target.id_of(SEPARATOR)}): split the ids there and keep the last part. Nothing in"
            " transformers makes their number right: count them, and translate the sentence alone"
            " if it is wrong. `concatmt translate` guarantees it.",
        ]
        if not origin.trained_on_windows:
            lines += ["", "Never trained on windows: train it on documents first."]
    if label:
        lines += ["", f"Write `{label}` before every source sentence."]
    if isinstance(text.settings.text, MarianConfig) and text.settings.text.normalise == "opus":
        lines += [
            "",
            "Typographic quotes, full-width punctuation and the ellipsis were ASCII in training;"
            " the tokenizer leaves them as they are, concatmt replaces them.",
        ]
    if config.architecture.positions != type(config.architecture.positions)(
        first=0, frequencies="half"
    ):
        lines += [
            "",
            "The file holds its own tables of positions. transformers drops them when it saves the"
            " model again.",
        ]
    return "\n".join([*lines, ""])
