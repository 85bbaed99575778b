"""Translates sentence by sentence: makes windows, and turns their hypotheses into text.

Handles the cases that a search cannot: empty sentences stay empty, sentences
beyond the limit are split, copied or refused, a wrong number of sentences is repaired by the chosen
policy, and an empty translation is replaced by the source. Does not know documents or files.
"""

import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from concatmt.corpus.lines import CONTROL
from concatmt.decoding.batches import translate_windows
from concatmt.decoding.clients import Found
from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.glossary import Glossary, Term, token_forms
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.translation import Alternative, History, Report, Translation
from concatmt.errors import UserError
from concatmt.text.pipeline import TextPipeline
from concatmt.text.vocabulary import UNK

MOST_TERMS = 16  # of a sentence, at most, that a search aims at: each takes its share of the beam


@dataclass(frozen=True, slots=True)
class Task:
    """A sentence to translate: text, ids, and windows whose last sentences are its translation.

    Empty or copied sentences have no window, split ones several, all others one.
    """

    sentence: str
    ids: list[int]
    windows: list[Window]
    terms: list[Term] = field(default_factory=list)  # of the glossary


class SentenceTranslator:
    """Translates sentences, given the history of each."""

    def __init__(
        self,
        engine: Engine,
        text: TextPipeline,
        config: TranslateConfig,
        glossary: Glossary | None = None,
    ) -> None:
        self.engine, self.text, self.config = engine, text, config
        self.glossary = glossary

    def task(self, sentence: str, history: History, report: Report) -> Task:
        """What to search for `sentence`."""
        report.sentences += 1
        ids = self.text.source.encode(sentence) if sentence.strip() else []
        report.unknown += ids.count(UNK)
        if not ids:
            return Task(sentence, [], [])
        if len(ids) >= self.config.max_tokens:
            return self._long(sentence, ids, report)
        source, forced = [*history.source, ids], list(history.target)
        before = len(source)
        while sum(map(len, source)) + len(source) > self.config.max_tokens:
            source, forced = source[1:], forced[1:]
        report.trimmed += len(source) < before
        terms = self.glossary.found_in(sentence) if self.glossary else []
        return Task(sentence, ids, [self._window(source, forced)], terms)

    def translate(self, tasks: Sequence[Task], report: Report, threads: int) -> list[Translation]:
        """The translation of each task's sentence; the tasks are independent."""
        windows = [window for task in tasks for window in task.windows]
        pool = self.config.pool.model_copy(update={"threads": threads})
        results = translate_windows(
            self.engine, windows, self.config.search, pool, self.config.nbest
        )
        mended = iter(self._mended(windows, results, report))
        of_tasks = [_hypotheses_of(task, mended) for task in tasks]
        lacking = [
            (task, of_task)
            for task, of_task in zip(tasks, of_tasks, strict=True)
            if self._lacks_terms(task, of_task)
        ]
        again = self._again([self._aimed(task) for task, _ in lacking], self.config.search)
        for (task, of_task), of_window in zip(lacking, again, strict=True):
            self._honour_terms(task, of_task, of_window)
        for task, of_task in zip(tasks, of_tasks, strict=True):
            self._count_terms(task, of_task, report)
        return [
            self._translation(task, hypotheses, report)
            for task, hypotheses in zip(tasks, of_tasks, strict=True)
        ]

    def finish(
        self, task: Task, results: list[Found], report: Report
    ) -> Generator[Sequence[Window], list[Found], Translation]:
        """The translation of one sentence from the hypotheses of its windows.

        A stream of its own, as it may need another search.
        """
        mended = self._mended(task.windows, results, report)
        if self._lacks_terms(task, mended):
            [again] = yield [self._aimed(task)]
            self._honour_terms(task, mended, again)
        self._count_terms(task, mended, report)
        return self._translation(task, mended, report)

    def _window(self, source: list[list[int]], forced: list[list[int]]) -> Window:
        if self.config.mode == "redecode":
            forced = []
        return Window(source, forced, zlib.crc32(repr(source).encode()))

    def _long(self, sentence: str, ids: list[int], report: Report) -> Task:
        report.long += 1
        limit = self.config.max_tokens - 1  # <end> is a token too
        if self.config.long == "error":
            raise UserError(
                f"a sentence of {len(ids):,} tokens, {sentence[:40]!r}...; the limit is {limit:,}:"
                " raise max_tokens, or choose to split or copy long sentences"
            )
        if self.config.long == "copy":
            return Task(sentence, [], [])
        count = -(-len(ids) // limit)
        size = -(-len(ids) // count)
        pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
        # As context it would leave no room: later sentences see its last piece.
        return Task(sentence, pieces[-1], [self._window([piece], []) for piece in pieces])

    def _mended(
        self, windows: Sequence[Window], results: list[Found], report: Report
    ) -> list[Found]:
        """Count and repair windows with a wrong number of sentences; returns all hypotheses."""
        search = self.config.search
        # An empty text is replaced by the next best, so there must be one.
        short = [i for i, hypotheses in enumerate(results) if self._lacks_text(hypotheses)]
        self._replace(results, short, windows, search)
        if search.constrained:
            return results
        wrong = [
            i
            for i, window in enumerate(windows)
            if len(results[i][0].sentences) + len(window.forced) != len(window.source)
        ]
        report.miscounts += len(wrong)
        if self.config.miscount == "retranslate":
            constrained = search.model_copy(update={"constrained": True})
            self._replace(results, wrong, windows, constrained)
        return results

    def _lacks_terms(self, task: Task, results: Sequence[Found]) -> bool:
        """Whether the best translation lacks a term, and another search could find it."""
        return (
            bool(task.terms)
            and not self.config.search.sample
            and self._terms_in(task, results[0]) < len(task.terms)
        )

    def _aimed(self, task: Task) -> Window:
        """The window of a task, to be searched for its terms."""
        forms = (token_forms(term, self.text.target) for term in task.terms[:MOST_TERMS])
        return replace(task.windows[0], terms=tuple(filter(None, forms)))

    def _honour_terms(self, task: Task, results: list[Found], again: Found) -> None:
        """Take the result of the search with terms if it has more of them."""
        again.sort(key=lambda best: (-self._terms_in(task, [best]), -best.score))
        if self._terms_in(task, again) > self._terms_in(task, results[0]):
            results[0] = again

    def _count_terms(self, task: Task, results: Sequence[Found], report: Report) -> None:
        for term in task.terms:
            text = self._text(results[0][0].sentences[-1])
            report.count_term(term.source, 1, int(term.is_in(text)))

    def _terms_in(self, task: Task, hypotheses: Found) -> int:
        """How many terms of a sentence its best translation has."""
        text = self._text(hypotheses[0].sentences[-1])
        return sum(term.is_in(text) for term in task.terms)

    def _replace(
        self,
        results: list[Found],
        places: Sequence[int],
        windows: Sequence[Window],
        search: SearchConfig,
    ) -> None:
        """Search some windows again, for the whole beam."""
        again = self._again([windows[i] for i in places], search, whole=True)
        for i, hypotheses in zip(places, again, strict=True):
            results[i] = hypotheses

    def _again(
        self, windows: Sequence[Window], search: SearchConfig, whole: bool = False
    ) -> list[Found]:
        """Another search at once; `whole`: for the whole beam."""
        if not windows:
            return []
        pool = self.config.pool.model_copy(update={"threads": 1})
        wanted = None if whole else self.config.nbest
        return translate_windows(self.engine, windows, search, pool, wanted)

    def _lacks_text(self, hypotheses: Sequence[Hypothesis]) -> bool:
        """Whether some of the requested best are empty as text and a longer search has more."""
        nbest = self.config.nbest
        texts = (self._text(hypothesis.sentences[-1]) for hypothesis in hypotheses[:nbest])
        return len(hypotheses) < self.config.search.beam and not all(texts)

    def _translation(self, task: Task, results: Sequence[Found], report: Report) -> Translation:
        if not results:
            # An empty sentence, or one that is copied by policy.
            text = task.sentence if task.sentence.strip() else ""
            return Translation(task.sentence, text, tokens=self.text.target.encode(text))
        if len(results) > 1:
            return self._join(task, results, report)
        window = task.windows[0]
        # The best ones whose text is not empty; the others are never decoded.
        made = (self._alternative(window, hypothesis) for hypothesis in results[0])
        alternatives = list(
            islice((alternative for alternative in made if alternative.text), self.config.nbest)
        )
        if not alternatives:
            return self._copied(task, report)
        best = alternatives[0]
        return Translation(
            task.sentence, best.text, best.score, best.log_prob, best.tokens, alternatives
        )

    def _join(self, task: Task, results: Sequence[Found], report: Report) -> Translation:
        """The translation of a split sentence: its pieces, joined."""
        log_probs = [value for hypotheses in results for value in hypotheses[0].log_probs]
        pieces = [hypotheses[0].sentences[-1] for hypotheses in results]
        text = " ".join(filter(None, map(self._text, pieces)))
        if not text:
            return self._copied(task, report)
        score = sum(log_probs) / len(log_probs) ** self.config.search.length_penalty
        return Translation(task.sentence, text, score, sum(log_probs), pieces[-1])

    def _alternative(self, window: Window, hypothesis: Hypothesis) -> Alternative:
        sentences = [*map(list, window.forced), *hypothesis.sentences]
        text = self._text(sentences[-1])
        log_prob = sum(hypothesis.current_log_probs)
        return Alternative(text, hypothesis.score, log_prob, sentences, self._text)

    def _copied(self, task: Task, report: Report) -> Translation:
        report.copied += 1
        return Translation(
            task.sentence, task.sentence, tokens=self.text.target.encode(task.sentence)
        )

    def _text(self, ids: Sequence[int]) -> str:
        """Decode to one line of text: a model with byte pieces could write a line break."""
        return " ".join(CONTROL.sub(" ", self.text.target.decode(ids)).split())


def _hypotheses_of(task: Task, hypotheses: Iterator[list[Hypothesis]]) -> list[Found]:
    """The next hypotheses, as many as the task has windows."""
    return [next(hypotheses) for _ in task.windows]
