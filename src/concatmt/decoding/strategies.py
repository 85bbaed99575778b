"""Chooses the next tokens of hypotheses: by beam search, or by sampling.

Every window samples with its own random numbers, from the seed and its number, so that its samples
do not depend on the other windows of a batch.

Shapes: B rows, H beams (1 at the first step), D dimensions.
"""

from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.decoding.beams import Beams, Choice, Row
from concatmt.decoding.boundaries import Boundaries
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.text.vocabulary import END, PAD, SEPARATOR, UNK


class Strategy(Protocol):
    """A way to choose the next tokens."""

    def choose(self, beams: Beams, hidden: Tensor) -> Choice:
        """Choose continuations, given hidden states (B, H, D)."""


class BeamSearch:
    """Chooses the best continuations of all hypotheses of a window.

    As in fairseq a hypothesis is finished when its `<end>` is among the best `beam` candidates.
    """

    def __init__(self, engine: Engine, config: SearchConfig) -> None:
        self.engine, self.config = engine, config

    def choose(self, beams: Beams, hidden: Tensor) -> Choice:
        windows, given, _ = hidden.shape
        beam, sums = self.config.beam, beams.scores
        candidates = self.engine.candidates(hidden.flatten(0, 1), beam)
        allowed = beams.boundaries.allowed()
        words = candidates.scores.view(windows, given, -1)
        words = words.masked_fill(~allowed.words[:, :, None], -torch.inf)
        separator = candidates.separator.view(windows, given, 1)
        separator = separator.masked_fill(~allowed.separator[:, :, None], -torch.inf)
        # (B, H, beam + 1): the best words, and last the separator.
        options = torch.cat([words, separator], dim=2) + sums[:, :, None]
        ids = F.pad(candidates.words.view(windows, given, -1), (0, 1), value=SEPARATOR)
        scores, places = options.flatten(1).topk(beam, dim=1)
        ends = candidates.end.view(windows, given).masked_fill(~allowed.end, -torch.inf)
        ends = ends + sums
        # How many candidates are better than each <end>: other words, and the <end> of others.
        better = (scores[:, None, :] > ends[:, :, None]).sum(2)
        better += (ends[:, None, :] > ends[:, :, None]).sum(2)
        if self.config.stop == "narrow":
            left = [[beam - len(row.finished)] for row in beams.rows]
            places_left = torch.tensor(left, device=hidden.device)  # (B, 1)
            ends = ends.masked_fill_(better >= places_left, -torch.inf)
            going_on = places_left - ends.isfinite().sum(1, keepdim=True)
            beyond = torch.arange(beam, device=hidden.device) >= going_on
            scores = scores.masked_fill(beyond, -torch.inf)
        else:
            ends = ends.masked_fill_(better >= beam, -torch.inf)
        return Choice(places // options.shape[2], ids.flatten(1).gather(1, places), scores, ends)


class Sampling:
    """`beam` independent draws per window."""

    def __init__(self, engine: Engine, config: SearchConfig) -> None:
        self.engine, self.config = engine, config
        self._random: WeakKeyDictionary[Row, np.random.Generator] = WeakKeyDictionary()

    def choose(self, beams: Beams, hidden: Tensor) -> Choice:
        """One token for each draw; a hypothesis that draws `<end>` is finished."""
        windows, given, _ = hidden.shape
        log_probs = self.engine.all_log_probs(hidden.flatten(0, 1)).view(windows, given, -1)
        parents = torch.arange(self.config.beam, device=hidden.device) % given
        parents = parents.expand(windows, -1)
        permitted = _permitted(log_probs, beams.boundaries)
        cumulative = permitted.div_(self.config.temperature).softmax(2).cumsum(2)
        draws = [self._generator(row).random(self.config.beam).tolist() for row in beams.rows]
        uniform = torch.tensor(draws, device=hidden.device)
        row = torch.arange(windows, device=hidden.device)[:, None]
        cumulative = cumulative[row, parents]
        marks = uniform[:, :, None] * cumulative[:, :, -1:]
        # Take the first token whose sum exceeds the mark rather than reaches it: never one of
        # probability 0.
        tokens = torch.searchsorted(cumulative, marks, right=True)[:, :, 0]
        tokens.clamp_(max=log_probs.shape[2] - 1)
        scores = log_probs[row, parents, tokens] + beams.scores[row, parents]
        ended = tokens == END
        ends = scores.masked_fill(~ended, -torch.inf)[:, :given]
        return Choice(parents, tokens, scores.masked_fill(ended, -torch.inf), ends)

    def _generator(self, row: Row) -> np.random.Generator:
        if row not in self._random:
            self._random[row] = np.random.default_rng((self.config.seed, row.window.number))
        return self._random[row]


def _permitted(log_probs: Tensor, boundaries: Boundaries) -> Tensor:
    """(B, H, V) in double precision, -inf where the boundaries do not allow a token."""
    allowed = boundaries.allowed()
    permitted = log_probs.double().masked_fill_(~allowed.words[:, :, None], -torch.inf)
    permitted[:, :, [PAD, UNK]] = -torch.inf
    for token, rule in ((SEPARATOR, allowed.separator), (END, allowed.end)):
        permitted[:, :, token] = log_probs[:, :, token].double().masked_fill(~rule, -torch.inf)
    return permitted
