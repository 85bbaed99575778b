"""Words as alignments count them: runs of letters and digits, each punctuation mark by itself.

An elided article is a word of its own (l'|eau), so that a tag can stand behind it.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’](?=[^\W_])|)|[^\w\s]|_")
_LETTER = re.compile(r"[^\W\d_]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)[^\s@]++@\S+\.\w+")


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every word and every punctuation mark of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def has_words(text: str) -> bool:
    """Whether there is something to translate: a letter that is not of an address."""
    return bool(_LETTER.search(_ADDRESS.sub("", text) if "." in text else text))


def count_words(text: str) -> int:
    """How many words and punctuation marks there are."""
    return len(word_spans(text))
