"""Turns the options of a Marian model (`special:model.yml`) into an architecture, or refuses them.

Every option that changes what a `transformer` computes is honoured or must have the value with
which it changes nothing; those of training and of other types are ignored. Options that an older
file lacks have Marian's defaults. Does not know weights.
"""

from typing import Any, Literal

import yaml

from concatmt.errors import UserError
from concatmt.model.config import Architecture
from concatmt.model.encodings import PositionConfig
from concatmt.settings import parse_settings

# Options that would change the function, and the values with which they do not (the first is
# Marian's default).
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "right-left": (False,),
    "input-types": ([], ["sequence", "sequence"]),
    "factors-dim-emb": (0,),
    "lemma-dim-emb": (0,),
    "lemma-dependency": ("",),
    "ulr": (False,),
    "ulr-dim-emb": (0,),
    "layer-normalization": (False,),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-tied-layers": ([],),
    "transformer-no-projection": (False,),
    "transformer-pool": (False,),
    "transformer-train-position-embeddings": (False,),
    "transformer-disable-position-embeddings": (False,),
    "transformer-attention-mask": ("default",),
    "transformer-alibi-shift": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-affine": (False,),
}
# What is done before and after a sublayer and at the top; d, a and n are dropout, sum and norm.
NORMS: dict[tuple[str, str, str], Literal["post", "pre"]] = {
    ("", "an", ""): "post",
    ("n", "a", "n"): "pre",
}
REASONS = {
    "transformer-decoder-autoreg": "its decoder is recurrent, as in small student models",
    "transformer-train-position-embeddings": "its positions are trained, not sinusoids",
}
LARGEST = 1 << 20  # bytes of a configuration


class MarianOptions:
    """The options of a model and their origin, for messages."""

    def __init__(self, content: bytes, origin: str) -> None:
        """content: the YAML text, with a final NUL in model files."""
        self.origin = origin
        try:
            text = content[:LARGEST].rstrip(b"\0").decode("utf-8")
            values = yaml.safe_load(text)
        except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
            raise self.refusal("its configuration (special:model.yml) is damaged") from error
        if not isinstance(values, dict) or "type" not in values:
            raise self.refusal("its configuration names no type of model")
        self.values: dict[Any, Any] = values
        self._check()

    def refusal(self, reason: str) -> UserError:
        """The error that says why the model cannot be imported."""
        return UserError(f"{self.origin}: {reason}")

    def _check(self) -> None:
        if self.values["type"] != "transformer":
            raise self.refusal(
                f"a model of type {self.values['type']!r}; only 'transformer' can be imported"
            )
        for name, allowed in NEUTRAL.items():
            value = self.values.get(name, allowed[0])
            if value not in allowed and not (value is None and allowed[0] in ("", [])):
                reason = f" ({REASONS[name]})" if name in REASONS else ""
                raise self.refusal(f"{name} {value!r} has no counterpart here{reason}")
        if self.activation not in ("relu", "swish"):
            raise self.refusal(
                f"transformer-ffn-activation {self.activation!r} is neither relu nor swish"
            )

    @property
    def activation(self) -> Any:
        """Of the feed-forward layers."""
        return self.values.get("transformer-ffn-activation", "swish")

    @property
    def vocabularies(self) -> tuple[int, int]:
        """Rows of the source and the target embeddings."""
        sizes = self.values.get("dim-vocabs")
        if not isinstance(sizes, list) or len(sizes) != 2:
            raise self.refusal(f"dim-vocabs {sizes!r}: expected the sizes of two vocabularies")
        if not all(isinstance(size, int) and 2 < size < 10_000_000 for size in sizes):
            raise self.refusal(f"dim-vocabs {sizes!r}: not the sizes of vocabularies")
        return sizes[0], sizes[1]

    @property
    def embeddings(self) -> Literal["shared", "decoder-tied", "separate"]:
        """Which tables are shared. A shared input table with another output counts as separate."""
        every, source = self._flag("tied-embeddings-all"), self._flag("tied-embeddings-src")
        output = self._flag("tied-embeddings")
        if every or (source and output):
            return "shared"
        return "decoder-tied" if output else "separate"

    @property
    def one_input_table(self) -> bool:
        """Whether both sides share one table of input embeddings, `Wemb`."""
        return self._flag("tied-embeddings-all") or self._flag("tied-embeddings-src")

    def architecture(self) -> Architecture:
        """Ours."""
        number = self._number
        inner = number("transformer-dim-ffn", 2048)
        stacks = {
            side: {
                "layers": number(depth, 1),
                "heads": number("transformer-heads", 8),
                "feed_forward": width,
            }
            for side, depth, width in (
                ("encoder", "enc-depth", inner),
                ("decoder", "dec-depth", number("transformer-decoder-dim-ffn", 0) or inner),
            )
        }
        tree = {
            **stacks,
            "dim": number("dim-emb", 512),
            "norm": self._norm(),
            "embeddings": self.embeddings,
            "dropout": 0.1,
            "activation": self.activation,
            "positions": PositionConfig(first=0, frequencies="half-1").model_dump(),
            "output_bias": True,
            "start": "zero",
            "norm_epsilon": 1e-6,
        }
        return parse_settings(Architecture, tree, self.origin)

    def _norm(self) -> Literal["post", "pre"]:
        places = [
            str(self.values.get(f"transformer-{place}", default) or "")
            for place, default in (
                ("preprocess", ""),
                ("postprocess", "dan"),
                ("postprocess-top", ""),
            )
        ]
        before, after, top = (place.replace("d", "") for place in places)
        if (before, after, top) not in NORMS:
            raise self.refusal(
                f"transformer-preprocess {places[0]!r}, -postprocess {places[1]!r} and"
                f" -postprocess-top {places[2]!r}: only norms after every sublayer ('', 'dan', '')"
                " or before ('n', 'da', 'n') have a counterpart here"
            )
        return NORMS[before, after, top]

    def _flag(self, name: str) -> bool:
        return bool(self.values.get(name, False))

    def _number(self, name: str, default: int) -> int:
        value = self.values.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.refusal(f"{name} {value!r} is not a number")
        return value
