"""Turns the options of a fairseq checkpoint into a model configuration, or refuses them by name.

Every option that changes what a `transformer` or `concat_transformer` computes is either honoured
or refused; those of training are ignored. Does not know weights.
"""

from collections.abc import Mapping
from typing import Any

from concatmt.errors import UserError
from concatmt.model.config import ModelConfig
from concatmt.settings import parse_settings

ENGLISH_GERMAN = "_vaswani_wmt_en_fr"
TRANSFORMERS = {
    "transformer",
    "transformer_iwslt_de_en",
    "transformer_test",
    "transformer_tiny",
    "transformer_vaswani_wmt_en_de_big",
    "transformer_vaswani_wmt_en_fr",
    "transformer_vaswani_wmt_en_fr_big",
    "transformer_voita_fairseq",
    "transformer_wmt_en_de",
    "transformer_wmt_en_de_big",
    "transformer_wmt_en_de_big_t2t",
}
CONCATENATIONS = {
    "concat_transformer",
    "concat_test",
    "concat_voita_fairseq",
    "concat_vaswani_wmt_en_fr",
    "concat_persistent_pos",
    "concat_use_seg_asbase",
    "concat_lrn_seg_asbase",
    "concat_onehot_seg",
    "concat_onehot_seg_persistent",
    "concat_onehot_pse_persistent",
} | {
    f"concat_{name}{suffix}"
    for suffix in ("", ENGLISH_GERMAN)
    for name in (
        "segshift",
        "segshift_persistent",
        "use_seg",
        "use_seg_persistent",
        "use_pse_persistent",
        "lrn_seg",
        "lrn_seg_persistent",
        "lrn_pse_persistent",
    )
}

# Options that would change the function, and the values with which they do not.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "encoder_learned_pos": (False,),
    "decoder_learned_pos": (False,),
    "no_token_positional_embeddings": (False,),
    "no_scale_embedding": (False,),
    "layernorm_embedding": (False,),
    "activation_fn": ("relu",),
    "no_cross_attention": (False,),
    "cross_self_attention": (False,),
    "no_decoder_final_norm": (False,),
    "adaptive_input": (False,),
    "adaptive_softmax_cutoff": (None, ""),
    "encoder_layers_to_keep": (None, ""),
    "decoder_layers_to_keep": (None, ""),
    "quant_noise_pq": (0,),
    "quant_noise_scalar": (0,),
    "base_layers": (0,),
    "use_fused_lm_head": (False,),
    "character_embeddings": (False,),
    "seg_padding_idx": (0,),
    "mode": ("slide_n2n", "n2n_block"),
}


