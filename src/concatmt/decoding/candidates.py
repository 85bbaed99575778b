"""The best next tokens of every hypothesis, without a full log-softmax or a full sort.

Words are ranked apart from the two boundary tokens, which the search rules by other means; padding
and `<unk>` never come up. Does not know hypotheses, windows or models.

Shapes: R rows (hypotheses), D model dimension, V vocabulary, W its size padded to whole blocks.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

BLOCK = 64  # tokens whose maximum is looked at first
LOGITS_AT_A_TIME = 1 << 22  # when given tokens are scored
SLICE_ELEMENTS = 1 << 18  # logits that are normalised at a time: what stays in the cache


class Candidates(NamedTuple):
    """Log-probabilities of what may come next."""

    words: Tensor  # (R, count) int64, best first; fewer if the vocabulary is tiny
    scores: Tensor  # (R, count); -inf where there is no such word
    separator: Tensor  # (R,)
    end: Tensor  # (R,)


class Projection:
    """Hidden states -> candidates, by the model's output layer."""

    def __init__(
        self, weight: Tensor, pack: Callable[[Tensor], Callable[[Tensor], Tensor]]
    ) -> None:
        """weight: (V, D); `pack` makes a linear function of it, in float32 or int8."""
        self.vocabulary = len(weight)
        padding = -self.vocabulary % BLOCK
        self.linear = pack(F.pad(weight, (0, 0, 0, padding)))

    def logits(self, hidden: Tensor) -> Tensor:
        """(R, D) -> (R, W); -inf beyond the vocabulary."""
        logits = self.linear(hidden)
        logits[:, self.vocabulary :] = -torch.inf
        return logits

    def log_probs(self, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """(E,) log-probabilities of `tokens` (E,), each under the hidden state in its row.

        hidden: (R, D), worked on in slices; rows: (E,) ascending, several tokens may share one.
        """
        size = max(1, LOGITS_AT_A_TIME // self.vocabulary)
        starts = torch.arange(0, len(hidden) + size, size, device=hidden.device)
        edges = torch.searchsorted(rows, starts).tolist()
        scores = hidden.new_empty(len(rows))
        for number, part in enumerate(torch.split(hidden, size)):
            of_part = slice(edges[number], edges[number + 1])
            at = rows[of_part] - number * size
            logits = self.logits(part)
            hits = logits[at, tokens[of_part]]
            peaks = logits.amax(dim=1, keepdim=True)
            scores[of_part] = hits - _masses(logits, peaks).log_().add_(peaks[:, 0])[at]
        return scores

    def __call__(self, hidden: Tensor, count: int) -> Candidates:
        """The `count` best words of each row, and its boundaries."""
        found = best_candidates(self.logits(hidden), count)
        found.words.clamp_(max=self.vocabulary - 1)  # of score -inf where there are too few words
        return found


def best_candidates(logits: Tensor, count: int) -> Candidates:
    """Exact, in two stages: the words with the best values are in the blocks with the best maxima.

    logits: (R, W), W a multiple of BLOCK; overwritten.
    """
    specials = logits[:, : len(SPECIALS)].clone()
    logits[:, : len(SPECIALS)] = -torch.inf
    blocks = logits.view(len(logits), -1, BLOCK)
    chosen = blocks.amax(dim=2).topk(min(count, blocks.shape[1]), dim=1).indices
    members = blocks.gather(1, chosen[:, :, None].expand(-1, -1, BLOCK)).flatten(1)
    values, places = members.topk(min(count, members.shape[1]), dim=1)
    words = chosen.gather(1, places // BLOCK) * BLOCK + places % BLOCK
    peaks = torch.maximum(values[:, :1], specials.amax(dim=1, keepdim=True))
    masses = specials.sub(peaks).exp_().sum(dim=1).add_(_masses(logits, peaks))
    normaliser = masses.log_().add_(peaks[:, 0])
    specials -= normaliser[:, None]
    values -= normaliser[:, None]
    return Candidates(words, values, specials[:, SEPARATOR], specials[:, END])


def _masses(logits: Tensor, peaks: Tensor) -> Tensor:
    """(R,) sums of exp(logit - peak); overwrites the logits."""
    rows = max(1, SLICE_ELEMENTS // logits.shape[1])
    masses = logits.new_empty(len(logits))
    for start in range(0, len(logits), rows):
        part = slice(start, start + rows)
        torch.sum(logits[part].sub_(peaks[part]).exp_(), dim=1, out=masses[part])
    return masses
