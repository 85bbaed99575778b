"""The English side that all pairs share: word order, and the article of a singular noun."""

ORDERS = {
    "past": ("subject", "verb", "object", "manner", "place", "time"),
    "weather": ("subject", "verb", "place", "time"),
    "habit": ("opener", "subject", "verb", "manner", "place", "time"),
    "address": ("subject", "verb", "manner", "time", "vocative"),
    "role": ("subject", "verb", "object", "place"),
    "state": ("opener", "subject", "verb", "predicate", "tail"),
    "question": ("subject", "verb", "place", "time"),
    "answer": ("opener", "subject"),
}
VOWELS = "aeiou"


def with_article(noun: str) -> str:
    """`a waiter`, `an actress`; every noun here is spelt as it sounds."""
    return f"{'an' if noun[0] in VOWELS else 'a'} {noun}"