class Options:
    """The options of a checkpoint and their origin, for messages."""

    def __init__(self, values: Mapping[str, Any], origin: str) -> None:
        self.values = values
        self.origin = origin
        self.architecture = str(values.get("arch") or values.get("_name") or "")
        if self.architecture not in TRANSFORMERS | CONCATENATIONS:
            raise self.refusal(
                f"architecture {self.architecture!r} is not supported, only fairseq's transformer"
                " and the authors' concat_transformer"
            )
        self.concatenation = self.architecture in CONCATENATIONS

    def get(self, name: str, default: float) -> Any:
        """The value of a flag or number; None counts as not given."""
        value = self.values.get(name)
        if not isinstance(value, int | float | None):
            raise self.refusal(f"the option {name} = {value!r} is not a number")
        return default if value is None else value

    def number(self, name: str) -> Any:
        """The value of a required option."""
        if self.values.get(name) is None:
            raise self.refusal(f"the option {name!r} is missing")
        return self.get(name, 0)

    def refusal(self, reason: str) -> UserError:
        """The error that says why the checkpoint cannot be imported."""
        return UserError(f"{self.origin}: {reason}")

    def model_config(self, source_vocabulary: int, target_vocabulary: int) -> ModelConfig:
        """The configuration of the same function here."""
        self._refuse_what_is_not_honoured()
        sentences = self.number("num_sent") if self.concatenation else 1
        discount = self.get("context_discount", 1.0)
        tree = {
            "architecture": self._architecture(),
            "system": {
                "sentences": sentences,
                # Negative is the authors' way to log the current loss without a discount.
                "context_discount": 1.0 if sentences == 1 or discount < 0 else discount,
                "encoding": self._encoding() if self.concatenation else {},
            },
            "source_vocabulary": source_vocabulary,
            "target_vocabulary": target_vocabulary,
        }
        return parse_settings(ModelConfig, tree, self.origin)

    def _refuse_what_is_not_honoured(self) -> None:
        for name, neutral in NEUTRAL.items():
            value = self.values.get(name)
            if value is not None and value not in neutral:
                raise self.refusal(f"the option {name} = {value!r} is not supported")
        dim = self.number("encoder_embed_dim")
        for name in ("decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"):
            if self.get(name, dim) != dim:
                raise self.refusal(f"{name} = {self.values[name]} beside encoder_embed_dim = {dim}")
        if self._norm("encoder") != self._norm("decoder"):
            raise self.refusal("encoder_normalize_before and decoder_normalize_before differ")

    def _architecture(self) -> dict[str, Any]:
        tied = self.get("share_decoder_input_output_embed", False)
        shared = self.get("share_all_embeddings", False)
        return {
            "dim": self.number("encoder_embed_dim"),
            "encoder": self._stack("encoder"),
            "decoder": self._stack("decoder"),
            "norm": self._norm("encoder"),
            "embeddings": "shared" if shared else "decoder-tied" if tied else "separate",
            "dropout": self.get("dropout", 0.0),
            "attention_dropout": self.get("attention_dropout", 0.0),
            "activation_dropout": self.get("activation_dropout", 0.0)
            or self.get("relu_dropout", 0.0),
        }

    def _stack(self, side: str) -> dict[str, int]:
        return {
            "layers": self.number(f"{side}_layers"),
            "heads": self.number(f"{side}_attention_heads"),
            "feed_forward": self.number(f"{side}_ffn_embed_dim"),
        }

    def _norm(self, side: str) -> str:
        return "pre" if self.get(f"{side}_normalize_before", False) else "post"

    def _encoding(self) -> dict[str, Any]:
        """As the authors' encoder and decoder read their options."""
        segments = self.get("use_segment_emb", False)
        segment_dim = self.get("pse_segment_dim", 0)
        shift = self.get("position_shift", 0) if self.get("segment_shifted_positions", False) else 0
        if segment_dim > 0:
            if not segments:
                raise self.refusal(f"pse_segment_dim = {segment_dim} without use_segment_emb")
            # That code ignores shift and the other two persistence flags beside PSE.
            return {
                "kind": self._segment_kind(),
                "fusion": "pse",
                "segment_dim": segment_dim,
                "persistent": self.get("persistent_pse", False),
            }
        if shift < 0:
            raise self.refusal(
                f"position_shift = {shift}: a shift by the length of each window is not a function"
                " of position and segment"
            )
        positions = self.get("persistent_positions", False)
        if segments:
            for name, value in (
                ("segment_shifted_positions", shift),
                ("persistent_positions", positions),
            ):
                if value:
                    raise self.refusal(f"{name} together with added segment embeddings")
            persistent = self.get("persistent_segment_emb", False)
            return {"kind": self._segment_kind(), "persistent": persistent}
        if self.get("segment_shifted_positions", False):
            return {"kind": "shift", "shift": shift, "persistent": positions}
        return {"persistent": positions}

    def _segment_kind(self) -> str:
        learned = self.get("lrn_segment_emb", False)
        onehot = self.get("onehot_segment_emb", False)
        if learned and onehot:
            raise self.refusal("lrn_segment_emb and onehot_segment_emb exclude each other")
        return "learned" if learned else "onehot" if onehot else "sinusoidal"
