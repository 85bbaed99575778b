"""Imports Marian's own models: an npz with its vocabularies and SentencePiece models.

From a folder, or the zip of an OPUS-MT release. A tensor, or an option that changes the
function, without a counterpart is refused by name.
"""

import io
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch
import yaml
from torch import Tensor

from concatmt.conversion.imported import PAPERS, Imported, licence_of, marian_pipeline
from concatmt.conversion.marian_options import MarianOptions
from concatmt.conversion.marian_vocabulary import END, UNK, read_vocabulary
from concatmt.conversion.weights import Rows, Weights, build, stack_blocks
from concatmt.errors import UserError
from concatmt.files import check_regular
from concatmt.model.card import Origin
from concatmt.model.config import ModelConfig, SystemConfig
from concatmt.text.marian import MarianConfig

OPTIONS = "special:model.yml"
SIDES = ("source", "target")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError)
LANGUAGES = re.compile(r"(?:^|[^a-z])([a-z]{2,3})-([a-z]{2,3})(?:[^a-z]|$)")  # as in opus-en-fr.zip
# Our names, with those of Marian after the layer's prefix; W is a weight (in, out), b a bias.
NAMES = {
    "self_attention.qkv": ("self_{}q", "self_{}k", "self_{}v"),
    "self_attention.output": ("self_{}o",),
    "cross_attention.q": ("context_{}q",),
    "cross_attention.kv": ("context_{}k", "context_{}v"),
    "cross_attention.output": ("context_{}o",),
    "feed_forward_in": ("ffn_{}1",),
    "feed_forward_out": ("ffn_{}2",),
}
NORMS = {
    "self_attention_norm": "self_Wo",
    "cross_attention_norm": "context_Wo",
    "feed_forward_norm": "ffn_ffn",
}


class Files:
    """The files of a model, in a folder or in a zip."""

    def __init__(self, path: Path) -> None:
        """`path` may also be the npz of a folder."""
        self.path = path
        self.npz = path.name if path.suffix == ".npz" and path.is_file() else None
        self.archive: zipfile.ZipFile | None = None
        if path.is_dir() or self.npz:
            self.folder = path if path.is_dir() else path.parent
            self.names = {file.name: file.name for file in self.folder.iterdir() if file.is_file()}
            return
        check_regular(path)
        try:
            self.archive = zipfile.ZipFile(path)
        except (*DAMAGED, OSError) as error:
            raise UserError(f"{path}: damaged, or not a zip file") from error
        names = (name for name in self.archive.namelist() if not name.endswith("/"))
        self.names = {name.rpartition("/")[2]: name for name in names}

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def ending(self, *endings: str) -> list[str]:
        """Names of files with these endings."""
        return sorted(name for name in self.names if name.endswith(endings))

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if self.archive is None:
            return (self.folder / name).read_bytes()
        try:
            return self.archive.read(self.names[name])
        except (*DAMAGED, RuntimeError) as error:
            raise UserError(f"{self.path}: damaged: {name} cannot be read") from error

    def refusal(self, reason: str) -> UserError:
        """Why the model cannot be imported."""
        return UserError(f"{self.path}: {reason}")


def is_marian_model(path: Path) -> bool:
    """Whether a path looks like one: an npz, or a folder or zip that holds one."""
    if path.is_dir():
        return any(path.glob("*.npz"))
    return path.suffix == ".npz" or (path.suffix == ".zip" and path.is_file())


