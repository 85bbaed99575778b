"""Reads generated sentences again, as strings, with the hand-written agreement tables alone.

It knows the rules of the phenomena as a person would state them and nothing of the generator, so
it can say what each sentence tells (`Reader.told`) and which answer is right (`Reader.answer`).
"""

import re
from collections.abc import Sequence
from types import ModuleType

from tests.unit.testbed import german_table, russian_table

TABLES: dict[str, ModuleType] = {"en-ru": russian_table, "en-de": german_table}
ANSWER = re.compile(r"^(Probably|Of course ,|Perhaps) the (\w+) \.$")
VERDICT = re.compile(r"^(It|The first one|The second one) was (\w+)")
INNER_VERDICT = re.compile(r" , and it was (\w+) \.$")


def rows(table: str) -> list[list[str]]:
    """The lines of an agreement table, cut into columns."""
    return [line.split(" | ") for line in table.strip().splitlines()]


class Reader:
    """Understands the source side of one language pair."""

    def __init__(self, pair: str, speakers: int = 2) -> None:
        table = TABLES[pair]
        self.table, self.speakers = table, speakers
        self.nouns = {r[0]: (r[1], "mfn".index(r[2])) for r in rows(table.NOUNS)}
        self.classes = {r[0]: r[1] for r in rows(table.PREDICATES)}
        self.habits = [r[0] for r in rows(table.HABITS)]
        self.persons = {r[0] for r in rows(table.PERSONS)}
        self.vocatives = {r[0]: int(r[1] == "polite") for r in rows(table.VOCATIVES)}
        self.roles = {word: g for r in rows(table.ROLES) for g, word in enumerate(r[:2])}
        self.infinitives = {r[0]: table.CASES.index(r[2]) for r in rows(table.GOVERNMENT)}
        self.renderings = {r[0]: r[1:] for r in rows(table.NAMES)}

    def needs_context(self, sentence: str) -> bool:
        """Whether the sentence is of a kind that another one decides."""
        words = sentence.split()
        return bool(
            VERDICT.match(sentence)
            or ANSWER.match(sentence)
            or sentence.startswith("Yes ,")
            or (words[0] == "You" and words[-2] not in self.vocatives)
            or (words[0] == "I" and words[1] != "am")
        )

    def answer(self, source: Sequence[str], context: Sequence[str]) -> int | None:
        """The right label of a window, current sentence last; None where nothing decides."""
        *before, current = source
        words = current.split()
        if match := INNER_VERDICT.search(current):
            return self.last(self.antecedents([current], match[1]))
        if match := VERDICT.match(current):
            found = self.antecedents(before, match[2])
            if match[1] == "It":
                return self.last(found)
            assert len(found) in (0, 2)
            return found[match[1] == "The second one"] if found else None
        if current.startswith("Yes ,"):
            own = [s.split() for s in before if s.startswith(f"{words[2]} ")]
            return self.last([self.habits.index(s[1]) for s in own if s[1] in self.habits])
        if ANSWER.match(current):
            return self.queued(before)
        if words[0] in self.renderings:
            return self.last(self.rendered(words[0], context))
        own_turns = [s.split() for s in before[::-1][self.speakers - 1 :: self.speakers]][::-1]
        if words[0] == "You":
            return self.last([self.vocatives[s[-2]] for s in own_turns if s[-2] in self.vocatives])
        return self.last([self.roles[s[3]] for s in own_turns if s[:2] == ["I", "am"]])

    @staticmethod
    def last(found: Sequence[int]) -> int | None:
        """The nearest cue."""
        return found[-1] if found else None

    def antecedents(self, sentences: Sequence[str], predicate: str) -> list[int]:
        """Genders of the nouns of which the predicate can be said, in order."""
        found = []
        for sentence in sentences:
            for noun in re.findall(r"\bthe (\w+)", sentence):
                kind, gender = self.nouns.get(noun, ("", -1))
                if kind == self.classes[predicate]:
                    found.append(gender)
        return found

    def case(self, question: str) -> int:
        """The case of the answer to a question."""
        words = question.split()
        return 0 if words[0] == "Who" else self.infinitives[words[3]]

    def queued(self, before: Sequence[str]) -> int | None:
        """The case that the oldest unanswered question asks for."""
        queue: list[int] = []
        for sentence in before:
            if sentence.endswith("?"):
                queue.append(self.case(sentence))
            elif ANSWER.match(sentence) and queue:
                queue.pop(0)
        return queue[0] if queue else None

    def rendered(self, name: str, context: Sequence[str]) -> list[int]:
        """Which renderings of the name the translations used."""
        words = [word for sentence in context for word in sentence.split()]
        return [i for word in words for i, r in enumerate(self.renderings[name]) if word == r]

    def told(self, sentence: str, translation: str, current: str) -> tuple[tuple[object, ...], ...]:
        """What single words of a context sentence tell about the current one.

        `translation` is the sentence's translation, or empty for an observer of the source.
        """
        words = sentence.split()
        if match := VERDICT.match(current) or INNER_VERDICT.search(current):
            wanted = self.classes[match[match.lastindex or 1]]
            nouns = [self.nouns.get(noun) for noun in re.findall(r"\bthe (\w+)", sentence)]
            return tuple((kind == wanted, gender) for kind, gender in filter(None, nouns))
        if current.startswith("Yes ,"):
            who = [
                ("own",) if w in current.split() else ("other",) for w in words if w in self.persons
            ]
            return (*who, *((w,) for w in words if w in self.habits))
        if ANSWER.match(current):
            if sentence.endswith("?"):
                return (("question", self.case(sentence)),)
            answers = ANSWER.match(sentence)
            return (("answer", *self.answered(answers[2], translation)),) if answers else ()
        names = [w for w in words if w in self.renderings]
        if names:
            own = names[0] in current.split()
            return ((own, *self.rendered(names[0], [translation])),)
        forms = [("form", self.vocatives[w]) for w in words if w in self.vocatives]
        return (*forms, *(("role", self.roles[w]) for w in words if w in self.roles))

    def answered(self, animate: str, translation: str) -> list[int]:
        """The case in which an answer was translated."""
        forms = next(r[1:] for r in rows(self.table.ANIMATES) if r[0] == animate)
        return [i for i, form in enumerate(forms) if translation.endswith(f" {form} .")]

    def told_here(self, current: str) -> object:
        """What the current sentence tells by itself."""
        if match := INNER_VERDICT.search(current):
            return self.antecedents([current], match[1])[0]
        match = VERDICT.match(current)
        return match[1] if match else None
