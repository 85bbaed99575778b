"""fairseq checkpoints: what is imported computes the same function, what cannot be is refused."""

import argparse
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from concatmt.conversion.fairseq import import_checkpoint
from concatmt.conversion.fairseq_dictionary import Dictionary
from concatmt.conversion.fairseq_options import CONCATENATIONS
from concatmt.corpus.batch import WindowBatch
from concatmt.errors import UserError
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import Vocabulary
from tests.unit.conversion.fairseq_reference import DEFAULTS, WORDS, Reference, write_checkpoint

SEPARATOR, END = 2, 4 + WORDS  # fairseq's ids
SOURCE = [[0, 5], [], [3, 3, 1]]  # sentences of words w0, w5, ...
TARGET = [[7], [2, 8], [4, 0]]

SHIFT = {"segment_shifted_positions": True, "position_shift": 6}
SEGMENTS = {"use_segment_emb": True}
LEARNED = {**SEGMENTS, "lrn_segment_emb": True}
ONE_HOT = {**SEGMENTS, "onehot_segment_emb": True}
PRE_NORM = {"encoder_normalize_before": True, "decoder_normalize_before": True}
SHARED = {"share_all_embeddings": True, "share_decoder_input_output_embed": True}
UNEQUAL = {
    "encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 3,
    "decoder_attention_heads": 4, "encoder_ffn_embed_dim": 8, "decoder_ffn_embed_dim": 24,
}  # fmt: skip

CASES: list[tuple[str, dict[str, Any]]] = [
    ("s3to3", {}),
    ("s3to3+pers", {"persistent_positions": True}),
    ("s3to3+shift6", SHIFT),
    ("s3to3+shift6+pers", {**SHIFT, "persistent_positions": True}),
    ("s3to3+shift0", {"segment_shifted_positions": True, "position_shift": 0}),
    *(
        (f"s3to3+{notation}{form}", {**kind, **options})
        for notation, kind in (("1hot", ONE_HOT), ("sin", SEGMENTS), ("lrn", LEARNED))
        for form, options in (
            ("", {}),
            ("+pers", {"persistent_segment_emb": True}),
            ("+pse", {"pse_segment_dim": 4}),
            ("+pers+pse", {"pse_segment_dim": 4, "persistent_pse": True}),
            ("+pse5", {"pse_segment_dim": 5}),
        )
    ),
    ("s3to3+cd0.1+lrn", {**LEARNED, "context_discount": 0.1}),
    ("s3to3", {"context_discount": -1.0}),
    ("s3to3+sin+pse", {**SEGMENTS, "pse_segment_dim": 4, **SHIFT, "persistent_positions": True}),
    ("s3to3", {"position_shift": 6}),
    ("s3to3", UNEQUAL),
    ("s3to3", {"share_decoder_input_output_embed": True}),
    ("s3to3", SHARED),
    ("s3to3+lrn+pers+pse", {**LEARNED, "pse_segment_dim": 4, "persistent_pse": True, **SHARED,
                            **PRE_NORM, **UNEQUAL}),
    ("s3to3+pers", {"persistent_positions": True, **PRE_NORM}),
    ("s5to5+sin", {**SEGMENTS, "num_sent": 5}),
]  # fmt: skip


def load(folder: Path) -> tuple[Transformer, Vocabulary, Vocabulary]:
    return import_checkpoint(
        folder / "checkpoint.pt", folder / "dict.src.txt", folder / "dict.tgt.txt"
    )


def flat(window: list[list[int]], end: int) -> tuple[list[int], list[int]]:
    """Tokens in fairseq's ids, and their segments."""
    tokens, segments = [], []
    for place, sentence in enumerate(window):
        last = place == len(window) - 1
        tokens += [word + 4 for word in sentence] + [end if last else SEPARATOR]
        segments += [len(window) - place] * (len(sentence) + 1)
    return tokens, segments


