"""What a search is given and what it finds. Does not know how."""

from collections.abc import Sequence
from dataclasses import dataclass

from concatmt.text.vocabulary import SEPARATOR

Sentence = Sequence[int]  # token ids without separator


<<<<<<< Updated upstream
=======
class SearchConfig(Settings):
    """How translations are searched for."""

    beam: Annotated[int, Field(ge=1, le=1024)] = 4
    length_penalty: Annotated[float, Field(ge=-10, le=10)] = 0.6
    constrained: bool = True  # the number of sentences is a constraint
    # The longest translation: factor * source tokens + constant, for each sentence when
    # constrained, else for the whole window.
    length_factor: Annotated[float, Field(ge=0, le=1000)] = 2.0
    length_constant: Annotated[int, Field(ge=1, le=100_000)] = 20
    # Before its beam is full a search ends when what is asked for is certain: no hypothesis that
    # goes on can become better. Or when it is likely: none has a better score as it stands.
    # `best` goes on after the beam is full, as long as a hypothesis that goes on has a better score
    # as it stands than the worst of the beam: the rule of transformers' generate().
    # None: what suits the mode of translation; certain where there is none.
    stop: Literal["certain", "likely", "best"] | None = None
    sample: bool = False  # draw `beam` translations instead of searching the best
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1


>>>>>>> Stashed changes
@dataclass(frozen=True, slots=True)
class Window:
    """What is translated: sentences of a source, and translations of the first few if forced."""

    source: Sequence[Sentence]
    forced: Sequence[Sentence] = ()  # of all sentences but the last, or none
    number: int = 0  # which window it is, so that samples do not depend on the batch

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
        """Those of the last sentence and <end>."""
        return self.log_probs[-1 - len(self.sentences[-1]) :]
