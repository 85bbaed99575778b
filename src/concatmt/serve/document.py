"""A document that a client sent, and what has become of it. Does not know requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from concatmt.decoding.translation import Translation
from concatmt.segments.segment import Segment, SegmentedFile
from concatmt.serve.errors import ApiError
from concatmt.serve.libretranslate import translated_name
from concatmt.serve.models import Pair
from concatmt.serve.service import Service, Work
from concatmt.serve.texts import Text


@dataclass
class Document:
    """Its sentences and their translations."""

    pair: Pair
    work: Work
    content: Text | SegmentedFile | None  # None: a list of sentences
    name: str  # of the file, or empty
    translations: list[Translation | None] = field(default_factory=list)
    busy: bool = False

    def __post_init__(self) -> None:
        self.translations = [None] * len(self.work.segments)

    @property
    def segments(self) -> Sequence[Segment]:
        return self.work.segments

    def context_of(self, place: int, window: int) -> list[int]:
        """Numbers of the sentences that a sentence was translated with."""
        found: list[int] = []
        at = place
        while self.work.context and at > 0 and len(found) < window and not self.segments[at].gap:
            at -= 1
            if self.segments[at].text.strip():
                found.append(at)
        return found[::-1]

    async def whole(self, service: Service) -> tuple[bytes, str]:
        """The file or text with its translations, and its name."""
        done = [one for one in self.translations if one is not None]
        if len(done) < len(self.segments):
            raise ApiError(409, "the document is not translated yet")
        if self.content is None:
            return "".join(f"{one.text}\n" for one in done).encode(), "translation.txt"
        if isinstance(self.content, Text):
            text = self.content.rebuilt([one.text for one in done])
            return text.encode(), "translation.txt"
        made = await service.placed(self.pair, done)
        data, _ = await asyncio.to_thread(self.content.with_translations, made)
        return data, translated_name(self.name, self.pair.target)

    def sentence(self, place: int, window: int) -> dict[str, Any]:
        """A sentence as clients see it."""
        source, translation = self.segments[place].text, self.translations[place]
        sentence: dict[str, Any] = {
            "index": place,
            "source": source,
            "translation": None if translation is None else translation.text,
            "score": None if translation is None else translation.score,
            "context": self.context_of(place, window),
        }
        if isinstance(self.content, Text):
            sentence["start"], sentence["end"] = self.content.spans[place]
        if self.work.alternatives and translation is not None:
            others = [one.text for one in translation.alternatives]
            sentence["alternatives"] = [text for text in others if text != translation.text]
        if self.work.glossary is not None and translation is not None:
            terms = self.work.glossary.found_in(source)
            sentence["terms"] = {term.source: term.is_in(translation.text) for term in terms}
        return sentence
