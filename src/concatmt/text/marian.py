"""The text side of Marian's models (OPUS-MT): a SentencePiece model for each side, and ids from a
vocabulary of its own.

Ids never come from SentencePiece. The importer decides which vocabulary row is which special; here
the specials have their usual places. Does not know models.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from concatmt.errors import UserError
from concatmt.settings import Settings
from concatmt.text.codec import Codec
from concatmt.text.sentence_piece import load_sentence_piece
from concatmt.text.vocabulary import SPECIALS, Vocabulary

LABEL = re.compile(r">>[^<>\s]+<<")  # the language a multilingual model is to translate into
# What the preprocessing of the models' training data did (OPUS-MT's
# preprocess-spm.sh): typographic and full-width punctuation become ASCII.
PUNCTUATION = str.maketrans(
    {
        "，": ",", "。": ". ", "、": ",", "”": '"', "“": '"', "∶": ":", "：": ":", "？": "?",
        "《": '"', "》": '"', "）": ")", "！": "!", "（": "(", "；": ";", "」": '"', "「": '"',
        "．": ". ", "～": "~", "’": "'", "…": "...", "━": "-", "〈": "<", "〉": ">", "【": "[",
        "】": "]", "％": "%", "‘": "'", "„": '"',
    }
)  # fmt: skip
ZERO_WIDTH = re.compile("[\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060\ufeff]")


class MarianConfig(Settings):
    """Settings of the `marian` pipeline; part of an imported model, never learnt."""

    kind: Literal["marian"] = "marian"
    vocabulary: Literal["joint", "separate"] = "joint"
    # `opus`: punctuation as in the training data of OPUS-MT; `none`: text as it is.
    normalise: Literal["opus", "none"] = "opus"
    label: str | None = None  # put before every source sentence, such as >>deu<<


class MarianCodec(Codec):
    """Raw text <-> ids of one side."""

    def __init__(
        self, model: bytes, vocabulary: Vocabulary, config: MarianConfig, source: bool
    ) -> None:
        """model: the file content of source.spm or target.spm."""
        self.model, self.vocabulary, self.config = model, vocabulary, config
        self.processor = load_sentence_piece(model, f"{'source' if source else 'target'}.spm")
        self.label = self._label(config.label) if source and config.label else []

    def _label(self, label: str) -> list[int]:
        if label not in self.vocabulary.ids:
            known = ", ".join(labels_of(self.vocabulary)[:20]) or "none"
            raise UserError(f"label {label}: not in the model's vocabulary; its labels: {known}")
        return [self.vocabulary.ids[label]]

    def normalise(self, text: str) -> str:
        return opus_normalise(text) if self.config.normalise == "opus" else text

    def encode_normalised(self, text: str) -> list[int]:
        label = self.label
        # A label in the text overrides that of the model.
        if (match := LABEL.match(text)) and match[0] in self.vocabulary.ids:
            label, text = [self.vocabulary.ids[match[0]]], text[match.end() :]
        pieces: list[str] = self.processor.encode(text, out_type=str)
        return label + self.vocabulary.encode(pieces)

    def decode(self, ids: Sequence[int]) -> str:
        pieces = [
            piece
            for piece in self.vocabulary.decode(ids)
            if piece not in SPECIALS and not LABEL.fullmatch(piece)
        ]
        text: str = self.processor.decode(pieces)
        return text.strip()


def labels_of(vocabulary: Vocabulary) -> list[str]:
    """The target languages of a multilingual model."""
    return sorted(symbol for symbol in vocabulary.ids if LABEL.fullmatch(symbol))


def opus_normalise(text: str) -> str:
    """Text as the OPUS-MT models saw it in training, with single spaces."""
    text = ZERO_WIDTH.sub("", text.translate(PUNCTUATION))
    visible = (" " if unicodedata.category(c) == "Cc" else c for c in text)
    return " ".join("".join(visible).split())
