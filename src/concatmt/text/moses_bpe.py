"""The paper's pipeline: Moses tokenisation, then byte-pair encoding with `@@`.

Tokenisation is sacremoses', merging is in `bpe`. For tokenised corpora (the paper's
En-Ru data) `tokenise: false` leaves only the BPE.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from concatmt.settings import Settings
from concatmt.text.bpe import Segmenter, join
from concatmt.text.codec import Codec
from concatmt.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer


class MosesBpeConfig(Settings):
    """Settings of the `moses-bpe` pipeline."""

    kind: Literal["moses-bpe"] = "moses-bpe"
    tokenise: bool = True
    lowercase: bool = False
    merges: int = Field(default=32_000, ge=1)
    codes: Literal["joint", "separate"] = "joint"  # one set of merges for both languages, or two
    codes_files: tuple[Path, ...] = ()  # existing code files: one if joint, else source then target
    vocabulary: Literal["joint", "separate"] = "joint"
    threshold: int = 1  # pieces rarer than this are split again, characters become <unk>


class MosesBpeCodec(Codec):
    """Moses tokens in BPE pieces <-> ids."""

    def __init__(
        self, config: MosesBpeConfig, language: str, segmenter: Segmenter, vocabulary: Vocabulary
    ) -> None:
        self.vocabulary, self.segmenter, self.config = vocabulary, segmenter, config
        self.tokenizer = moses_tokenizer(language) if config.tokenise else None
        self.detokenizer = moses_detokenizer(language) if config.tokenise else None
        self.known: dict[str, list[int]] = {}

    def normalise(self, text: str) -> str:
        return moses_normalise(self.tokenizer, text, self.config)

    def encode_normalised(self, text: str) -> list[int]:
        ids: list[int] = []
        known = self.known
        for word in text.split():
            of_word = known.get(word)
            if of_word is None:
                of_word = known[word] = self.vocabulary.encode(self.segmenter.segment(word))
            ids += of_word
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        text = join(self.vocabulary.decode(ids))
        if self.detokenizer is None:
            return text
        detokenised: str = self.detokenizer.detokenize(text.split())
        return detokenised


def moses_tokenizer(language: str) -> "MosesTokenizer":
    """Make a tokenizer. Imported late: it is slow to import, and many pipelines do without."""
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang=language)


def moses_detokenizer(language: str) -> "MosesDetokenizer":
    """Make the reverse of the tokenizer."""
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(lang=language)


def moses_normalise(tokenizer: "MosesTokenizer | None", text: str, config: MosesBpeConfig) -> str:
    """Moses tokens between single spaces (with a tokenizer), lower-cased if configured."""
    if tokenizer is not None:
        text = tokenizer.tokenize(text, return_str=True)
    return " ".join((text.lower() if config.lowercase else text).split())


def count_pieces(segmenter: Segmenter, word_counts: Mapping[str, int]) -> Counter[str]:
    """How often each piece occurs when the words of a corpus are segmented."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for piece in segmenter.segment(word):
            counts[piece] += count
    return counts
