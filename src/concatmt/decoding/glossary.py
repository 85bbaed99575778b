"""Reads a glossary: source terms and the forms that may translate them.

Finds the terms of a sentence, says whether a translation has them, and turns their forms into the
tokens that a search can aim at (`term_search`). Does not know models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from concatmt.corpus.lines import CONTROL, ReadReport, read_lines
from concatmt.errors import UserError
from concatmt.files import hash_text
from concatmt.text.codec import Codec

HASH_DIGITS = 12
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")
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
        return cls.parse(read_lines(path, ReadReport()), str(path))

    @classmethod
    def parse(cls, lines: Iterable[str], name: str) -> Glossary:
        """Read the lines of such a file; `name` says in messages where they come from."""
        terms: dict[str, Term] = {}
        for number, line in enumerate(lines, start=1):
            columns = (CONTROL.sub(" ", column) for column in line.split("\t"))
            source, *forms = (" ".join(column.split()) for column in columns)
            forms = [form for form in forms if form]
            if not line.strip():
                continue
            if not source or not forms:
                raise UserError(
                    f"{name}, line {number}: expected a term, a tab and its translation, further"
                    " tabs and further forms of it"
                )
            if source.casefold() in terms:
                raise UserError(f"{name}, line {number}: {source!r} is listed twice")
            terms[source.casefold()] = Term(source, tuple(dict.fromkeys(forms)))
        if not terms:
            raise UserError(f"{name}: no terms in it")
        return cls(tuple(terms.values()))

    def updated(self, other: Glossary) -> Glossary:
        """These terms and those of `other`, which counts where both have a term."""
        terms = {term.source.casefold(): term for term in (*self.terms, *other.terms)}
        return Glossary(tuple(terms.values()))

    def found_in(self, sentence: str) -> list[Term]:
        """The terms of a sentence; the longest where several start at one place."""
        pieces = _pieces(sentence)
        terms: dict[Term, None] = {}
        at = 0
        while at < len(pieces):
            for size in self._sizes.get(pieces[at], ()):
                term = self._by_pieces.get(pieces[at : at + size])
                if term is not None and _is_apart(pieces, at, at + size):
                    terms[term] = None
                    at += size
                    break
            else:
                at += 1
        return list(terms)

    @property
    def hash(self) -> str:
        """Hash of all terms and forms, for signatures."""
        return hash_text(repr(self.terms))[:HASH_DIGITS]

    @cached_property
    def _by_pieces(self) -> dict[tuple[str, ...], Term]:
        return {_pieces(term.source): term for term in self.terms}

    @cached_property
    def _sizes(self) -> dict[str, list[int]]:
        """How many pieces the terms have that begin with a piece, the most first."""
        sizes: dict[str, set[int]] = {}
        for pieces in self._by_pieces:
            sizes.setdefault(pieces[0], set()).add(len(pieces))
        return {piece: sorted(some, reverse=True) for piece, some in sizes.items()}


def _pieces(text: str) -> tuple[str, ...]:
    """Words in small letters, spaces, and every other character."""
    return tuple(piece if piece.strip() else " " for piece in _PIECE.findall(text.casefold()))


def _is_apart(pieces: Sequence[str], start: int, end: int) -> bool:
    """Whether no letter goes on at either end: words are whole, but `'s` could be part of one."""
    ends = (pieces[start - 1 : start], pieces[start]), (pieces[end : end + 1], pieces[end - 1])
    return not any(next_ and _is_word(next_[0]) and not _is_word(own) for next_, own in ends)


def _is_word(piece: str) -> bool:
    return piece[0] == "_" or piece[0].isalnum()


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
