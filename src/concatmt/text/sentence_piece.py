"""Raw text with SentencePiece: lossless, no tokeniser needed. The default for practical use."""

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import Field

from concatmt.errors import UserError
from concatmt.settings import Settings
from concatmt.text.codec import Codec
from concatmt.text.vocabulary import END, PAD, SEPARATOR, SPECIALS, UNK, Vocabulary

# SentencePiece writes a space as this sign and cannot tell it from the same sign in the text:
# there it is replaced by an escape sequence, and so is the escape sign itself.
SPACE_SIGN, ESCAPE = "\u2581", "\ue000"
ESCAPES = {ESCAPE: f"{ESCAPE}0", SPACE_SIGN: f"{ESCAPE}1"}
UNESCAPES = {sequence: sign for sign, sequence in ESCAPES.items()}
TRAINING_SENTENCES = 4_000_000


class SentencePieceConfig(Settings):
    """Settings of the `sentencepiece` pipeline."""

    kind: Literal["sentencepiece"] = "sentencepiece"
    lowercase: bool = False
    model: Literal["unigram", "bpe"] = "unigram"
    # Ids, specials included; fewer if the text does not give as many.
    size: int = Field(default=16_000, ge=300)
    vocabulary: Literal["joint", "separate"] = "joint"
    coverage: float = Field(default=0.9999, gt=0, le=1)  # rarer characters are spelt out in bytes


class SentencePieceCodec(Codec):
    """Raw text <-> ids of a SentencePiece model."""

    def __init__(
        self, model: bytes, lowercase: bool = False, name: str = "the SentencePiece model"
    ) -> None:
        self.model, self.lowercase = model, lowercase
        self.processor = load_sentence_piece(model, name)
        size = self.processor.get_piece_size()
        pieces = [self.processor.id_to_piece(i) for i in range(size)]
        if tuple(pieces[:4]) != SPECIALS:
            raise UserError(f"a SentencePiece model with ids {pieces[:4]} is not one of ours")
        self.vocabulary = Vocabulary(pieces)

    def normalise(self, text: str) -> str:
        return text.lower() if self.lowercase else text

    def encode_normalised(self, text: str) -> list[int]:
        ids: list[int] = self.processor.encode(_escape(text))
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        text: str = self.processor.decode(list(ids))
        return _unescape(text)


def load_sentence_piece(model: bytes, name: str) -> Any:
    """The processor of a model; `model` is the content of the file `name`."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor()
    try:
        # Given to the constructor, an empty model would not be loaded, and not be refused.
        processor.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise UserError(f"{name}: damaged, or not a SentencePiece model") from error
    return processor


def learn_sentencepiece(sentences: Iterable[str], config: SentencePieceConfig) -> bytes:
    """Train a model on raw sentences; gives its file content."""
    import sentencepiece

    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(_escape(sentence) for sentence in sentences),
            model_writer=model,
            model_type=config.model,
            vocab_size=config.size,
            hard_vocab_limit=config.model != "unigram",
            character_coverage=config.coverage,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            split_digits=True,
            input_sentence_size=TRAINING_SENTENCES,
            shuffle_input_sentence=False,
            pad_id=PAD,
            unk_id=UNK,
            eos_id=SEPARATOR,
            bos_id=-1,
            pad_piece=SPECIALS[PAD],
            unk_piece=SPECIALS[UNK],
            eos_piece=SPECIALS[SEPARATOR],
            control_symbols=[SPECIALS[END]],
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise UserError(
            f"text.size={config.size}: SentencePiece cannot learn it: {error}"
        ) from error
    return model.getvalue()


def _escape(text: str) -> str:
    return re.sub(f"[{ESCAPE}{SPACE_SIGN}]", lambda match: ESCAPES[match[0]], text)


def _unescape(text: str) -> str:
    return re.sub(f"{ESCAPE}[01]", lambda match: UNESCAPES[match[0]], text)