def import_marian(path: Path, text: MarianConfig | None = None) -> Imported:
    """The model and its text."""
    files = Files(path)
    settings = _decoder_settings(files)
    name = _model_name(files, settings)
    tensors, content = _tensors(files, name)
    options = MarianOptions(content, str(path))
    weights = Weights(tensors, str(path))
    architecture = options.architecture()
    names = _vocabulary_names(files, settings)
    spm = _sentence_piece_models(files, names)
    source, target = (
        _rows(read_vocabulary(of_side, files.read(of_side), size))
        for of_side, size in zip(names, options.vocabularies, strict=True)
    )
    if architecture.embeddings == "shared" and source != target:
        raise files.refusal(f"tied-embeddings-all, but {names[0]} and {names[1]} differ")
    config = ModelConfig(
        architecture=architecture,
        system=SystemConfig(),
        source_vocabulary=len(source.vocabulary()),
        target_vocabulary=len(target.vocabulary()),
    )
    ours = _embeddings(weights, options, source, target)
    pre = architecture.norm == "pre"
    layers = {"encoder": architecture.encoder.layers, "decoder": architecture.decoder.layers}
    ours |= stack_blocks(layers, lambda side, layer: _block(weights, side, layer, pre))
    if pre:
        for side in layers:
            ours |= _norm(weights, f"{side}_norm", f"{side}_top", "")
    model = build(config, ours, weights)
    papers = {paper: files.read(paper) for paper in PAPERS if paper in files}
    vocabularies = source.vocabulary(), target.vocabulary()
    pipeline = marian_pipeline(
        text or MarianConfig(), _languages(files), vocabularies, spm, str(path)
    )
    origin = Origin(made_from=f"the Marian model {path.resolve().name}", licence=licence_of(papers))
    return Imported(model, pipeline, origin, papers)


def _decoder_settings(files: Files) -> dict[str, object]:
    """The content of `decoder.yml`, which names the files; empty if there is none."""
    names = [name for name in ("decoder.yml", *files.ending(".decoder.yml")) if name in files]
    for name in names:
        try:
            tree = yaml.safe_load(files.read(name))
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            raise files.refusal(f"{name} is damaged") from error
        if isinstance(tree, dict):
            return tree
    return {}


def _named(settings: dict[str, object], key: str) -> list[str]:
    """File names that `decoder.yml` lists under `key`."""
    values = settings.get(key)
    return [str(value).rpartition("/")[2] for value in values] if isinstance(values, list) else []


def _model_name(files: Files, settings: dict[str, object]) -> str:
    if files.npz:
        return files.npz
    found = files.ending(".npz")
    named = [name for name in _named(settings, "models") if name in files]
    # Training leaves optimiser states and other checkpoints in the same folder.
    found = [name for name in found if not name.endswith(".optimizer.npz")]
    if len(named) == 1:
        return named[0]
    if len(found) != 1:
        what = "no model (*.npz)" if not found else f"{len(found)} models: {', '.join(found[:3])}"
        binary = "; binary models (*.bin) cannot be imported" if files.ending(".bin") else ""
        hint = "; give the path of one" if len(found) > 1 and files.archive is None else ""
        raise files.refusal(f"has {what}{hint}{binary}")
    return found[0]


def _tensors(files: Files, name: str) -> tuple[dict[str, Tensor], bytes]:
    """All tensors, and the text of the configuration."""
    tensors, options = {}, None
    try:
        with np.load(io.BytesIO(files.read(name)), allow_pickle=False) as arrays:
            for key in arrays.files:
                if key == OPTIONS:
                    options = arrays[key].tobytes()
                elif not key.startswith("special:"):
                    array = arrays[key]
                    if array.dtype not in (np.float32, np.float16):
                        raise files.refusal(f"the tensor {key!r} is of type {array.dtype}")
                    tensors[key] = torch.from_numpy(array)
    except (*DAMAGED, MemoryError, OSError, TypeError, AttributeError) as error:
        raise files.refusal(f"{name} is damaged, or not an npz of Marian") from error
    if options is None:
        beside = f"{name}.yml"
        if beside not in files:
            raise files.refusal(f"{name} has no {OPTIONS}, and there is no {beside}")
        options = files.read(beside)
    return tensors, options


def _sentence_piece_models(files: Files, vocabularies: list[str]) -> tuple[bytes, bytes]:
    """Those of both sides. Marian may have them as vocabularies; a single joint one serves both."""
    names = [f"{side}.spm" for side in SIDES]
    if all(name.endswith(".spm") for name in vocabularies):
        names = vocabularies
    elif not all(name in files for name in names):
        found = files.ending(".spm")
        if len(found) != 1 or found[0] in names:
            bpe = files.ending(".bpe")
            reason = f"; {bpe[0]}: BPE models cannot be imported" if bpe else ""
            missing = " and no ".join(name for name in names if name not in files)
            raise files.refusal(f"has no {missing}, which its text needs{reason}")
        names = found * 2
    return files.read(names[0]), files.read(names[1])


