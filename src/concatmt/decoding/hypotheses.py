"""The input and output of a search: windows and hypotheses. Does not know how it works."""

from collections.abc import Sequence
from dataclasses import dataclass

from concatmt.text.vocabulary import SEPARATOR

Sentence = Sequence[int]  # token ids without separator


@dataclass(frozen=True, slots=True)
class Window:
    """Source sentences to translate, and the translations of the first ones if forced."""

    source: Sequence[Sentence]
    forced: Sequence[Sentence] = ()  # of all sentences but the last, or none
    number: int = 0  # number of the window, so that samples do not depend on the batch
    terms: tuple[tuple[tuple[int, ...], ...], ...] = ()  # forms of each term to be used

    @property
    def cost(self) -> int:
        """Tokens of the source, boundaries included."""
        return sum(map(len, self.source)) + len(self.source)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished translation of a window, without what was forced."""

    tokens: list[int]  # with separators, without <end>
    log_probs: list[float]  # of each token, and of <end>
    score: float  # sum of log_probs / length ** penalty; the length counts <end>

    @property
    def sentences(self) -> list[list[int]]:
        """The tokens split at separators."""
        parts: list[list[int]] = [[]]
        for token in self.tokens:
            if token == SEPARATOR:
                parts.append([])
            else:
                parts[-1].append(token)
        return parts

    @property
    def current_log_probs(self) -> list[float]:
        """The log-probs of the last sentence and <end>."""
        return self.log_probs[-1 - len(self.sentences[-1]) :]
