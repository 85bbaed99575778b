"""Reads a glossary: source terms and the forms that may translate them.

Finds the terms of a sentence, says whether a translation has them, and turns their forms into the
tokens that a search can aim at (`term_search`). Does not know models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.files import hash_text
from concatmt.text.codec import Codec

HASH_DIGITS = 12
_ELISION = "d'"  # a word follows it without a space


@dataclass(frozen=True)
class Term:
    """One or more source words, and their allowed translations."""

    source: str
    forms: tuple[str, ...]

    def is_in(self, translation: str) -> bool:
        """Whether a translation has one of the forms as a word, perhaps capitalised."""
        return any(_pattern(form).search(translation) for form in self.forms)


@dataclass(frozen=True)
class Glossary:
    """Terms, each with its forms."""

    terms: tuple[Term, ...]

    @classmethod
    def read(cls, path: Path) -> Glossary:
        """Read a TSV file: a term, then an allowed form of its translation in each column."""
        terms: dict[str, Term] = {}
        for number, line in enumerate(read_lines(path, ReadReport()), start=1):
            source, *forms = (column.strip() for column in line.split("\t"))
            forms = [form for form in forms if form]
            if not line.strip():
                continue
            if not source or not forms:
                raise UserError(
                    f"{path}, line {number}: expected a term, a tab and its translation, further"
                    " tabs and further forms of it"
                )
            if source.lower() in terms:
                raise UserError(f"{path}, line {number}: {source!r} is listed twice")
            terms[source.lower()] = Term(source, tuple(dict.fromkeys(forms)))
        if not terms:
            raise UserError(f"{path}: no terms in it")
        return cls(tuple(terms.values()))

    def found_in(self, sentence: str) -> list[Term]:
        """The terms of a sentence; the longest where several start at one place."""
        terms, seen = [], set()
        for match in self._any.finditer(sentence):
            term = self._by_name[" ".join(match.group().lower().split())]
            if term.source not in seen:
                seen.add(term.source)
                terms.append(term)
        return terms

    @property
    def hash(self) -> str:
        """Hash of all terms and forms, for signatures."""
        return hash_text(repr(self.terms))[:HASH_DIGITS]

    @cached_property
    def _by_name(self) -> dict[str, Term]:
        return {term.source.lower(): term for term in self.terms}

    @cached_property
    def _any(self) -> re.Pattern[str]:
        longest = sorted(self._by_name, key=len, reverse=True)
        words = "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest)
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def _pattern(form: str) -> re.Pattern[str]:
    """Match a form as a word; its first letter may be a capital."""
    words = r"\s+".join(map(re.escape, form.split()))
    first = re.escape(form[0])
    either = f"[{form[0]}{form[0].upper()}]" if form[0].isalpha() else first
    return re.compile(rf"(?<!\w){either}{words.removeprefix(first)}(?!\w)")


def token_forms(term: Term, codec: Codec) -> tuple[tuple[int, ...], ...]:
    """The tokens of each form: inside a sentence, at its start, and after an elided article."""
    forms: dict[tuple[int, ...], None] = {}
    for form in term.forms:
        for text in (form, form[:1].upper() + form[1:]):
            forms[tuple(codec.encode(text))] = None
        before, with_it = codec.encode(_ELISION), codec.encode(_ELISION + form)
        if with_it[: len(before)] == before:
            forms[tuple(with_it[len(before) :])] = None
    return tuple(form for form in forms if form)
