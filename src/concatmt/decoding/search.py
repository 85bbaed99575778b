"""Beam search over a batch of windows: their best translations, with the score of every token.

Position t and segment k travel with each hypothesis, so a step computes what teacher forcing would.
Keys and values of all beams of a window stand in one slab that only grows: which columns a
hypothesis descends from is a mask, and nothing is copied when beams are reordered. The rule is
fairseq's: a hypothesis is finished when its `<end>` is among the best `beam` candidates, and a
window when `beam` hypotheses are, or when no other can be among those that are wanted. Does not
know text or documents.

Shapes: B windows still searched, H beams (1 at the first step), C cached columns, D dimensions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from concatmt.corpus.batch import side_from_lists
from concatmt.decoding.boundaries import Boundaries, Free
from concatmt.decoding.engine import Engine
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.packing import real_tokens
from concatmt.settings import Settings
from concatmt.text.vocabulary import END, SEPARATOR

FIRST_STEPS = 48  # for which the cache has room at first
LEAVE_TOGETHER = 0.125  # share of the windows in a batch that must be finished for them to leave it
TIDY_STEPS = 8  # after which columns that nobody sees any more are looked for
TIDY_SHARE = 0.75  # of the columns, above which they stay as they are
CERTAINTY = 1e-5  # by how much a score must be out of reach: log-probs are rounded

Sentence = Sequence[int]  # token ids without separator


class SearchConfig(Settings):
    """How translations are searched for."""

    beam: Annotated[int, Field(ge=1, le=1024)] = 4
    length_penalty: Annotated[float, Field(allow_inf_nan=False)] = 0.6
    constrained: bool = True  # the number of sentences is a constraint
    # The longest translation: factor * source tokens + constant, for each sentence when
    # constrained, else for the whole window.
    length_factor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0
    length_constant: Annotated[int, Field(ge=1)] = 20
    sample: bool = False  # draw `beam` translations instead of searching the best
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    seed: int = 1


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


class Choice(NamedTuple):
    """One step of a search: what continues, and what ends."""

    parents: Tensor  # (B, beam) which hypothesis each beam continues
    tokens: Tensor  # (B, beam) with what
    scores: Tensor  # (B, beam) its sum of log-probs, -inf where nothing is left
    ends: Tensor  # (B, H) the sum with <end> of hypotheses that are finished, else -inf


class Search:
    """The state of a search; its rows are windows, until enough of them are finished to leave."""

    def __init__(
        self,
        engine: Engine,
        windows: Sequence[Window],
        config: SearchConfig,
        wanted: int | None = None,
    ) -> None:
        """`wanted`: so many of the best hypotheses are asked for, by default the whole beam.

        They are the same for any number; a search ends as soon as they are certain.
        """
        self.engine, self.windows, self.config = engine, windows, config
        self.wanted = min(wanted or config.beam, config.beam)
        self.finished: list[list[Hypothesis]] = [[] for _ in windows]
        self.rows = list(range(len(windows)))  # which window a row is
        self.live = [True] * len(windows)  # whether a row is still searched
        sentences = self._tensor([len(window.source) for window in windows])
        given = self._tensor([len(window.forced) for window in windows])
        rule = Boundaries if config.constrained else Free
        limits = [self._limits(window) for window in windows]
        self.boundaries = rule.start(sentences, self._tensor(_padded(limits, 1)), given)
        # Tokens of the longest hypothesis there can be, with its boundaries.
        if config.constrained:
            limits = [
                row[len(window.forced) :] for row, window in zip(limits, windows, strict=True)
            ]
        self.longest = [sum(row) + len(row) for row in limits]
        empty = self._tensor([[[]]] * len(windows))
        self.tokens = empty.long()  # (B, H, steps)
        self.sums = empty  # (B, H, steps) sums of log-probs up to each token
        self.scores = self._tensor([[0.0]] * len(windows))  # (B, H) the last of them

    @torch.inference_mode()
    def run(self) -> list[list[Hypothesis]]:
        """The translations of each window, best first."""
        hidden = self._prefill()
        while True:
            choice = self.choose(hidden)
            self._finish(choice)
            if not any(self.live):
                break
            tokens, segments = self._continue(choice)
            hidden = self._step(tokens, segments)
        self.cache.release()
        for hypotheses in self.finished:
            hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
        return self.finished

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, device=self.engine.device)

    def _limits(self, window: Window) -> list[int]:
        """The most tokens of each sentence, or of the window."""
        factor, constant = self.config.length_factor, self.config.length_constant
        if not self.config.constrained:
            return [int(factor * window.cost) + constant]
        return [int(factor * len(sentence)) + constant for sentence in window.source]

    def _prefill(self) -> Tensor:
        """Run the source through the encoder, and `<end>` and what is forced through the decoder.

        Without padding, and once for all beams; returns hidden states (B, 1, D) that predict the
        first free token.
        """
        source = side_from_lists([window.source for window in self.windows])
        memory = self.engine.encode(source, self.boundaries.sentences)
        tokens, segments = zip(*map(_forced_inputs, self.windows), strict=True)
        lengths = [len(row) - 1 for row in tokens]  # the last one is fed as a step
        self.prefix = self._tensor(lengths)
        self.cache = self.engine.cache(max(lengths) + self.config.beam * FIRST_STEPS)
        if any(lengths):
            row = [
                self._tensor([[i for of in rows for i in of[:-1]]]) for rows in (tokens, segments)
            ]
            self.engine.fill(row[0], row[1], lengths, memory, self.cache)
        self.memory = memory.padded()
        self.visible = real_tokens(lengths, self.engine.device)[:, None]  # (B, H, C)
        last = [self._tensor([[of[-1]] for of in rows]) for rows in (tokens, segments)]
        return self._step(last[0], last[1])

    def _step(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Feed the chosen tokens (B, H); hidden states (B, H, D) that predict the next."""
        windows, beams = tokens.shape
        own = torch.eye(beams, dtype=torch.bool, device=self.engine.device)
        self.visible = torch.cat([self.visible, own.expand(windows, -1, -1)], dim=2)
        t = (self.prefix + self.tokens.shape[2])[:, None] + FIRST_POSITION
        return self.engine.decode(tokens, t, segments, self.memory, self.cache, self.visible)

    def choose(self, hidden: Tensor) -> Choice:
        """What to continue (B, H, D) hidden states with."""
        windows, beams, _ = hidden.shape
        beam = self.config.beam
        candidates = self.engine.candidates(hidden.flatten(0, 1), beam)
        allowed = self.boundaries.allowed()
        words = candidates.scores.view(windows, beams, -1)
        words = words.masked_fill(~allowed.words[:, :, None], -torch.inf)
        separator = candidates.separator.view(windows, beams, 1)
        separator = separator.masked_fill(~allowed.separator[:, :, None], -torch.inf)
        # (B, H, beam + 1): the best words, and last the separator.
        options = torch.cat([words, separator], dim=2) + self.scores[:, :, None]
        ids = F.pad(candidates.words.view(windows, beams, -1), (0, 1), value=SEPARATOR)
        scores, places = options.flatten(1).topk(beam, dim=1)
        ends = candidates.end.view(windows, beams).masked_fill(~allowed.end, -torch.inf)
        ends = ends + self.scores
        # How many candidates are better than each <end>: other words, and the <end> of others.
        better = (scores[:, None, :] > ends[:, :, None]).sum(2)
        better += (ends[:, None, :] > ends[:, :, None]).sum(2)
        ends = ends.masked_fill_(better >= beam, -torch.inf)
        return Choice(places // options.shape[2], ids.flatten(1).gather(1, places), scores, ends)

    def _finish(self, choice: Choice) -> None:
        """Take out the hypotheses that end here, best first, and note which windows are done."""
        rows, beams = choice.ends.isfinite().nonzero(as_tuple=True)
        totals = choice.ends[rows, beams]
        order = totals.argsort(descending=True)
        found = (values[order].tolist() for values in (rows, beams, totals))
        for row, beam, total in zip(*found, strict=True):
            finished = self.finished[self.rows[row]]
            if self.live[row] and len(finished) < self.config.beam:
                finished.append(self._hypothesis(row, beam, total))
        peaks = choice.scores.amax(dim=1).tolist()
        for row, (window, peak) in enumerate(zip(self.rows, peaks, strict=True)):
            self.live[row] = self.live[row] and not self._decided(window, peak)

    def _decided(self, window: int, peak: float) -> bool:
        """Whether nothing more can come in: the beam is full, or too far behind.

        `peak` is the best sum of log-probs that goes on. Sums only fall, so a hypothesis that goes
        on has at best the score of that sum at one of the lengths that are possible.
        """
        finished = self.finished[window]
        if len(finished) >= self.config.beam or peak == -torch.inf:
            return True
        if len(finished) < self.wanted:
            return False
        bar = sorted(hypothesis.score for hypothesis in finished)[-self.wanted]
        lengths = self.tokens.shape[2] + 2, self.longest[window]
        best = max(peak / float(length) ** self.config.length_penalty for length in lengths)
        return bool(best < bar - CERTAINTY)

    def _hypothesis(self, row: int, beam: int, total: float) -> Hypothesis:
        sums = [0.0, *self.sums[row, beam].tolist(), total]
        log_probs = [after - before for before, after in pairwise(sums)]
        score = total / len(log_probs) ** self.config.length_penalty
        return Hypothesis(self.tokens[row, beam].tolist(), log_probs, score)

    def _continue(self, choice: Choice) -> tuple[Tensor, Tensor]:
        """Follow the choice, without windows that are done; returns the next inputs (B, H)."""
        parents, tokens, scores, _ = choice
        segments = self.boundaries.follow(parents, tokens)
        live = [row for row, alive in enumerate(self.live) if alive]
        rows = torch.arange(len(self.rows), device=self.engine.device)
        # Leaving means copying what stays: worth it when enough windows leave together.
        if len(live) <= len(self.rows) * (1 - LEAVE_TOGETHER):
            rows = self._tensor(live)
            parents, tokens, scores = parents[rows], tokens[rows], scores[rows]
            segments, self.prefix = segments[rows], self.prefix[rows]
            self.boundaries.select(rows)
            self.memory = self.memory.select(rows)
            self.cache.select(rows)
            self.rows = [self.rows[row] for row in live]
            self.live = [True] * len(live)
        at = rows[:, None], parents
        self.tokens = torch.cat([self.tokens[at], tokens[:, :, None]], dim=2)
        self.sums = torch.cat([self.sums[at], scores[:, :, None]], dim=2)
        self.visible = self.visible[at]
        self.scores = scores
        if self.tokens.shape[2] % TIDY_STEPS == 0:
            self._tidy()
        return tokens, segments

    def _tidy(self) -> None:
        """Throw out columns that no hypothesis descends from, if that makes a difference."""
        seen = self.visible.any(dim=1)  # (B, C)
        width = int(seen.sum(dim=1).max())
        if width > TIDY_SHARE * seen.shape[1]:
            return
        columns = seen.long().argsort(dim=1, descending=True, stable=True)[:, :width]
        self.cache.keep(columns)
        self.visible = self.visible.gather(2, columns[:, None].expand(-1, self.config.beam, -1))


def _padded(rows: Sequence[list[int]], value: int) -> list[list[int]]:
    longest = max(map(len, rows))
    return [row + [value] * (longest - len(row)) for row in rows]


def _forced_inputs(window: Window) -> tuple[list[int], list[int]]:
    """`<end>` and the forced sentences, with the segment of each token."""
    tokens, segments = [END], [1]
    for place, sentence in enumerate(window.forced):
        tokens += [*sentence, SEPARATOR]
        segments += [len(window.source) - place] * (len(sentence) + 1)
    return tokens, segments
