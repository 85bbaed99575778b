"""Several texts that are translated together, as one document or each for itself."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

from concatmt.decoding.translation import Translation
from concatmt.errors import UserError
from concatmt.segments.segment import Segment, SegmentedFile, Translated
from concatmt.serve.texts import Text, read_file, read_page

LONG = 4_000  # characters, from which on splitting would hold up the event loop
MOST_UNPACKED = 20  # times the limit of a body: what an archive may hold
ARCHIVES = (".docx", ".epub")


@dataclass(frozen=True)
class Bundle:
    """Texts and the sentences of all of them."""

    texts: Sequence[Text | SegmentedFile]
    together: bool = False

    @classmethod
    async def read(
        cls, texts: Sequence[str], source: str, target: str, html: bool, together: bool
    ) -> Bundle:
        """Find the sentences."""

        def found() -> list[Text | SegmentedFile]:
            read = read_page if html else Text.read
            return [read(text, source, target) for text in texts]

        if html or sum(map(len, texts)) > LONG:
            return cls(await asyncio.to_thread(found), together)
        return cls(found(), together)

    @property
    def segments(self) -> list[Segment]:
        """The sentences in order; those of another text have other context."""
        return [
            replace(segment, gap=segment.gap or (place == 0 and not self.together))
            for text in self.texts
            for place, segment in enumerate(text.segments)
        ]

    def rebuilt(self, translations: Sequence[Translated]) -> list[str]:
        """The texts with a translation for each sentence."""
        left = iter(translations)
        result = []
        for text in self.texts:
            own = [next(left) for _ in text.segments]
            result.append(text.with_translations(own)[0].decode())
        return result

    def alternatives(self, translations: Sequence[Translation], count: int) -> list[list[str]]:
        """Up to `count` other translations of each text, made of the other ones of its sentences.

        The n-th has the n-th of every sentence that has so many.
        """
        best = self.rebuilt([Translated(one.text) for one in translations])
        found: list[list[str]] = [[] for _ in best]
        for rank in range(1, count + 1):
            texts = self.rebuilt([Translated(_ranked(one, rank)) for one in translations])
            for own, first, text in zip(found, best, texts, strict=True):
                if text != first and text not in own:
                    own.append(text)
        return found


def _ranked(translation: Translation, rank: int) -> str:
    others = translation.alternatives
    return others[rank].text if rank < len(others) else translation.text


async def open_file(data: bytes, suffix: str, source: str, target: str, most: int) -> SegmentedFile:
    """Read a file on another thread; `most` is the limit of a body in bytes."""
    if suffix in ARCHIVES:
        _check_archive(data, most * MOST_UNPACKED)
    return await asyncio.to_thread(read_file, data, suffix, source, target)


def _check_archive(data: bytes, most: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile as error:
        raise UserError("the file is damaged: it is no zip archive") from error
    if size > most:
        raise UserError(f"the file holds {size:,} bytes unpacked; the limit is {most:,}")
