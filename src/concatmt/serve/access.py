"""Who may ask for how much: keys, and limits for each minute.

Keys are random and long; the file has their SHA-256 only, and whether a key is one of them is found
out in the same time for every key. Does not know what is asked for.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from pydantic import Field

from concatmt.errors import UserError
from concatmt.serve.config import LimitsConfig
from concatmt.serve.errors import BAD_KEY, NO_KEY, ApiError, slow_down
from concatmt.settings import Settings, parse_settings

KEY_BYTES = 24


class ApiKey(Settings):
    """An entry of the key file; limits that are not given are the server's."""

    name: str = Field(min_length=1, max_length=100)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    requests_per_minute: int | None = Field(default=None, ge=-1)
    characters: int | None = Field(default=None, ge=-1)
    batch: int | None = Field(default=None, ge=-1)


@dataclass(frozen=True)
class Client:
    """Who asks, and what for at most."""

    name: str  # of the key, or the address
    characters: int
    batch: int
    requests_per_minute: int


class Access:
    """Lets clients in."""

    def __init__(self, keys: list[ApiKey] | None, limits: LimitsConfig) -> None:
        """`keys`: None if none is needed."""
        self.keys, self.limits = keys, limits
        self.counter = FixedWindowRateLimiter(MemoryStorage())

    def client(self, key: str, address: str) -> Client:
        """Who it is; an `ApiError` if the key is missing or wrong."""
        limits = self.limits
        if self.keys is None:
            return Client(address, limits.characters, limits.batch, limits.requests_per_minute)
        if not key:
            raise ApiError(400, NO_KEY)
        found = find_key(self.keys, key)
        if found is None:
            raise ApiError(403, BAD_KEY)

        def own(name: str) -> int:
            value = getattr(found, name)
            return int(getattr(limits, name) if value is None else value)

        return Client(
            f"key {found.name}", own("characters"), own("batch"), own("requests_per_minute")
        )

    def charge(self, client: Client, cost: int = 1) -> None:
        """Count a request; an `ApiError` if there were too many in this minute."""
        allowed = client.requests_per_minute
        if allowed < 0:
            return
        item = RateLimitItemPerMinute(allowed)
        if not self.counter.hit(item, client.name, cost=cost):
            left = self.counter.get_window_stats(item, client.name).reset_time - time.time()
            raise slow_down(f"{allowed} per 1 minute", left)


def find_key(keys: list[ApiKey], key: str) -> ApiKey | None:
    """The entry of a key. All are compared, so that the time does not tell which came close."""
    digest = _digest(key)
    found = None
    for entry in keys:
        if hmac.compare_digest(entry.sha256, digest):
            found = entry
    return found


def read_keys(path: Path) -> list[ApiKey]:
    """The key file: a YAML list."""
    try:
        entries: Any = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: cannot be read as a file of keys: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UserError(f"{path}: must be a list of keys; add one with --new-key NAME")
    keys = [
        parse_settings(ApiKey, entry, f"{path}, key {number}")
        for number, entry in enumerate(entries, start=1)
    ]
    if len({key.name for key in keys}) < len(keys):
        raise UserError(f"{path}: two keys have the same name")
    return keys


def add_key(path: Path, name: str) -> str:
    """A new key, whose hash is added to the file; it is not kept anywhere else."""
    if path.exists() and any(key.name == name for key in read_keys(path)):
        raise UserError(f"{path}: there is a key {name!r} already; take its lines out first")
    key = secrets.token_urlsafe(KEY_BYTES)
    entry = yaml.safe_dump([{"name": name, "sha256": _digest(key)}], sort_keys=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(entry)
    path.chmod(0o600)
    return key


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
