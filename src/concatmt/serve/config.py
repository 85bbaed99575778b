"""Settings of the server, each with its default and the sentence that explains it.

The command line makes its options from them, so importing them must stay quick: no web framework.
"""

from pydantic import Field

from concatmt.decoding.config import TranslateConfig
from concatmt.settings import Settings


class LimitsConfig(Settings):
    """What a request and a client may ask for; a key of the key file can have its own limits."""

    characters: int = Field(
        default=20_000, ge=-1, description="Most characters in a request; -1: no limit."
    )
    batch: int = Field(default=256, ge=-1, description="Most texts in a request; -1: no limit.")
    alternatives: int = Field(
        default=3, ge=0, description="Most alternatives of a translation; a beam has no more."
    )
    terms: int = Field(default=500, ge=0, description="Most terms in the glossary of a request.")
    requests_per_minute: int = Field(
        default=-1, ge=-1, description="Requests a minute of a key or an address; -1: no limit."
    )
    body: int = Field(
        default=10_000_000, ge=1_000, description="Most bytes in a request, files included."
    )
    queue: int = Field(
        default=2_000,
        ge=1,
        description="Sentences that may wait; when there are more, the answer is 429.",
    )
    share: int = Field(
        default=16,
        ge=1,
        description="Sentences of one request that are translated at the same time, at most.",
    )
    answer_seconds: float = Field(
        default=300, gt=0, description="Longest time in which a request is answered."
    )
    client_seconds: float = Field(
        default=20,
        gt=0,
        description="How long a client may take to send a request, or to take what was sent.",
    )
    keep_minutes: float = Field(
        default=60, gt=0, description="How long files and documents are kept, at most."
    )
    keep_documents: int = Field(
        default=1_000, ge=1, description="Files and documents kept; the oldest go first."
    )
    memory: float = Field(
        default=8, gt=0, description="Gigabytes for models; the one used longest ago leaves."
    )
    drain_seconds: int = Field(
        default=60, ge=0, description="After SIGTERM: time to answer what was accepted."
    )


class ServeConfig(Settings):
    """How translations are served."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=5000, ge=0, le=65_535, description="Port; 0: any that is free.")
    api_keys: str | None = Field(
        default=None, description="File of keys; requests without one of them are refused."
    )
    hosts: tuple[str, ...] = Field(
        default=(),
        description="Names under which the server is reached; by default any, or on a loopback"
        " address only those of this machine.",
    )
    cors: tuple[str, ...] = Field(
        default=(), description="Origins whose pages may call the server; '*' is every one."
    )
    forwarded: bool = Field(
        default=False, description="Take a client's address from X-Forwarded-For, behind a proxy."
    )
    page: bool = Field(default=True, description="Serve no web page at /.")
    metrics: bool = Field(default=False, description="Serve figures for Prometheus at /metrics.")
    log_texts: bool = Field(default=False, description="Write texts and translations to the log.")
    int8: bool = Field(default=False, description="8-bit linear layers, on the CPU.")
    limits: LimitsConfig = LimitsConfig()
    translate: TranslateConfig = TranslateConfig()
