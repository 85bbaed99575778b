"""Things that clients come back for: kept in memory, by a name that cannot be guessed, for a while.

Nothing is ever written to a disk, so no name in a request can reach one.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
NAME_BYTES = 18
MOST_BYTES = 500_000_000  # of all things together


@dataclass
class _Place(Generic[T]):
    thing: T
    owner: str
    size: int
    until: float


class Shelf(Generic[T]):
    """Names and things; the oldest leave when there are too many."""

    def __init__(self, seconds: float, most: int, most_bytes: int = MOST_BYTES) -> None:
        self.seconds, self.most, self.most_bytes = seconds, most, most_bytes
        self.places: dict[str, _Place[T]] = {}

    def put(self, thing: T, owner: str, size: int) -> str:
        """Keep something; its name."""
        name = secrets.token_urlsafe(NAME_BYTES)
        self.places[name] = _Place(thing, owner, size, time.monotonic() + self.seconds)
        self.clear()
        return name

    def get(self, name: str, owner: str) -> T | None:
        """What was put under a name by the same client."""
        self.clear()
        place = self.places.get(name)
        return place.thing if place is not None and place.owner == owner else None

    def take(self, name: str, owner: str) -> T | None:
        """The same, for the last time."""
        thing = self.get(name, owner)
        if thing is not None:
            del self.places[name]
        return thing

    def clear(self) -> None:
        """Let go of what is too old or too much."""
        now = time.monotonic()
        total = sum(place.size for place in self.places.values())
        for name, place in list(self.places.items()):
            many = len(self.places) > self.most
            if place.until < now or many or (total > self.most_bytes and len(self.places) > 1):
                total -= place.size
                del self.places[name]
