"""Translates documents: makes windows, searches them, turns them back into text.

`Translator` is the Python API. Modes: `redecode` (the paper) translates every window from scratch
and keeps its last sentence; `prefix` forces the translations of the context and searches only the
current sentence. One sentence in, one out, always. Does not know files.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from concatmt.decoding.clients import Stream
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.glossary import Glossary
from concatmt.decoding.guessing import GuessedDocument, pieces_of
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.scheduler import search_for
from concatmt.decoding.sentences import SentenceTranslator, Task
from concatmt.decoding.threads import in_threads, one_core
from concatmt.decoding.translation import History, Passage, Report, Translation
from concatmt.errors import UserError
from concatmt.model.config import check_window
from concatmt.signature import Signature, Value
from concatmt.text.pipeline import TextPipeline

GROUP = 128  # documents that are translated side by side in `prefix`, or take turns, at most
DOCUMENTS_AT_A_TIME = 256
FEW = 8  # documents; up to this many, each is cut into pieces
SENTENCES_IN_SIGHT = 32  # sentences searched ahead where they do not depend on each other


class Translator:
    """Translates documents with one model; several threads may use it.

    Methods add what happened to the `report` that they are given.
    """

    def __init__(
        self,
        engine: Engine,
        text: TextPipeline,
        config: TranslateConfig | None = None,
        identity: Mapping[str, Value] | None = None,
    ) -> None:
        """`identity`: the model's part of the signature."""
        self.engine, self.text = engine, text
        self.config = (config or TranslateConfig()).resolved()
        self.identity = dict(identity or {})
        size = engine.config.system.sentences
        context = size - 1 if self.config.context is None else self.config.context
        check_window(engine.config, context + 1)
        self.context = context
        glossary = None if self.config.glossary is None else Glossary.read(self.config.glossary)
        self.sentences = SentenceTranslator(engine, text, self.config, glossary)
        self.notes: list[str] = []  # what to tell the user before translating

    @classmethod
    def load(
        cls, model: Path | str, config: TranslateConfig | None = None, int8: bool = False
    ) -> "Translator":
        """Read a model directory."""
        loaded = LoadedModel.load(Path(model), int8)
        translator = cls(loaded.engine, loaded.text, config, loaded.identity)
        if translator.context:
            translator.notes = list(loaded.notes)
        return translator

    def with_changes(
        self, nbest: int | None, context: int | None, glossary: Glossary | None = None
    ) -> "Translator":
        """A copy with other numbers of alternatives and context sentences, or more terms.

        Cheap enough for every request.
        """
        changes = {"nbest": nbest, "context": context}
        given = {name: value for name, value in changes.items() if value is not None}
        if not given and glossary is None:
            return self
        changed = copy.copy(self)
        changed.config = self.config.model_copy(update=given)
        if context is not None:
            check_window(self.engine.config, context + 1)
            changed.context = context
        own = self.sentences.glossary
        terms = glossary if own is None or glossary is None else own.updated(glossary)
        changed.sentences = SentenceTranslator(self.engine, self.text, changed.config, terms or own)
        return changed

    @property
    def signature(self) -> Signature:
        """The settings behind these translations."""
        config, search = self.config, self.config.search
        glossary = self.sentences.glossary
        own = config.target_context if config.mode == "prefix" else "redecoded"
        return Signature(
            {
                **self.identity,
                "K": self.context + 1,
                "mode": config.mode if self.context else "sentence",
                "target_context": own if self.context else "none",
                "beam": search.beam,
                "length_penalty": search.length_penalty,
                "stop": None if search.stop == "certain" else search.stop,
                "count": "constrained" if search.constrained else config.miscount,
                "sample": f"{search.temperature:g}/{search.seed}" if search.sample else None,
                "max_length": f"{search.length_factor:g}x+{search.length_constant}",
                "max_tokens": config.max_tokens,
                "long": config.long,
                "glossary": None if glossary is None else glossary.hash,
            }
        )

    def translate_document(
        self,
        sentences: Sequence[str],
        gold: Sequence[str] | None = None,
        report: Report | None = None,
    ) -> list[Translation]:
        """The translation of each sentence. `gold`: given translations, as target context."""
        return self._translate([Passage(sentences, gold)], report)[0]

    def translate_documents(
        self, documents: Iterable[Sequence[str]], report: Report | None = None
    ) -> Iterator[list[Translation]]:
        """Translate documents in order; yields each when it is done and holds only a few."""
        stream = iter(documents)
        while batch := [Passage(document) for document in islice(stream, DOCUMENTS_AT_A_TIME)]:
            yield from self._translate(batch, report)

    def stream(
        self, sentences: Iterable[str], report: Report | None = None
    ) -> Iterator[Translation]:
        """Translate the sentences of one document, each as soon as it arrives."""
        history = History()
        for sentence in sentences:
            yield self._translate([Passage([sentence], history=history)], report)[0][0]

    def retranslate(
        self,
        document: Sequence[Translation],
        edits: Mapping[int, str],
        report: Report | None = None,
    ) -> list[Translation]:
        """Apply a user's corrections and retranslate the sentences that depend on them.

        A sentence is translated again if the translation of one of its context sentences has
        changed. In `redecode` translations are not context: nothing but the edits changes.
        """
        for place in edits:
            if not 0 <= place < len(document):
                raise UserError(f"edit of sentence {place}: the document has {len(document)}")
        history, changed = History(), 0  # context sentences that have changed, within reach
        result = []
        for place, old in enumerate(document):
            new = old
            if place in edits:
                tokens = self.text.target.encode(edits[place])
                new = Translation(old.source, edits[place], tokens=tokens)
            elif changed and self.config.mode == "prefix":
                copy = History(list(history.source), list(history.target))
                new = self._translate([Passage([old.source], history=copy)], report)[0][0]
            if old.source.strip():
                history.push(self.text.source.encode(old.source), new.tokens, self.context)
                changed = self.context if new.text != old.text else max(0, changed - 1)
            result.append(new)
        return result

    def translate_passages(
        self, passages: Sequence[Passage]
    ) -> tuple[list[list[Translation]], Report]:
        """Translate passages of different documents together; returns a report too."""
        if self._independent:
            return self._independently(passages)
        if len(passages) <= FEW:
            return self._by_pieces(passages)
        # The longest begin, and every group has its share of them. There are at least two, for two
        # threads; how many must not depend on the machine.
        order = sorted(range(len(passages)), key=lambda i: (-len(passages[i].source), i))
        count = max(2, -(-len(order) // GROUP))
        groups = [order[first::count] for first in range(count)]

        def run(group: list[int]) -> tuple[list[list[Translation]], Report]:
            return self._side_by_side([passages[i] for i in group])

        total = Report()
        done: list[list[Translation]] = [[] for _ in passages]
        results = in_threads(run, groups, self.config.pool.threads)
        for group, (translations, report) in zip(groups, results, strict=True):
            total.add(report)
            for i, of_passage in zip(group, translations, strict=True):
                done[i] = of_passage
        return done, total

    def passage_stream(
        self, passage: Passage, deliver: Callable[[Translation], object], report: Report
    ) -> Stream:
        """A stream of a passage's windows for a scheduler; delivers each translation when done,
        in the order of the sentences.
        """
        if self._independent:
            yield from self._independent_stream(passage, deliver, report)
        else:
            yield from self._stream(passage, deliver, report)

    def _translate(
        self, passages: Sequence[Passage], report: Report | None
    ) -> list[list[Translation]]:
        translations, happened = self.translate_passages(passages)
        if report is not None:
            report.add(happened)
        return translations

    @property
    def _independent(self) -> bool:
        """Whether no sentence needs the translation of another."""
        return not self._forces or self.config.target_context == "gold"

    def _independently(self, passages: Sequence[Passage]) -> tuple[list[list[Translation]], Report]:
        """Translate all windows of all passages in one pool."""
        report = Report()
        tasks = [task for passage in passages for task in self._tasks(passage, report) if task]
        threads = self.config.pool.threads
        translations = iter(self.sentences.translate(tasks, report, threads))
        return [
            [
                self._settled(passage, place) or next(translations)
                for place in range(len(passage.source))
            ]
            for passage in passages
        ], report

    def _tasks(self, passage: Passage, report: Report) -> Iterator[Task | None]:
        """The task of each sentence, None where its translation is given."""
        for place, sentence in enumerate(passage.source):
            given = passage.settled(place)
            if given is not None:
                # Its translation is given; in `redecode` only its source is context.
                ids = self.text.source.encode(sentence)
                target = self.text.target.encode(given) if self._forces else []
                self._push(passage.history, ids, target)
                yield None
                continue
            task = self.sentences.task(sentence, passage.history, report)
            self._push(passage.history, task.ids, self._gold(passage, place))
            yield task

    def _independent_stream(
        self, passage: Passage, deliver: Callable[[Translation], object], report: Report
    ) -> Stream:
        places = enumerate(self._tasks(passage, report))
        while some := list(islice(places, SENTENCES_IN_SIGHT)):
            windows = [window for _, task in some if task for window in task.windows]
            results = iter((yield windows) if windows else [])
            for place, task in some:
                translation = self._settled(passage, place)
                if task is not None:
                    of_task = [next(results) for _ in task.windows]
                    translation = yield from self.sentences.finish(task, of_task, report)
                assert translation is not None
                deliver(translation)

    @property
    def _forces(self) -> bool:
        """Whether translations of the context are forced."""
        config = self.config
        return config.mode == "prefix" and config.target_context != "none" and self.context > 0

    def _settled(self, passage: Passage, place: int) -> Translation | None:
        text = passage.settled(place)
        if text is None:
            return None
        return Translation(passage.source[place], text, tokens=self.text.target.encode(text))

    def _by_pieces(self, passages: Sequence[Passage]) -> tuple[list[list[Translation]], Report]:
        """Translate few passages on all cores: cut them into pieces that run side by side."""
        report, config = Report(), self.config
        documents = [
            GuessedDocument(self.sentences, passage, self.context, pieces_of(len(passage.source)))
            for passage in passages
        ]
        # Two groups, for two threads; how many must not depend on the machine. The walks of a group
        # do not see what the other does.
        groups: list[list[Stream]] = [[], []]
        whole = 0
        for document in documents:
            count = len(document.starts)
            if count == 1:
                groups[whole % 2].append(document.walk(0, 1))
                whole += 1
                continue
            groups[0] += [document.walk(piece, count // 2) for piece in range(count // 2)]
            groups[1] += [document.walk(piece, count) for piece in range(count // 2, count)]

        def run(streams: Iterable[Stream]) -> None:
            search_for(streams, self.engine, config.search, config.pool, config.nbest)

        list(in_threads(run, [group for group in groups if group], config.pool.threads))
        done: list[list[Translation]] = [[] for _ in passages]
        pairs = zip(documents, done, strict=True)
        with one_core():
            run(document.last_walk(of_one.append, report) for document, of_one in pairs)
        return done, report

    def _side_by_side(self, passages: Sequence[Passage]) -> tuple[list[list[Translation]], Report]:
        """Translate passages side by side; each moves on as soon as its sentence is done."""
        report = Report()
        done: list[list[Translation]] = [[] for _ in passages]
        streams = [
            self._stream(passage, of_passage.append, report)
            for passage, of_passage in zip(passages, done, strict=True)
        ]
        config = self.config
        search_for(streams, self.engine, config.search, config.pool, config.nbest)
        return done, report

    def _stream(
        self, passage: Passage, deliver: Callable[[Translation], object], report: Report
    ) -> Stream:
        """Translate sentence by sentence, each with the translations before it."""
        for place, sentence in enumerate(passage.source):
            translation = self._settled(passage, place)
            if translation is not None:
                ids = self.text.source.encode(sentence)
            else:
                task = self.sentences.task(sentence, passage.history, report)
                translations = []
                for window in task.windows:
                    translations += yield [window]
                ids = task.ids
                translation = yield from self.sentences.finish(task, translations, report)
            self._push(passage.history, ids, translation.tokens)
            deliver(translation)

    def _push(self, history: History, source: list[int], target: list[int]) -> None:
        """Empty sentences never serve as context."""
        if source:
            history.push(source, target, self.context)

    def _gold(self, passage: Passage, place: int) -> list[int]:
        """The target context that is given for later sentences: nothing, but for `gold`."""
        if not self._forces:
            return []
        if passage.gold is None:
            raise UserError("target context 'gold': the document has no given translations")
        return self.text.target.encode(passage.gold[place])
