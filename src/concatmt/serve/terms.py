"""The glossary of a request: how it is given, and how much of it."""

from __future__ import annotations

from typing import Any

from concatmt.decoding.glossary import Glossary
from concatmt.serve.errors import ApiError, wrong_type
from concatmt.serve.fields import Fields

MOST_FORMS = 10  # of a term
LONGEST = 100  # characters of a term or form
EXPECTED = "an object of terms and their translations, or lines with tabs between them"


def read_glossary(fields: Fields, most: int) -> Glossary | None:
    """Terms and forms as an object, or as the lines of a glossary file; None without any.

    `most` terms at the most: the search looks for each of them.
    """
    given: Any = fields.values.get("glossary") or ""
    lines = given.split("\n") if isinstance(given, str) else _lines(given)
    count = sum(bool(line.strip()) for line in lines)
    if not count:
        return None
    if count > most:
        raise ApiError(400, f"the glossary has {count:,} terms; the limit is {most:,}")
    glossary = Glossary.parse(lines, "glossary")
    for term in glossary.terms:
        if len(term.forms) > MOST_FORMS:
            raise ApiError(
                400, f"glossary: a term has {len(term.forms)} forms; the limit is {MOST_FORMS}"
            )
        if max(map(len, (term.source, *term.forms))) > LONGEST:
            raise ApiError(400, f"glossary: a term or form has more than {LONGEST} characters")
    return glossary


def _lines(given: Any) -> list[str]:
    if not isinstance(given, dict):
        raise wrong_type("glossary", EXPECTED)
    lines = []
    for term, forms in given.items():
        several = [forms] if isinstance(forms, str) else forms
        if not isinstance(several, list) or not all(isinstance(form, str) for form in several):
            raise wrong_type("glossary", EXPECTED)
        lines.append("\t".join(" ".join(one.split()) for one in (term, *several)))
    return lines
