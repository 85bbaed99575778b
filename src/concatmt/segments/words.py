"""Words as alignments count them: runs of letters and digits, each punctuation mark by itself.

An elided article is a word of its own (l'|eau), so that a tag can stand behind it.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’](?=[^\W_])|)|[^\w\s]|_")
_STOP = re.compile(r"([^\W_]+) ?\.$")
_ABBREVIATED = frozenset(
    ("etc", "inc", "ltd", "co", "jr", "sr", "dr", "mr", "mrs", "no", "st", "vs", "cf", "usw", "bzw")
)
_LETTER = re.compile(r"[^\W\d_]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)[^\s@]++@\S+\.\w+")


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every word and every punctuation mark of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def has_words(text: str) -> bool:
    """Whether there is something to translate: a letter that is not of an address."""
    return bool(_LETTER.search(_ADDRESS.sub("", text) if "." in text else text))


def without_added_stop(source: str, text: str) -> str:
    """A translation without the full stop that a model puts behind a title or a sign without one.

    Scripts that know no capitals often write no full stop where others do.
    """
    end, last = _STOP.search(text), source[-1:]
    ends_in_word = last.isdigit() or last.lower() != last.upper()
    if end is None or not ends_in_word or end[1].lower() in _ABBREVIATED:
        return text
    return text[:-1].rstrip()


def count_words(text: str) -> int:
    """How many words and punctuation marks there are."""
    return len(word_spans(text))
