"""Finds the best next tokens of every hypothesis without a full log-softmax or sort.

Words are ranked separately from the two boundary tokens, which `boundaries` rules; padding
and `<unk>` never appear. Internally logits are in bits: the softmax then uses powers of 2, which
are faster than powers of e. Does not know hypotheses, windows or models.

Shapes: R rows (hypotheses), D model dimension, V vocabulary, W its size padded to whole blocks.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

BLOCK = 64  # tokens whose maximum is computed first
LOGITS_AT_A_TIME = 1 << 22  # when given tokens are scored
LOG2_E = math.log2(math.e)
LN_2 = math.log(2)
SLICE_ELEMENTS = 1 << 18  # logits normalised at a time, few enough to stay in the cache
# Within this many bits, sums of powers of 2 neither overflow nor lose digits. Trained
# models stay far within; only beyond that must the largest logit be subtracted first.
SAFE_BITS = 64


class Candidates(NamedTuple):
    """Log-probabilities of what may come next."""

    words: Tensor  # (R, count) int64, best first; fewer if the vocabulary is tiny
    scores: Tensor  # (R, count); -inf where there is no such word
    separator: Tensor  # (R,)
    end: Tensor  # (R,)


class Output(Protocol):
    """An output layer, in float32 or int8."""

    def __call__(self, x: Tensor) -> Tensor:
        """(R, D) -> (R, W) logits, valid until this thread's next call."""

    def parts(self, x: Tensor) -> tuple[Iterator[Tensor], Tensor | None]:
        """The logits in parts, and the factors of the rows (R, 1) to multiply them by, if any.

        Their widths are multiples of BLOCK, and they may be overwritten.
        """