def compare(
    folder: Path, state: dict[str, Any], windows: range, end: int, order: list[int]
) -> None:
    """Our log-probs of prefixes of the window against the reference's, in our order of symbols."""
    model, source_words, target_words = load(folder)
    reference = Reference(state)

    def words(vocabulary: Vocabulary, window: list[list[int]]) -> list[list[int]]:
        return [vocabulary.encode(f"w{i}" for i in sentence) for sentence in window]

    batch = WindowBatch.from_lists(
        [words(source_words, SOURCE[:n]) for n in windows],
        [words(target_words, TARGET[:n]) for n in windows],
    )
    with torch.no_grad():
        ours = model.double().log_probs(model(batch))
    for row, n in enumerate(windows):
        target, segments = flat(TARGET[:n], end)
        inputs = [end, *target[:-1]], [1, *segments[:-1]]
        theirs = reference(flat(SOURCE[:n], end), inputs, n)[:, order]
        assert (ours[row, : len(target)] - theirs).abs().max() < 2e-6


@pytest.mark.parametrize(("name", "options"), CASES)
def test_an_imported_model_computes_the_same_function(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    state = write_checkpoint(tmp_path, **options)
    order = [1, 3, 2, END, 0, *range(4, END)]
    compare(tmp_path, state, range(1, 4), END, order)
    assert system_name(load(tmp_path)[0].config.system) == name


@pytest.mark.parametrize("options", [{}, PRE_NORM, SHARED, UNEQUAL])
def test_a_sentence_level_transformer_is_imported_with_its_eos_as_end(
    options: dict[str, Any], tmp_path: Path
) -> None:
    state = write_checkpoint(tmp_path, extra=0, **{"arch": "transformer_wmt_en_de", **options})
    compare(tmp_path, state, range(1, 2), SEPARATOR, [1, 3, 0, 2, *range(4, 4 + WORDS)])
    assert system_name(load(tmp_path)[0].config.system) == "base"


def test_vocabularies_hold_the_same_symbols_in_our_order(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    _, source, target = load(tmp_path)
    words = [f"w{i}" for i in range(WORDS)]
    assert source.symbols == ["<pad>", "<unk>", "</s>", "<end>", "<s>", *words]
    assert target.counts == [0] * 5 + [100 - i for i in range(WORDS)]


def test_symbols_of_document_markup_have_rows_too(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, extra=4, add_doc_markup=True)
    assert load(tmp_path)[1].symbols[-3:] == ["<BEG>", "<BRK>", "<CNT>"]


def test_half_precision_weights_become_float32(tmp_path: Path) -> None:
    state = write_checkpoint(tmp_path)
    state["model"] = {name: tensor.half() for name, tensor in state["model"].items()}
    torch.save(state, tmp_path / "checkpoint.pt")
    assert {p.dtype for p in load(tmp_path)[0].parameters()} == {torch.float32}


def test_what_real_checkpoints_hold_beside_the_weights_is_read(tmp_path: Path) -> None:
    state = write_checkpoint(tmp_path)
    state["extra_state"] = {"best": np.float64(3.5), "epoch": np.int64(4)}
    state["optimizer_history"] = [{"num_updates": 700}]
    plain = load(tmp_path)[0].output.weight
    torch.save(state, tmp_path / "checkpoint.pt")
    assert torch.equal(load(tmp_path)[0].output.weight, plain)
    new = {"args": None, "cfg": {"model": state["args"]}, "model": state["model"]}
    torch.save(new, tmp_path / "checkpoint.pt")
    assert torch.equal(load(tmp_path)[0].output.weight, plain)


def test_the_older_name_of_the_projection_is_known(tmp_path: Path) -> None:
    state = write_checkpoint(tmp_path)
    plain = load(tmp_path)[0].output.weight
    state["model"]["decoder.embed_out"] = state["model"].pop("decoder.output_projection.weight")
    torch.save(state, tmp_path / "checkpoint.pt")
    assert torch.equal(load(tmp_path)[0].output.weight, plain)


def test_a_tied_projection_may_be_left_out(tmp_path: Path) -> None:
    state = write_checkpoint(tmp_path, **SHARED)
    del state["model"]["decoder.output_projection.weight"]
    del state["model"]["decoder.embed_tokens.weight"]
    torch.save(state, tmp_path / "checkpoint.pt")
    assert load(tmp_path)[0].config.architecture.embeddings == "shared"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"arch": "lightconv"}, "architecture 'lightconv' is not supported"),
    ({"arch": "transformer_align"}, "architecture 'transformer_align'"),
    ({"arch": None}, "architecture ''"),
    ({"encoder_learned_pos": True}, "encoder_learned_pos = True"),
    ({"decoder_learned_pos": True}, "decoder_learned_pos = True"),
    ({"activation_fn": "gelu"}, "activation_fn = 'gelu'"),
    ({"layernorm_embedding": True}, "layernorm_embedding"),
    ({"no_scale_embedding": True}, "no_scale_embedding"),
    ({"no_token_positional_embeddings": True}, "no_token_positional_embeddings"),
    ({"no_cross_attention": True}, "no_cross_attention"),
    ({"cross_self_attention": True}, "cross_self_attention"),
    ({"adaptive_softmax_cutoff": "100,200"}, "adaptive_softmax_cutoff"),
    ({"adaptive_input": True}, "adaptive_input"),
    ({"encoder_layers_to_keep": "0,1"}, "encoder_layers_to_keep"),
    ({"quant_noise_scalar": 0.1}, "quant_noise_scalar"),
    ({"mode": "slide_n2one"}, "mode = 'slide_n2one'"),
    ({"seg_padding_idx": 1}, "seg_padding_idx"),
    ({"encoder_normalize_before": True}, "normalize_before differ"),
    ({"decoder_embed_dim": 8}, "decoder_embed_dim = 8"),
    ({"decoder_output_dim": 8}, "decoder_output_dim = 8"),
    ({"num_sent": None}, "'num_sent' is missing"),
    ({"num_sent": "3"}, "num_sent = '3' is not a number"),
    ({"num_sent": 0}, "greater than or equal to 1"),
    ({"pse_segment_dim": "4"}, "pse_segment_dim = '4' is not a number"),
    ({"encoder_attention_heads": None}, "'encoder_attention_heads' is missing"),
    ({"encoder_attention_heads": 5}, "cannot be split over 5 encoder heads"),
    ({"segment_shifted_positions": True, "position_shift": -1}, "position_shift = -1"),
    ({**SEGMENTS, **SHIFT}, "segment_shifted_positions together with added segment"),
    ({**SEGMENTS, "persistent_positions": True}, "persistent_positions together with added"),
    ({**LEARNED, "onehot_segment_emb": True}, "exclude each other"),
    ({"pse_segment_dim": 4}, "without use_segment_emb"),
    ({**ONE_HOT, "pse_segment_dim": 2}, "do not fit into pse2"),
    ({**SEGMENTS, "pse_segment_dim": 12}, "no dimensions for positions"),
    ({"encoder_layers": 1}, "tensors have no place"),
    ({"encoder_layers": 3}, "'encoder.layers.2.self_attn.q_proj.weight' is missing"),
    ({"encoder_ffn_embed_dim": 21}, r"shape \(20, 12\)"),
    (LEARNED, "'encoder.embed_segments.weight' is missing"),
    (SHARED, "differs from the one that it is shared with"),
]


