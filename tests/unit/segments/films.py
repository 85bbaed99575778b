"""Subtitles for tests: made, read, translated, and what their cues say."""

import re

from concatmt.segments.config import SubtitleConfig
from concatmt.segments.segment import Translated
from concatmt.segments.subtitles import Subtitles
from concatmt.text.splitting import sentence_spans


def read(text: str | bytes, suffix: str = ".srt", **options: object) -> Subtitles:
    data = text.encode() if isinstance(text, str) else text
    return Subtitles(
        data,
        f"film{suffix}",
        suffix,
        lambda t: sentence_spans(t, "en"),
        SubtitleConfig(**options),  # type: ignore[arg-type]
    )


def sentences(file: Subtitles) -> list[str]:
    return [segment.text for segment in file.segments]


def translate(file: Subtitles, *texts: str) -> str:
    return file.with_translations([Translated(text) for text in texts])[0].decode()


def identity(file: Subtitles) -> bytes:
    return file.with_translations([Translated(text) for text in sentences(file)])[0]


def srt(*cues: str, gap: int = 100, length: int = 2000) -> str:
    """Cues of `length` milliseconds each, `gap` milliseconds apart."""
    out, at = [], 0
    for number, text in enumerate(cues, 1):
        times = [f"00:{t // 60000:02}:{t // 1000 % 60:02},{t % 1000:03}" for t in (at, at + length)]
        out.append(f"{number}\n{times[0]} --> {times[1]}\n{text}\n")
        at += length + gap
    return "\n".join(out)


def bodies(text: str) -> list[str]:
    return [block.split("\n", 2)[2].rstrip("\n") for block in re.split(r"\n\n(?=\d)", text)]
