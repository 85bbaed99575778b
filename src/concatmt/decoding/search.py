"""A running search: rows of hypotheses that grow token by token; windows join and leave.

A step computes what teacher forcing would. A strategy chooses the tokens
(`strategies`), and `stopping` decides when a window is done. Then another window takes its
row, whatever step the others are at, or the batch gets smaller. Does not know text, documents, or
whose windows they are.

Shapes: B rows in the batch, H beams (1 at the first step), D dimensions.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

import torch
from torch import Tensor

from concatmt.corpus.batch import side_from_lists
from concatmt.decoding.beams import Beams, Choice, Inputs, Row
from concatmt.decoding.boundaries import Boundaries, Free
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.stopping import is_decided
from concatmt.decoding.strategies import BeamSearch, Sampling, Strategy
from concatmt.errors import UserError
from concatmt.text.vocabulary import SEPARATOR

FIRST_STEPS = 48  # steps that the cache has room for at first
LEAVE_TOGETHER = 0.125  # share of the rows that must be free before they leave the batch


class Search:
    """Searches windows side by side."""

    def __init__(
        self,
        engine: Engine,
        config: SearchConfig,
        rule: type[Boundaries] | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        """`rule` says what may come next, `strategy` chooses it; by default as configured."""
        if config.beam > engine.candidate_limit:
            size = engine.config.target_vocabulary
            raise UserError(f"beam {config.beam}: larger than the model's vocabulary of {size}")
        self.engine, self.config = engine, config
        self.rule = rule or (Boundaries if config.constrained else Free)
        kind = Sampling if config.sample else BeamSearch
        self.strategy: Strategy = strategy or kind(engine, config)
        self.steps = 0
        self.beams: Beams | None = None
        self.inputs: Inputs  # of the next step, one for each row of `beams`

    @property
    def rows(self) -> int:
        """Rows that a step computes."""
        return 0 if self.beams is None else len(self.beams.rows)

    @property
    def live(self) -> int:
        """Rows whose windows are still being searched."""
        return 0 if self.beams is None else sum(row.live for row in self.beams.rows)

    def run(
        self, windows: Sequence[Window], wanted: Sequence[int | None] | None = None
    ) -> list[list[Hypothesis]]:
        """The translations of each window, best first; `wanted` as in `join`."""
        rows = self.join(windows, wanted or [None] * len(windows))
        while self.live:
            self.leave()
            self.step()
        self.close()
        return [row.finished for row in rows]

    @torch.inference_mode()
    def join(self, windows: Sequence[Window], wanted: Sequence[int | None]) -> list[Row]:
        """Put windows into free or new rows; returns those that are done at once.

        `wanted`: how many of the best hypotheses of each are asked for; None: the whole beam. They
        are the same for any number, except with `stop: likely`: a search ends as soon as they are
        certain (`stop: best` always fills its beam).
        """
        beam = self.config.beam
        rows = []
        for window, of_window in zip(windows, wanted, strict=True):
            # All draws are wanted: a later one may be better, whatever its sum.
            count = beam if self.config.sample else min(of_window or beam, beam)
            rows.append(Row(window, count, self._longest(window)))
        beams, inputs = self._begin(rows)
        if self.beams is None:
            self.beams, self.inputs = beams, inputs
            return rows
        self._make_room(len(rows))
        free = self.beams.free[: len(rows)]
        at = self._tensor(free)
        self.beams.put(free, beams)
        beams.cache.release()
        pairs = zip(self.inputs, inputs, strict=True)
        self.inputs = Inputs(*(mine.index_copy(0, at, its) for mine, its in pairs))
        return rows

    @torch.inference_mode()
    def step(self) -> list[Row]:
        """Add a token to every row; returns the rows that are done, hypotheses best first."""
        assert self.beams is not None
        self.steps += 1
        self.inputs, done = self._advance(self.beams, self.inputs)
        return done

    @torch.inference_mode()
    def leave(self, kept: int = 0) -> None:
        """Remove free rows from the batch, except `kept`, once enough of them are free."""
        if self.beams is None:
            return
        spare = set(self.beams.free[kept:])
        if max(1, LEAVE_TOGETHER * self.rows) <= len(spare) < self.rows:
            self._select([place for place in range(self.rows) if place not in spare])

    def close(self) -> None:
        """Release the memory and drop all windows."""
        if self.beams is not None:
            self.beams.cache.release()
            self.beams = None

    def _make_room(self, count: int) -> None:
        """Make sure that there are at least `count` free rows."""
        assert self.beams is not None
        rows = self.beams.rows
        missing = count - len(self.beams.free)
        if missing > 0:
            # Copies of the first row, without a window.
            self._select([*range(len(rows)), *[0] * missing])
            nobody = Window([[SEPARATOR]])
            self.beams.rows[-missing:] = [Row(nobody, 0, 0, live=False) for _ in range(missing)]

    def _select(self, places: list[int]) -> None:
        assert self.beams is not None
        self.beams.select(places)
        self.inputs = Inputs(*(part[places] for part in self.inputs))

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, device=self.engine.device)

    def _limits(self, window: Window) -> list[int]:
        """The most tokens of each sentence, or of the window."""
        factor, constant = self.config.length_factor, self.config.length_constant
        if not self.config.constrained:
            return [int(factor * window.cost) + constant]
        return [int(factor * len(sentence)) + constant for sentence in window.source]

    def _longest(self, window: Window) -> int:
        """Tokens of the longest possible hypothesis, boundaries included."""
        limits = self._limits(window)
        if self.config.constrained:
            limits = limits[len(window.forced) :]
        return sum(limits) + len(limits)

    def _begin(self, rows: Sequence[Row]) -> tuple[Beams, Inputs]:
        """Run the source through the encoder, and the start and forced tokens through the decoder.

        Without padding, and once for all beams; then choose the first free token.
        """
        windows = [row.window for row in rows]
        sentences = self._tensor([len(window.source) for window in windows])
        given = self._tensor([len(window.forced) for window in windows])
        limits = self._tensor(_padded([self._limits(window) for window in windows], 1))
        boundaries = self.rule.start(sentences, limits, given)
        source = side_from_lists([window.source for window in windows])
        memory = self.engine.encode(source, sentences)
        start = self.engine.config.architecture.start_token
        forced = [_forced_inputs(window, start) for window in windows]
        tokens, segments = zip(*forced, strict=True)
        lengths = [len(row) - 1 for row in tokens]  # the last one is fed as a step
        cache = self.engine.cache(max(lengths) + self.config.beam * FIRST_STEPS)
        if any(lengths):
            row = [
                self._tensor([[i for of in rows for i in of[:-1]]]) for rows in (tokens, segments)
            ]
            self.engine.fill(row[0], row[1], lengths, memory, cache)
        beams = Beams(rows, boundaries, memory.padded(), cache, lengths)
        last = [self._tensor([[of[-1]] for of in rows]) for rows in (tokens, segments)]
        inputs, _ = self._advance(beams, Inputs(last[0], last[1]))
        return beams, inputs

    def _advance(self, beams: Beams, inputs: Inputs) -> tuple[Inputs, list[Row]]:
        """Feed the chosen tokens, choose the next ones, take out finished hypotheses."""
        t = beams.feed()
        hidden = self.engine.decode(
            inputs.tokens, t, inputs.segments, beams.memory, beams.cache, beams.visible
        )
        choice = self.strategy.choose(beams, hidden)
        done = self._finish(beams, choice)
        return beams.follow(choice), done

    def _finish(self, beams: Beams, choice: Choice) -> list[Row]:
        """Take out the hypotheses that end here, best first; returns rows that are done."""
        # Synchronise with the device once per step.
        peaks = choice.scores.amax(dim=1, keepdim=True)
        values = torch.cat([choice.ends, peaks], dim=1).tolist()
        hypotheses = [
            (place, beam, total)
            for place, (*ends, _) in enumerate(values)
            for beam, total in enumerate(ends)
            if math.isfinite(total)
        ]
        for place, beam, total in sorted(hypotheses, key=itemgetter(2), reverse=True):
            row = beams.rows[place]
            room = len(row.finished) < self.config.beam or self.config.stop == "best"
            if row.live and room:
                row.finished.append(self._hypothesis(beams, place, beam, total))
        done = []
        for row, (*_, peak) in zip(beams.rows, values, strict=True):
            if row.live and is_decided(self.config, row, beams.length(row), peak):
                row.live = False
                row.finished.sort(key=_by_score)
                del row.finished[self.config.beam :]
                done.append(row)
        return done

    def _hypothesis(self, beams: Beams, place: int, beam: int, total: float) -> Hypothesis:
        start = beams.rows[place].start
        sums = [0.0, *beams.sums[place, beam, start:].tolist(), total]
        log_probs = [after - before for before, after in pairwise(sums)]
        score = total / len(log_probs) ** self.config.length_penalty
        return Hypothesis(beams.tokens[place, beam, start:].tolist(), log_probs, score)


def _by_score(hypothesis: Hypothesis) -> float:
    return -hypothesis.score


def _padded(rows: Sequence[list[int]], value: int) -> list[list[int]]:
    longest = max(map(len, rows))
    return [row + [value] * (longest - len(row)) for row in rows]


def _forced_inputs(window: Window, start: int) -> tuple[list[int], list[int]]:
    """The decoder's start and the forced sentences, with the segment of each token."""
    tokens, segments = [start], [1]
    for place, sentence in enumerate(window.forced):
        tokens += [*sentence, SEPARATOR]
        segments += [len(window.source) - place] * (len(sentence) + 1)
    return tokens, segments