@pytest.mark.parametrize(("changes", "reason"), REFUSED)
def test_what_would_be_another_function_is_refused_by_name(
    changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    """The weights are those of the default options."""
    state = write_checkpoint(tmp_path)
    state["args"] = argparse.Namespace(**{**DEFAULTS, **changes})
    torch.save(state, tmp_path / "checkpoint.pt")
    with pytest.raises(UserError, match=reason):
        load(tmp_path)


class Meter:
    """Something that only its own code could load."""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"args": argparse.Namespace(), "model": {}, "meter": Meter()}, "holds an object of type"),
        ({"model": {}}, "neither 'args' nor 'cfg'"),
        ({"weights": 1}, "it has no 'model'"),
        ({"model": {"encoder.version": "3"}}, "more than tensors"),
        ([1, 2], "it has no 'model'"),
    ],
)
def test_a_file_that_is_no_checkpoint_of_fairseq_is_refused(
    content: object, reason: str, tmp_path: Path
) -> None:
    write_checkpoint(tmp_path)
    torch.save(content, tmp_path / "checkpoint.pt")
    with pytest.raises(UserError, match=reason):
        load(tmp_path)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    content = (tmp_path / "checkpoint.pt").read_bytes()
    for damaged in (content[: len(content) // 2], b"text\n", b""):
        (tmp_path / "checkpoint.pt").write_bytes(damaged)
        with pytest.raises(UserError, match="PyTorch checkpoint"):
            load(tmp_path)


def test_a_flipped_bit_of_the_weights_is_seen(tmp_path: Path) -> None:
    """PyTorch itself reads such a file without a word."""
    write_checkpoint(tmp_path)
    path = tmp_path / "checkpoint.pt"
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
    content[largest.header_offset + 128 + largest.file_size // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(UserError, match="damaged: the checksum of"):
        load(tmp_path)


def test_a_fifo_is_not_read(tmp_path: Path) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "checkpoint.pt").unlink()
    os.mkfifo(tmp_path / "checkpoint.pt")
    with pytest.raises(UserError, match="not a regular file"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("w0 5\nw1 4\n", "makes 7"),
        ("w0 5\nw0 4\n", "line 2: 'w0' occurs twice"),
        ("w0 5\n<pad> 4 #fairseq:overwrite\n", "line 2: '<pad>' occurs twice"),
        ("w0 5\nw1\n", "line 2: expected 'symbol count'"),
        ("w0 five\n", "line 1: expected 'symbol count'"),
        ("w0 5\n\nw1 4\n", "line 2: expected 'symbol count'"),
    ],
)
def test_a_dictionary_of_another_size_or_form_is_refused(
    text: str, reason: str, tmp_path: Path
) -> None:
    write_checkpoint(tmp_path)
    (tmp_path / "dict.src.txt").write_text(text)
    with pytest.raises(UserError, match=reason):
        load(tmp_path)


def test_different_dictionaries_cannot_share_embeddings(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, **SHARED)
    text = (tmp_path / "dict.src.txt").read_text()
    (tmp_path / "dict.src.txt").write_text(text.replace("w3", "x3"))
    with pytest.raises(UserError, match="needs one dictionary"):
        load(tmp_path)


def test_an_overwritten_symbol_keeps_its_row_and_text_reaches_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "dict.txt"
    path.write_text("a 3\nb 2\na 1 #fairseq:overwrite\n<s> 0 #fairseq:overwrite\n")
    dictionary = Dictionary.load(path).with_window_end(markup=False)
    vocabulary = dictionary.vocabulary()
    assert len(vocabulary) == len(dictionary.symbols) == 9
    assert vocabulary.symbols[4:] == ["<s>:overwritten", "a:overwritten", "b", "a", "<s>"]


def test_a_window_end_that_the_dictionary_has_already_stays_in_place(tmp_path: Path) -> None:
    path = tmp_path / "dict.txt"
    path.write_text("a 3\n<END> 2\nmadeupword0000 0\n")
    dictionary = Dictionary.load(path).with_window_end(markup=False)
    assert dictionary.order() == [1, 3, 2, 5, 0, 4, 6]
    path.write_text("a 3\n<end> 2\n")
    with pytest.raises(UserError, match="'<end>' is a word there"):
        Dictionary.load(path).vocabulary()


def test_all_architectures_of_the_authors_are_known() -> None:
    """The 26 names that their concat_transformer registers, and its own."""
    assert len(CONCATENATIONS) == 26