class Projection:
    """Hidden states -> candidates, by the model's output layer."""

    def __init__(
        self, weight: Tensor, bias: Tensor | None, pack: Callable[[Tensor, Tensor | None], Output]
    ) -> None:
        """weight: (V, D); bias: (V,); `pack` makes a layer of them."""
        self.vocabulary = len(weight)
        self.padding = -self.vocabulary % BLOCK
        if bias is not None:
            bias = F.pad(bias * LOG2_E, (0, self.padding))
        self.linear = pack(F.pad(weight * LOG2_E, (0, 0, 0, self.padding)), bias)

    def logits(self, hidden: Tensor) -> Tensor:
        """(R, D) -> (R, V), in nats."""
        return self.linear(hidden)[:, : self.vocabulary] * LN_2

    def log_probs(self, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """(E,) log-probabilities of `tokens` (E,), each under the hidden state in its row.

        hidden: (R, D), processed in slices; rows: (E,) ascending, several tokens may share one, on
        the host.
        """
        size = max(1, LOGITS_AT_A_TIME // self.vocabulary)
        starts = torch.arange(0, len(hidden) + size, size)
        edges = torch.searchsorted(rows, starts).tolist()
        scores = hidden.new_empty(len(rows))
        for number, part in enumerate(torch.split(hidden, size)):
            of_part = slice(edges[number], edges[number + 1])
            at = (rows[of_part] - number * size).to(hidden.device)
            bits = self._bits(part)
            hits = bits[at, tokens[of_part]] * LN_2
            # On a device, the host would have to wait to know whether it is needed.
            careful = bits.device.type != "cpu"
            masses = bits.new_empty(0) if careful else _log_masses(bits)
            if careful or not masses.abs().max() < SAFE_BITS * LN_2:  # or not a number
                bits = bits if careful else self._bits(part)
                masses = _log_masses(bits, bits.amax(dim=1, keepdim=True))
            scores[of_part] = hits - masses[at]
        return scores

    def _bits(self, hidden: Tensor) -> Tensor:
        """(R, D) -> (R, W), -inf beyond the vocabulary; valid until this thread's next call."""
        bits = self.linear(hidden)
        bits[:, self.vocabulary :] = -torch.inf
        return bits

    def __call__(self, hidden: Tensor, count: int) -> Candidates:
        """The `count` best words of each row, and its boundaries."""
        parts, factors = self.linear.parts(hidden)
        best = best_candidates(self._without_padding(parts), count, factors)
        best.words.clamp_(max=self.vocabulary - 1)  # of score -inf where there are too few words
        return best

    def _without_padding(self, parts: Iterable[Tensor]) -> Iterator[Tensor]:
        """The last part with -inf beyond the vocabulary."""
        end = 0
        for part in parts:
            end += part.shape[1]
            if end > self.vocabulary:
                part[:, -self.padding :] = -torch.inf
            yield part


def best_candidates(
    parts: Iterable[Tensor], count: int, factors: Tensor | None = None
) -> Candidates:
    """Exact, in stages: the best words are in the blocks with the best maxima.

    parts: logits in bits (R, a multiple of BLOCK) of consecutive tokens, overwritten; the true ones
    are `factors` (R, 1) times as large.
    """
    blocks = 0
    maxima, numbers, members, masses = [], [], [], []
    for part in parts:
        if not blocks:
            specials = part[:, : len(SPECIALS)].clone()
            part[:, : len(SPECIALS)] = -torch.inf
        of_part = part.view(len(part), -1, BLOCK)
        best, chosen = of_part.amax(dim=2).topk(min(count, of_part.shape[1]), dim=1)
        maxima.append(best)
        numbers.append(chosen + blocks)
        members.append(of_part.gather(1, chosen[:, :, None].expand(-1, -1, BLOCK)))
        peaks = best[:, :1]
        if not blocks:
            part[:, : len(SPECIALS)] = specials
            peaks = torch.maximum(peaks, specials.amax(dim=1, keepdim=True))
        masses.append(_log_masses(part, None if _harmless(peaks, factors) else peaks, factors))
        blocks += of_part.shape[1]
    places = torch.cat(maxima, dim=1).topk(min(count, blocks), dim=1).indices
    chosen = torch.cat(numbers, dim=1).gather(1, places)
    finalists = torch.cat(members, dim=1).gather(1, places[:, :, None].expand(-1, -1, BLOCK))
    finalists = finalists.flatten(1)
    values, places = finalists.topk(min(count, finalists.shape[1]), dim=1)
    words = chosen.gather(1, places // BLOCK) * BLOCK + places % BLOCK
    scales = LN_2 if factors is None else factors * LN_2
    values, specials = values * scales, specials * scales
    normaliser = torch.stack(masses, dim=1).logsumexp(dim=1, keepdim=True)
    specials -= normaliser
    return Candidates(words, values - normaliser, specials[:, SEPARATOR], specials[:, END])


def _harmless(peaks: Tensor, factors: Tensor | None) -> bool:
    """Whether powers of 2 of the logits can be added up as they are.

    Not checked on a device: the host would have to wait for the answer.
    """
    if peaks.device.type != "cpu":
        return False
    return bool((peaks if factors is None else peaks * factors).abs().max() < SAFE_BITS)


def _log_masses(bits: Tensor, peaks: Tensor | None = None, factors: Tensor | None = None) -> Tensor:
    """(R,) natural logarithms of the sums of 2^(logit * factor); overwrites the logits.

    peaks: (R, 1) the largest logit of each row, subtracted first; with None the result
    is only valid within SAFE_BITS.
    """
    rows = max(1, SLICE_ELEMENTS // bits.shape[1])
    masses = bits.new_empty(len(bits))
    for start in range(0, len(bits), rows):
        part = slice(start, start + rows)
        x = bits[part]
        if peaks is not None:
            x.sub_(peaks[part])
        if factors is not None:
            x.mul_(factors[part])
        torch.sum(x.exp2_(), dim=1, out=masses[part])
    masses.log2_()
    if peaks is not None:
        masses.add_((peaks if factors is None else peaks * factors)[:, 0])
    return masses.mul_(LN_2)
