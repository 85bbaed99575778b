"""The models that are served, by language pair; how many are in memory is limited.

A model is loaded when it is asked for. The one that was used longest ago leaves when another needs
its room. Does not know requests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from concatmt.decoding.loading import model_folder
from concatmt.errors import UserError
from concatmt.model.directory import CONFIG
from concatmt.serve import logs
from concatmt.serve.config import ServeConfig
from concatmt.serve.engine import Engine
from concatmt.serve.languages import find_language
from concatmt.text.pipeline import read_text_settings

GIGABYTE = 1_000_000_000
# What a model takes beyond its weights while it is loaded, as a multiple of the bytes on disk: in
# float32 the output layer and some tables are there twice (measured: docs/serve.md).
OVERHEAD = 1.5


@dataclass
class Pair:
    """A model for one source and one target language."""

    source: str
    target: str
    folder: Path
    bytes: int
    engine: Engine | None = None
    users: int = 0
    last_used: float = 0.0
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)


class Models:
    """All pairs."""

    def __init__(self, folders: Sequence[Path], config: ServeConfig) -> None:
        self.config = config
        self.pairs: dict[tuple[str, str], Pair] = {}
        for given in folders:
            pair = _describe(given)
            known = self.pairs.setdefault((pair.source, pair.target), pair)
            if known is not pair:
                raise UserError(
                    f"{given}: translates {pair.source} to {pair.target}, and so does"
                    f" {known.folder}; serve one model for each pair"
                )

    @property
    def sources(self) -> list[str]:
        """Codes of the languages that can be translated."""
        return list(dict.fromkeys(source for source, _ in self.pairs))

    @property
    def targets(self) -> list[str]:
        """Codes of the languages that can be translated into."""
        return list(dict.fromkeys(target for _, target in self.pairs))

    @property
    def codes(self) -> list[str]:
        """All languages."""
        return list(dict.fromkeys([*self.sources, *self.targets]))

    @property
    def searching(self) -> int:
        """Rows of all running searches that are in use."""
        return sum(pair.engine.load_now.searching for pair in self.loaded if pair.engine)

    @property
    def loaded(self) -> list[Pair]:
        """Pairs whose model is in memory."""
        return [pair for pair in self.pairs.values() if pair.engine is not None]

    def find(self, source: str, target: str) -> Pair | None:
        """The pair that two codes mean."""
        chosen = find_language(source, self.sources), find_language(target, self.targets)
        return self.pairs.get((chosen[0] or "", chosen[1] or ""))

    def load_first(self) -> None:
        """Load as many as there is room for, so that the first request does not wait."""
        for pair in self.pairs.values():
            if self._used() + pair.bytes <= self._room or not self.loaded:
                self._load(pair)

    @asynccontextmanager
    async def use(self, pair: Pair) -> AsyncIterator[Engine]:
        """The engine of a pair, which stays until the block is left."""
        pair.users += 1
        pair.last_used = time.monotonic()
        try:
            async with pair.loading:
                if pair.engine is None:
                    await self._make_room(pair)
                    await self._load_later(pair)
            assert pair.engine is not None
            yield pair.engine
        finally:
            pair.users -= 1

    def close(self) -> None:
        """End the threads of all engines."""
        for pair in self.loaded:
            self._unload(pair)

    @property
    def _room(self) -> float:
        return self.config.limits.memory * GIGABYTE

    def _used(self) -> int:
        return sum(pair.bytes for pair in self.loaded)

    async def _make_room(self, wanted: Pair) -> None:
        idle = [pair for pair in self.loaded if not pair.users]
        for pair in sorted(idle, key=lambda pair: pair.last_used):
            if self._used() + wanted.bytes <= self._room:
                return
            await asyncio.to_thread(self._unload, pair)

    async def _load_later(self, pair: Pair) -> None:
        """Load on another thread; what is wrong with a model is not the client's fault."""
        try:
            await asyncio.to_thread(self._load, pair)
        except UserError as error:
            logs.LOGGER.error(str(error))
            raise RuntimeError("a model cannot be loaded") from error

    def _load(self, pair: Pair) -> None:
        pair.engine = Engine.load(pair.folder, self.config.translate, self.config.int8)
        pair.last_used = time.monotonic()

    def _unload(self, pair: Pair) -> None:
        engine, pair.engine = pair.engine, None
        if engine is not None:
            engine.close()


def _describe(given: Path) -> Pair:
    """What can be told of a model without loading it."""
    folder = model_folder(given)
    languages = read_text_settings(folder / "text").languages
    weights = sum(path.stat().st_size for path in folder.iterdir() if path.name != CONFIG)
    return Pair(languages.source, languages.target, folder, int(weights * OVERHEAD))
