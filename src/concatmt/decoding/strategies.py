"""Chooses the next tokens of hypotheses: beam search here, samples in `sampling`.

Shapes: B rows, H beams (1 at the first step), D dimensions.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.decoding.beams import Beams, Choice
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.text.vocabulary import SEPARATOR


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
