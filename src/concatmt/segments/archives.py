"""Zip archives whose pages are translated; every other member is copied as it is."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Protocol

from concatmt.errors import UserError
from concatmt.segments.segment import Segment, Summary, Translated

# What one member may hold unpacked, and how much larger than packed: text shrinks to a tenth or so.
MOST_BYTES = 200_000_000
MOST_RATIO = 200
MOST_BYTES_IN_ALL = 1_000_000_000


class Page(Protocol):
    """A member that was read."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def with_translations(self, translations: Sequence[Translated]) -> tuple[bytes, Summary]: ...


def rebuilt(
    members: Members,
    pages: Sequence[tuple[str, Page]],
    translations: Sequence[Translated],
) -> tuple[bytes, Summary]:
    summary, changed, at = Summary(), {}, 0
    for member, page in pages:
        own = translations[at : at + len(page.segments)]
        at += len(page.segments)
        changed[member], counts = page.with_translations(own)
        for name, count in counts.counts.items():
            summary.add(name, count)
    if at != len(translations):
        raise ValueError(f"{len(translations)} translations for {at} segments")
    return members.with_changes(changed), summary


class Members:
    """The members of a zip archive, read within limits."""

    def __init__(self, data: bytes, name: str):
        self.name = name
        self._data = data
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile as error:
            raise UserError(f"{name}: not a zip archive ({error})") from None
        self.names = {info.filename for info in self._archive.infolist()}
        if len(self.names) < len(self._archive.infolist()):
            raise UserError(f"{name}: two members of the archive have the same name")
        total = sum(info.file_size for info in self._archive.infolist())
        if total > MOST_BYTES_IN_ALL:
            raise UserError(f"{name}: unpacks to {total:,} bytes; such archives are refused")
        for info in self._archive.infolist():
            parts = info.filename.replace("\\", "/").split("/")
            if info.filename.startswith("/") or ".." in parts:
                raise UserError(f"{name}: the member {info.filename!r} leaves the archive")
            packed = max(info.compress_size, 1)
            if info.file_size > MOST_BYTES or (
                info.file_size > 1_000_000 and info.file_size / packed > MOST_RATIO
            ):
                raise UserError(
                    f"{name}: the member {info.filename!r} unpacks to {info.file_size:,} bytes "
                    f"from {info.compress_size:,}; such archives are refused"
                )

    def read(self, member: str) -> bytes:
        try:
            with self._archive.open(member) as file:
                data = file.read(MOST_BYTES + 1)
        except KeyError:
            raise UserError(f"{self.name}: no member {member!r} in the archive") from None
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise UserError(f"{self.name}: cannot read its member {member!r} ({error})") from None
        except Exception as error:  # zlib.error is not exported by zipfile
            if type(error).__name__ != "error":
                raise
            raise UserError(f"{self.name}: the member {member!r} is damaged ({error})") from None
        if len(data) > MOST_BYTES:
            raise UserError(f"{self.name}: the member {member!r} is too large")
        return data

    def with_changes(self, changed: dict[str, bytes]) -> bytes:
        """The archive with other contents of some members; the same bytes if nothing changed."""
        if all(self.read(member) == data for member, data in changed.items()):
            return self._data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for info in self._archive.infolist():
                data = changed.get(info.filename)
                archive.writestr(info, self.read(info.filename) if data is None else data)
        return out.getvalue()
