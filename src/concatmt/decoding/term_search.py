"""A search with a glossary: a hypothesis must have one form of each term before it may end.

The beam is shared among hypotheses that have come equally far with their terms, as in dynamic beam
allocation (Post and Vilar, 2018), so that those that already have a term do not push out those
that will have it in a better place. Continuations of a form are always candidates.

Shapes: B rows, H beams (1 at the first step), D dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from concatmt.decoding.beams import Beams, Choice
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.text.vocabulary import SEPARATOR

Forms = tuple[tuple[int, ...], ...]  # of one term, as tokens


class Progress(NamedTuple):
    """How far a hypothesis is with its terms."""

    met: int  # terms that it has
    begun: int  # tokens so far of an incomplete form
    # What starts or continues a form of a missing term: terms met and tokens begun after it.
    next: Mapping[int, tuple[int, int]]

    def after(self, token: int) -> tuple[int, int]:
        """Terms met and tokens begun after another token."""
        return self.next.get(token, (self.met, 0))


NOWHERE = Progress(0, 0, {})


def progress(tokens: Sequence[int], terms: Sequence[Forms]) -> Progress:
    """How far a translation is with its terms."""
    missing = [forms for forms in terms if not any(_has(tokens, form) for form in forms)]
    met, begun = len(terms) - len(missing), 0
    # By token: which missing terms it leads on, to how many tokens of how many.
    leads: dict[int, list[tuple[int, int, int]]] = {}
    for number, forms in enumerate(missing):
        for form in forms:
            for length in range(len(form)):
                if not length or tuple(tokens[-length:]) == form[:length]:
                    begun = max(begun, length)
                    leads.setdefault(form[length], []).append((number, length + 1, len(form)))
    after = {}
    for token, led in leads.items():
        done = {number for number, length, size in led if length == size}
        rest = (length for number, length, _ in led if number not in done)
        after[token] = met + len(done), max(rest, default=0)
    return Progress(met, begun, after)


def _has(tokens: Sequence[int], form: tuple[int, ...]) -> bool:
    size = len(form)
    if form[0] not in tokens:
        return False
    return any(tuple(tokens[at : at + size]) == form for at in range(len(tokens) - size + 1))


class _Option(NamedTuple):
    score: float
    parent: int
    token: int


class TermSearch:
    """Chooses the next tokens of windows that have terms."""

    def __init__(self, engine: Engine, config: SearchConfig) -> None:
        self.engine, self.config = engine, config

    def choose(self, beams: Beams, hidden: Tensor) -> Choice:
        """Choose continuations, given hidden states (B, H, D)."""
        windows, given, _ = hidden.shape
        flat = hidden.flatten(0, 1)
        candidates = self.engine.candidates(flat, self.config.beam)
        allowed = beams.boundaries.allowed()
        last = beams.boundaries.separators == beams.boundaries.sentences[:, None] - 1
        sofar = [
            [self._progress(beams, row, beam, bool(last[row, beam])) for beam in range(given)]
            for row in range(windows)
        ]
        aimed = self._aimed(flat, sofar)
        words, scores = candidates.words.tolist(), candidates.scores.tolist()
        separators, ends = candidates.separator.tolist(), candidates.end.tolist()
        sums = beams.scores.tolist()
        parents, tokens, totals = [], [], []
        finished = torch.full((windows, given), -torch.inf)
        for row in range(windows):
            options: list[_Option] = []
            for beam in range(given):
                place, before = row * given + beam, sums[row][beam]
                next_tokens = aimed.get(place, {})
                if allowed.words[row, beam]:
                    next_tokens = {
                        **dict(zip(words[place], scores[place], strict=True)),
                        **next_tokens,
                    }
                else:
                    next_tokens = {}
                if allowed.separator[row, beam]:
                    next_tokens = {**next_tokens, SEPARATOR: separators[place]}
                options += [_Option(before + s, beam, token) for token, s in next_tokens.items()]
            terms = beams.rows[row].window.terms
            options = [option for option in options if option.score > -torch.inf]
            chosen, rivals, share = self._shared(options, sofar[row], len(terms))
            for beam in range(given):
                # A hypothesis that lacks a term may end only where nothing else is possible.
                whole = sofar[row][beam].met == len(terms) or not allowed.words[row, beam]
                total = sums[row][beam] + ends[row * given + beam]
                # As usual an end must be among the best, here among those with all terms.
                better = sum(option.score > total for option in rivals)
                if allowed.end[row, beam] and whole and better < share:
                    finished[row, beam] = total
            chosen += [_Option(-torch.inf, 0, SEPARATOR)] * (self.config.beam - len(chosen))
            parents.append([option.parent for option in chosen])
            tokens.append([option.token for option in chosen])
            totals.append([option.score for option in chosen])
        device = hidden.device
        return Choice(
            torch.tensor(parents, device=device),
            torch.tensor(tokens, device=device),
            torch.tensor(totals, device=device),
            finished.to(device),
        )

    def _progress(self, beams: Beams, row: int, beam: int, last: bool) -> Progress:
        """The progress of one hypothesis; only the last sentence has terms."""
        if not last or not beams.rows[row].live:
            return NOWHERE
        return progress(self._sentence(beams, row, beam), beams.rows[row].window.terms)

    def _sentence(self, beams: Beams, row: int, beam: int) -> list[int]:
        """The tokens of the last sentence."""
        tokens: list[int] = beams.tokens[row, beam, beams.rows[row].start :].tolist()
        if SEPARATOR in tokens:
            return tokens[len(tokens) - tokens[::-1].index(SEPARATOR) :]
        return tokens

    def _aimed(self, flat: Tensor, sofar: list[list[Progress]]) -> dict[int, dict[int, float]]:
        """Log-probabilities of the tokens that start or continue a form, by hypothesis."""
        wanted = [state.next for of_row in sofar for state in of_row]
        pairs = [(place, token) for place, of in enumerate(wanted) for token in sorted(of)]
        by_place: dict[int, dict[int, float]] = {}
        if pairs:
            rows = torch.tensor([place for place, _ in pairs], device=flat.device)
            tokens = torch.tensor([token for _, token in pairs], device=flat.device)
            scores = self.engine.log_probs(flat, rows, tokens).tolist()
            for (place, token), score in zip(pairs, scores, strict=True):
                by_place.setdefault(place, {})[token] = score
        return by_place

    def _shared(
        self, options: list[_Option], sofar: Sequence[Progress], terms: int
    ) -> tuple[list[_Option], list[_Option], int]:
        """The options to continue, those with all terms, and each group's share of the beam.

        The hypotheses of a group are equally far with their terms.
        """
        banks: dict[tuple[int, int], list[_Option]] = {}
        options.sort(key=lambda option: -option.score)
        for option in options:
            ends = option.token == SEPARATOR
            bank = (0, 0) if ends else sofar[option.parent].after(option.token)
            banks.setdefault(bank, []).append(option)
        size = self.config.beam
        share = max(1, size // max(1, len(banks)))
        chosen = [option for key in sorted(banks, reverse=True) for option in banks[key][:share]]
        chosen = chosen[:size]
        taken = set(chosen)
        rest = (option for option in options if option not in taken)
        chosen += [option for option, _ in zip(rest, range(size - len(chosen)), strict=False)]
        whole = [option for key in banks if key[0] == terms for option in banks[key]]
        return sorted(chosen, key=lambda option: -option.score), whole, share
