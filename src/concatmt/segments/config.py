"""Settings of files with markup, each with its default and the sentence that explains it."""

from typing import Literal

from pydantic import Field

from concatmt.settings import Settings


class FileConfig(Settings):
    """How files with markup are read and written."""

    source_language: str = Field(
        default="en", description="Code of the source's language, for splitting into sentences."
    )
    target_language: str = Field(
        default="", description="Code of the translation's language, for good line breaks."
    )
    split: Literal["sentences", "lines"] | None = Field(
        default=None,
        description="Plain text: split paragraphs into sentences, or take every line for one."
        " By default sentences in Markdown, lines in text.",
    )
    encoding: str | None = Field(
        default=None, description="Of files that are not UTF-8 and say nothing of it, as cp1252."
    )
    wrap: Literal["auto", "keep", "none"] = Field(
        default="auto",
        description="Lines of a subtitle: at most two, as many as there were, or one.",
    )
    width: int = Field(default=42, ge=10, le=500, description="Characters in a line of a subtitle.")
    lyrics: Literal["translate", "keep", "drop"] = Field(
        default="translate", description="What to do with subtitles between musical notes."
    )
    sounds: Literal["translate", "keep", "drop"] = Field(
        default="translate", description="What to do with sounds in square brackets."
    )
    reading_speed: float = Field(
        default=20.0, gt=0, description="Characters a second that can be read; more is reported."
    )
