"""Beam search over a batch of windows: their best translations, with the score of every token.

A step computes what teacher forcing would. The rule is fairseq's: a hypothesis is finished when its
`<end>` is among the best `beam` candidates, and a window when `beam` hypotheses are, or when no
other can be among those that are wanted. With `stop: best` it is that of transformers: a full beam
takes in better hypotheses until none is in sight. With `stop: narrow` it is that of Marian: every
finished hypothesis takes a place of the beam. When windows are done, others take their place,
or the batch gets smaller. Does not know text or documents.

Shapes: B windows in the batch, H beams (1 at the first step), D dimensions.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from concatmt.corpus.batch import side_from_lists
from concatmt.decoding.beams import Beams, Choice, Inputs
from concatmt.decoding.boundaries import Boundaries, Free
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.errors import UserError
from concatmt.text.vocabulary import SEPARATOR

FIRST_STEPS = 48  # for which the cache has room at first
LEAVE_TOGETHER = 0.125  # share of the windows in a batch that must be finished for them to leave it
JOIN_TOGETHER = 0.25  # share of the windows that must wait for their place to be given to others
CERTAINTY = 1e-5  # by how much a score must be out of reach: log-probs are rounded

# Is given the number of a window that is done and its translations, best first; the window that
# comes after it, if there is one, has the next number.
Follow = Callable[[int, list[Hypothesis]], Window | None]


class Search:
    """Windows, searched side by side."""

    def __init__(
        self,
        engine: Engine,
        windows: Sequence[Window],
        config: SearchConfig,
        wanted: int | None = None,
        follow: Follow | None = None,
    ) -> None:
        """`wanted`: so many of the best hypotheses are asked for, by default the whole beam.

        They are the same for any number, but for `stop: likely`: a search ends as soon as they are
        certain (`stop: best` always fills its beam). With `follow`, windows that are done are
        handed to it instead of being kept, and others may come.
        """
        if config.beam > engine.candidate_limit:
            size = engine.config.target_vocabulary
            raise UserError(f"beam {config.beam}: larger than the model's vocabulary of {size}")
        self.engine, self.config, self.follow = engine, config, follow
        self.windows, self.waiting = list(windows), list[Window]()
        self.wanted = min(wanted or config.beam, config.beam)
        self.finished: list[list[Hypothesis]] = [[] for _ in windows]
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

    @torch.inference_mode()
    def run(self) -> list[list[Hypothesis]]:
        """The translations of each window, best first."""
        inputs = self._begin()
        while True:
            inputs = self._renew(inputs)
            if any(self.beams.live):
                inputs = self._go_on(self._step(inputs))
            elif not self.waiting:
                break
        self.beams.cache.release()
        return self.finished

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, device=self.engine.device)

    def _limits(self, window: Window) -> list[int]:
        """The most tokens of each sentence, or of the window."""
        factor, constant = self.config.length_factor, self.config.length_constant
        if not self.config.constrained:
            return [int(factor * window.cost) + constant]
        return [int(factor * len(sentence)) + constant for sentence in window.source]

    def _begin(self) -> Inputs:
        """Run the source through the encoder, the start and what is forced through the decoder.

        Without padding, and once for all beams; then choose the first free token.
        """
        source = side_from_lists([window.source for window in self.windows])
        memory = self.engine.encode(source, self.boundaries.sentences)
        start = self.engine.config.architecture.start_token
        inputs = [_forced_inputs(window, start) for window in self.windows]
        tokens, segments = zip(*inputs, strict=True)
        lengths = [len(row) - 1 for row in tokens]  # the last one is fed as a step
        cache = self.engine.cache(max(lengths) + self.config.beam * FIRST_STEPS)
        if any(lengths):
            row = [
                self._tensor([[i for of in rows for i in of[:-1]]]) for rows in (tokens, segments)
            ]
            self.engine.fill(row[0], row[1], lengths, memory, cache)
        self.beams = Beams(self.boundaries, memory.padded(), cache, lengths)
        last = [self._tensor([[of[-1]] for of in rows]) for rows in (tokens, segments)]
        return self._go_on(self._step(Inputs(last[0], last[1])))

    def _step(self, inputs: Inputs) -> Tensor:
        """Feed the chosen tokens; hidden states (B, H, D) that predict the next."""
        beams, t = self.beams, self.beams.feed()
        return self.engine.decode(
            inputs.tokens, t, inputs.segments, beams.memory, beams.cache, beams.visible
        )

    def _go_on(self, hidden: Tensor) -> Inputs:
        """Choose by hidden states (B, H, D), take out what is finished, and follow the rest."""
        choice = self.choose(hidden)
        self._finish(choice)
        return self.beams.follow(choice)

    def choose(self, hidden: Tensor) -> Choice:
        """What to continue (B, H, D) hidden states with."""
        windows, beams, _ = hidden.shape
        beam, sums = self.config.beam, self.beams.scores
        candidates = self.engine.candidates(hidden.flatten(0, 1), beam)
        allowed = self.boundaries.allowed()
        words = candidates.scores.view(windows, beams, -1)
        words = words.masked_fill(~allowed.words[:, :, None], -torch.inf)
        separator = candidates.separator.view(windows, beams, 1)
        separator = separator.masked_fill(~allowed.separator[:, :, None], -torch.inf)
        # (B, H, beam + 1): the best words, and last the separator.
        options = torch.cat([words, separator], dim=2) + sums[:, :, None]
        ids = F.pad(candidates.words.view(windows, beams, -1), (0, 1), value=SEPARATOR)
        scores, places = options.flatten(1).topk(beam, dim=1)
        ends = candidates.end.view(windows, beams).masked_fill(~allowed.end, -torch.inf)
        ends = ends + sums
        # How many candidates are better than each <end>: other words, and the <end> of others.
        better = (scores[:, None, :] > ends[:, :, None]).sum(2)
        better += (ends[:, None, :] > ends[:, :, None]).sum(2)
        if self.config.stop == "narrow":
            places_left = self._places_left()
            ends = ends.masked_fill_(better >= places_left, -torch.inf)
            going_on = places_left - ends.isfinite().sum(1, keepdim=True)
            scores = scores.masked_fill(self._tensor(range(beam)) >= going_on, -torch.inf)
        else:
            ends = ends.masked_fill_(better >= beam, -torch.inf)
        return Choice(places // options.shape[2], ids.flatten(1).gather(1, places), scores, ends)

    def _places_left(self) -> Tensor:
        """(B, 1) how many hypotheses each window still looks for."""
        finished = (self.finished[window] for window in self.beams.windows)
        return self._tensor([[self.config.beam - len(of)] for of in finished])

    def _finish(self, choice: Choice) -> None:
        """Take out the hypotheses that end here, best first, and windows that are done."""
        live = self.beams.live
        rows, beams = choice.ends.isfinite().nonzero(as_tuple=True)
        totals = choice.ends[rows, beams]
        order = totals.argsort(descending=True)
        found = (values[order].tolist() for values in (rows, beams, totals))
        for row, beam, total in zip(*found, strict=True):
            finished = self.finished[self.beams.windows[row]]
            if live[row] and (len(finished) < self.config.beam or self.config.stop == "best"):
                finished.append(self._hypothesis(row, beam, total))
        for row, peak in enumerate(choice.scores.amax(dim=1).tolist()):
            if live[row] and self._decided(row, peak):
                live[row] = False
                self._hand_over(self.beams.windows[row])

    def _decided(self, row: int, peak: float) -> bool:
        """Whether nothing more can come in: the beam is full, or too far behind.

        `peak` is the best sum of log-probs that goes on. Sums only fall, so a hypothesis that goes
        on has at best the score of that sum at one of the lengths that are possible. That it would
        be the same sum at a much greater length is possible, but not likely.
        """
        window = self.beams.windows[row]
        finished = self.finished[window]
        if peak == -torch.inf:
            return True
        if self.config.stop == "best":
            return self._best_found(row, finished, peak)
        if len(finished) >= self.config.beam:
            return True
        if len(finished) < self.wanted:
            return False
        bar = sorted(hypothesis.score for hypothesis in finished)[-self.wanted]
        lengths = [self.beams.length(row) + 2]
        if self.config.stop != "likely":
            lengths.append(self.longest[window])
        best = max(peak / float(length) ** self.config.length_penalty for length in lengths)
        return bool(best < bar - CERTAINTY)

    def _best_found(self, row: int, finished: list[Hypothesis], peak: float) -> bool:
        """Whether a full beam is better than what goes on, by transformers' rule.

        There the best sum that goes on is divided by its own length, without an `<end>`.
        """
        finished.sort(key=_by_score)
        del finished[self.config.beam :]
        if len(finished) < self.config.beam:
            return False
        length = self.beams.length(row) + 1
        return bool(peak / float(length) ** self.config.length_penalty <= finished[-1].score)

    def _hand_over(self, window: int) -> None:
        """What was found for a window, best first, to those who wait for it."""
        found = self.finished[window]
        found.sort(key=_by_score)
        del found[self.config.beam :]
        if self.follow is not None:
            self.finished[window] = []
            following = self.follow(window, found)
            self.waiting += [] if following is None else [following]

    def _hypothesis(self, row: int, beam: int, total: float) -> Hypothesis:
        beams, start = self.beams, self.beams.starts[row]
        sums = [0.0, *beams.sums[row, beam, start:].tolist(), total]
        log_probs = [after - before for before, after in pairwise(sums)]
        score = total / len(log_probs) ** self.config.length_penalty
        return Hypothesis(beams.tokens[row, beam, start:].tolist(), log_probs, score)

    def _renew(self, inputs: Inputs) -> Inputs:
        """Give the rows of windows that are done to those that wait, and let the others leave.

        Either is worth its price only for enough rows together.
        """
        live = self.beams.live
        done = [row for row, alive in enumerate(live) if not alive]
        enough = len(self.waiting) >= JOIN_TOGETHER * len(live)
        if self.waiting and (enough or len(done) == len(live)):
            inputs = self._admit(done[: len(self.waiting)], inputs)
            done = [row for row, alive in enumerate(live) if not alive]
        spare = set(done[len(self.waiting) :])
        if max(1, LEAVE_TOGETHER * len(live)) <= len(spare) < len(live):
            rows = [row for row in range(len(live)) if row not in spare]
            self.beams.select(rows)
            inputs = Inputs(*(part[rows] for part in inputs))
        return inputs

    def _admit(self, rows: list[int], inputs: Inputs) -> Inputs:
        """Begin with the windows that wait, and put them into `rows`."""
        others = type(self)(self.engine, self.waiting, self.config, self.wanted)
        theirs = others._begin()
        first, at = len(self.windows), self._tensor(rows)
        self._take(others)
        self.beams.put(rows, others.beams, first)
        others.beams.cache.release()
        for window, alive in enumerate(others.beams.live, first):
            if not alive:
                self._hand_over(window)
        return Inputs(
            *(mine.index_copy(0, at, its) for mine, its in zip(inputs, theirs, strict=True))
        )

    def _take(self, others: "Search") -> None:
        """What is known of the windows of another search."""
        self.waiting = []
        self.windows += others.windows
        self.finished += others.finished
        self.longest += others.longest


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