def _vocabulary_names(files: Files, settings: dict[str, object]) -> list[str]:
    """By `decoder.yml`, else by their endings."""
    named = _named(settings, "vocabs")
    if len(named) == 2 and all(name in files for name in named):
        return named
    for endings in ((".src.vocab.yml", ".trg.vocab.yml"), (".src.vocab", ".trg.vocab")):
        found = [files.ending(ending) for ending in endings]
        if all(len(names) == 1 for names in found):
            return [names[0] for names in found]
    for found_names in (files.ending("vocab.yml"), files.ending(".vocab")):
        if len(found_names) == 1:
            return found_names * 2
        if len(found_names) > 1:
            raise files.refusal(
                f"{len(found_names)} vocabularies ({', '.join(found_names[:3])}) and no decoder.yml"
                " that says whose they are"
            )
    raise files.refusal("has no vocabulary (*.vocab.yml or *.vocab)")


def _rows(symbols: list[str]) -> Rows:
    return Rows(symbols, end=symbols.index(END), unk=symbols.index(UNK))


def _languages(files: Files) -> tuple[str, str]:
    """From the name of the file or the folder, if it has them."""
    found = LANGUAGES.search(files.path.resolve().name.lower())
    return (found[1], found[2]) if found else ("und", "und")


def _embeddings(
    weights: Weights, options: MarianOptions, source: Rows, target: Rows
) -> dict[str, Tensor]:
    if options.one_input_table:
        encoder = decoder = weights.take("Wemb")
    else:
        encoder, decoder = weights.take("encoder_Wemb"), weights.take("decoder_Wemb")
    output = decoder
    if options.embeddings == "separate":
        older = "decoder_ff_logit_out_W"  # (in, out) there
        output = (
            weights.take(older).T if older in weights else weights.take("decoder_ff_logit_out_Wt")
        )
    bias = torch.zeros(len(output))
    if not options.values.get("output-omit-bias", False):
        bias = weights.take("decoder_ff_logit_out_b").flatten()
    rows = {}
    for name, table, of_side in (
        ("source_embedding.weight", encoder, source),
        ("target_embedding.weight", decoder, target),
        ("output.weight", output, target),
        ("output.bias", bias, target),
    ):
        if len(table) != len(of_side.symbols):
            raise weights.refusal(
                f"what becomes {name!r} has {len(table):,} rows, but dim-vocabs says"
                f" {len(of_side.symbols):,}"
            )
        is_bias = name == "output.bias"
        rows[name] = of_side.bias(table, windows=False) if is_bias else of_side.matrix(table)
    return rows


def _block(weights: Weights, side: str, layer: int, pre: bool) -> dict[str, Tensor]:
    """The tensors of one block under our names; projections of one input are stacked."""
    prefix = f"{side}_l{layer + 1}_"
    tensors = {}
    for ours, theirs in NAMES.items():
        if side == "decoder" or not ours.startswith("cross"):
            matrices = [weights.take(prefix + name.format("W")).T for name in theirs]
            biases = [weights.take(prefix + name.format("b")).flatten() for name in theirs]
            tensors[f"{ours}.weight"], tensors[f"{ours}.bias"] = (
                torch.cat(matrices),
                torch.cat(biases),
            )
    for ours, name in NORMS.items():
        if side == "decoder" or not ours.startswith("cross"):
            tensors |= _norm(weights, ours, prefix + name, "_pre" if pre else "")
    return tensors


def _norm(weights: Weights, ours: str, theirs: str, suffix: str) -> dict[str, Tensor]:
    return {
        f"{ours}.{kind}": weights.take(f"{theirs}_ln_{name}{suffix}").flatten()
        for kind, name in (("weight", "scale"), ("bias", "bias"))
    }
