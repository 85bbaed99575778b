"""The codec of tokenised text: tokens are separated by spaces."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from concatmt.settings import Settings
from concatmt.text.codec import Codec
from concatmt.text.vocabulary import Vocabulary


class WhitespaceConfig(Settings):
    """Settings of the `whitespace` pipeline."""

    kind: Literal["whitespace"] = "whitespace"
    lowercase: bool = False
    vocabulary: Literal["joint", "separate"] = "separate"
    threshold: int = 1  # rarer words become <unk>


class WhitespaceCodec(Codec):
    """Words <-> ids by a plain vocabulary."""

    def __init__(self, vocabulary: Vocabulary, lowercase: bool = False) -> None:
        self.vocabulary, self.lowercase = vocabulary, lowercase

    def normalise(self, text: str) -> str:
        return " ".join((text.lower() if self.lowercase else text).split())

    def encode_normalised(self, text: str) -> list[int]:
        return self.vocabulary.encode(text.split())

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(self.vocabulary.decode(ids))


def count_words(sentences: Iterable[str]) -> Counter[str]:
    """How often each word occurs in normalised sentences."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.split())
    return counts
