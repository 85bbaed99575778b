"""Drawing translations from the model instead of searching for the best.

Every window has random numbers of its own, from the seed and its number, so that what is drawn does
not depend on the other windows of a batch.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from concatmt.decoding.beams import Choice
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.search import Follow, Search
from concatmt.text.vocabulary import END, PAD, SEPARATOR, UNK


class Sampling(Search):
    """`beam` independent draws a window."""

    def __init__(
        self,
        engine: Engine,
        windows: Sequence[Window],
        config: SearchConfig,
        wanted: int | None = None,
        follow: Follow | None = None,
    ) -> None:
        """All draws are wanted: a later one may be better, whatever its sum."""
        super().__init__(engine, windows, config, follow=follow)
        self.random = [np.random.default_rng((config.seed, window.number)) for window in windows]

    def choose(self, hidden: Tensor) -> Choice:
        """One token for each draw; a hypothesis that draws `<end>` is finished."""
        windows, given, _ = hidden.shape
        log_probs = self.engine.all_log_probs(hidden.flatten(0, 1)).view(windows, given, -1)
        parents = torch.arange(self.config.beam, device=hidden.device) % given
        parents = parents.expand(windows, -1)
        cumulative = self._permitted(log_probs).div_(self.config.temperature).softmax(2).cumsum(2)
        draws = [
            self.random[window].random(self.config.beam).tolist() for window in self.beams.windows
        ]
        uniform = self._tensor(draws)
        row = torch.arange(windows, device=hidden.device)[:, None]
        cumulative = cumulative[row, parents]
        marks = uniform[:, :, None] * cumulative[:, :, -1:]
        # Not the first token whose sum reaches the mark but the first beyond it: never one of
        # probability 0.
        tokens = torch.searchsorted(cumulative, marks, right=True)[:, :, 0]
        tokens.clamp_(max=log_probs.shape[2] - 1)
        scores = log_probs[row, parents, tokens] + self.beams.scores[row, parents]
        ended = tokens == END
        ends = scores.masked_fill(~ended, -torch.inf)[:, :given]
        return Choice(parents, tokens, scores.masked_fill(ended, -torch.inf), ends)

    def _take(self, others: Search) -> None:
        super()._take(others)
        assert isinstance(others, Sampling)
        self.random += others.random

    def _permitted(self, log_probs: Tensor) -> Tensor:
        """(B, H, V) in double precision, -inf where the boundaries do not allow a token."""
        allowed = self.boundaries.allowed()
        permitted = log_probs.double().masked_fill_(~allowed.words[:, :, None], -torch.inf)
        permitted[:, :, [PAD, UNK]] = -torch.inf
        for token, rule in ((SEPARATOR, allowed.separator), (END, allowed.end)):
            permitted[:, :, token] = log_probs[:, :, token].double().masked_fill(~rule, -torch.inf)
        return permitted
