"""The interface of all codecs: text of one language to token ids and back.

A codec works in two steps: `normalise` returns the words that corpus statistics and cleaning count,
`encode_normalised` returns ids. `encode` does both. Codecs know sentences, never documents.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from concatmt.text.vocabulary import Vocabulary


class Codec(ABC):
    """Text of one language <-> token ids. No text ever becomes a special id."""

    vocabulary: Vocabulary

    def __len__(self) -> int:
        """Number of ids, including the special ones."""
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Token ids of a sentence, without separator."""
        return self.encode_normalised(self.normalise(text))

    @abstractmethod
    def normalise(self, text: str) -> str:
        """The sentence as words separated by single spaces (unchanged for raw-text codecs)."""

    @abstractmethod
    def encode_normalised(self, text: str) -> list[int]:
        """Token ids of a sentence that `normalise` returned."""

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """The sentence of these ids, as readable text."""
