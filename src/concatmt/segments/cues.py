"""Where the cues of SRT, WebVTT and ASS files are: times, style and the span of the text.

No library keeps all three formats as they were written (numbers, settings, comments, line ends), so
only the spans of text are found here and everything else is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from concatmt.errors import UserError
from concatmt.segments.spans import EncodedText


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue's text as it stands at text[start:end], and what decides whether it joins the next."""

    start: int
    end: int
    begins: int  # milliseconds
    ends: int
    style: str = ""  # position, style, layer: a sentence does not go on in another one
    speaker: str = ""


# A line: where it starts, where its text ends, where the next one starts.
_Line = tuple[int, int, int]

_SRT_TIME = r"(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})"
_SRT_TIMES = re.compile(rf"\s*{_SRT_TIME}\s*-->\s*{_SRT_TIME}(?P<rest>[^\r\n]*)")
_VTT_TIME = r"(?:(\d{2,}):)?(\d{2}):(\d{2})\.(\d{3})"
_VTT_TIMES = re.compile(rf"\s*{_VTT_TIME}[ \t]+-->[ \t]+{_VTT_TIME}(?P<rest>[^\r\n]*)")
_ASS_TIME = re.compile(r"\s*(\d+):(\d{1,2}):(\d{1,2})[.:](\d{1,3})\s*")


def _lines(text: str) -> list[_Line]:
    """Lines by LF, CRLF and CR; str.splitlines would also split at characters inside of lines."""
    lines = [(m.start(), m.start(1), m.end()) for m in re.finditer(r"[^\r\n]*(\r\n|\n|\r)", text)]
    at = lines[-1][2] if lines else 0
    if at < len(text):
        lines.append((at, len(text), len(text)))
    return lines


def _milliseconds(hours: str | None, minutes: str, seconds: str, part: str) -> int:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int(part.ljust(3, "0"))


def _blank(text: str, line: _Line) -> bool:
    return not text[line[0] : line[1]].strip("\ufeff \t\x0b\x0c")


def _bad_times(name: str, file: EncodedText, line: _Line, example: str) -> UserError:
    shown = file.text[line[0] : line[1]].strip()[:60]
    return UserError(
        f"{name}, line {file.line(line[0])}: {shown!r} is not a line of times (like {example})"
    )


def srt_cues(file: EncodedText, name: str) -> list[Cue]:
    """The cues of an SRT file; text goes on to the next number or times, over blank lines too."""
    text = file.text
    lines = _lines(text)
    times: dict[int, re.Match[str]] = {}
    for number, line in enumerate(lines):
        if "-->" not in text[line[0] : line[1]]:
            continue
        match = _SRT_TIMES.fullmatch(text[line[0] : line[1]].lstrip("\ufeff"))
        if match is None:
            raise _bad_times(name, file, line, "00:01:02,500 --> 00:01:04,000")
        times[number] = match
    heads = []  # (first line of the cue: its number, or its times; line of times)
    for number in times:
        numbered = (
            number > 0
            and text[lines[number - 1][0] : lines[number - 1][1]].strip("\ufeff \t").isdecimal()
        )
        heads.append((number - 1 if numbered and number - 1 not in times else number, number))
    if not heads:
        raise UserError(f"{name}: no line of times in it (00:01:02,500 --> 00:01:04,000)")
    for line in lines[: heads[0][0]]:
        if not _blank(text, line):
            raise UserError(f"{name}, line {file.line(line[0])}: text before the first cue")
    cues = []
    for place, (_, at) in enumerate(heads):
        last = heads[place + 1][0] if place + 1 < len(heads) else len(lines)
        body = lines[at + 1 : last]
        while body and _blank(text, body[-1]):
            body.pop()
        start = lines[at][2] if body else lines[at][1]
        match = times[at]
        cues.append(
            Cue(
                start,
                body[-1][1] if body else start,
                _milliseconds(*match.group(1, 2, 3, 4)),
                _milliseconds(*match.group(5, 6, 7, 8)),
                style=match["rest"].strip(),
            )
        )
    return cues


def vtt_cues(file: EncodedText, name: str) -> list[Cue]:
    """The cues of a WebVTT file: the blocks with times, but for notes, styles and regions."""
    text = file.text
    lines = _lines(text)
    if not lines or not re.match(r"\ufeff?WEBVTT(?:[ \t]|$)", text[lines[0][0] : lines[0][1]]):
        raise UserError(f"{name}: the first line of a WebVTT file is WEBVTT")
    cues = []
    for block in _blocks(text, lines[1:]):
        arrow = next((i for i, line in enumerate(block) if "-->" in text[line[0] : line[1]]), None)
        first = text[block[0][0] : block[0][1]].strip()
        if arrow is None or re.match(r"(?:NOTE|STYLE|REGION)\b", first):
            continue
        line = block[arrow]
        match = _VTT_TIMES.fullmatch(text[line[0] : line[1]])
        if match is None or arrow > 1:
            raise _bad_times(name, file, line, "00:01:02.500 --> 00:01:04.000")
        body = block[arrow + 1 :]
        start = body[0][0] if body else line[1]
        cues.append(
            Cue(
                start,
                body[-1][1] if body else start,
                _milliseconds(*match.group(1, 2, 3, 4)),
                _milliseconds(*match.group(5, 6, 7, 8)),
                style=match["rest"].strip(),
            )
        )
    return cues


def _blocks(text: str, lines: list[_Line]) -> Iterator[list[_Line]]:
    block: list[_Line] = []
    for line in lines:
        if line[0] == line[1]:
            if block:
                yield block
            block = []
        else:
            block.append(line)
    if block:
        yield block


def ass_cues(file: EncodedText, name: str) -> list[Cue]:
    """The Dialogue lines of an ASS or SSA file, fields by the Format line of [Events]."""
    text = file.text
    section, fields, cues = "", None, []
    for line in _lines(text):
        content = text[line[0] : line[1]]
        stripped = content.strip("\ufeff \t")
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped.lower()
        elif section == "[events]" and stripped.lower().startswith("format:"):
            fields = [field.strip().lower() for field in stripped[7:].split(",")]
            if fields[-1] != "text" or not {"start", "end"} <= set(fields):
                raise UserError(
                    f"{name}, line {file.line(line[0])}: the Format of [Events] needs "
                    "Start and End, and Text as its last field"
                )
        elif section == "[events]" and stripped.lower().startswith("dialogue:"):
            cues.append(_dialogue(file, line, fields, name))
    if not cues and "[events]" not in text.lower():
        raise UserError(f"{name}: no [Events] section: not an ASS or SSA file")
    return cues


def _dialogue(file: EncodedText, line: _Line, fields: list[str] | None, name: str) -> Cue:
    def refused(what: str) -> UserError:
        return UserError(f"{name}, line {file.line(line[0])}: {what}")

    if fields is None:
        raise refused("a Dialogue before the Format line of [Events]")
    content = file.text[line[0] : line[1]]
    at = content.index(":") + 1
    values = {}
    for field in fields[:-1]:
        comma = content.find(",", at)
        if comma < 0:
            raise refused("fewer fields than the Format line of [Events] names")
        values[field] = content[at:comma].strip()
        at = comma + 1
    times = [_ASS_TIME.fullmatch(values[field]) for field in ("start", "end")]
    if times[0] is None or times[1] is None:
        raise refused(f"{values['start']!r} or {values['end']!r} is not a time (like 0:01:02.50)")
    return Cue(
        line[0] + at,
        line[1],
        _milliseconds(*times[0].groups()),
        _milliseconds(*times[1].groups()),
        style="\t".join(values.get(key, "") for key in ("layer", "style", "effect")),
        speaker=values.get("name", ""),
    )


def head_after(text: str, suffix: str, before: str) -> str:
    """What the reader of a file's next piece has to know of what came before it."""
    if suffix == ".vtt":
        return "WEBVTT\n\n"
    if suffix == ".srt":
        return ""
    formats = re.findall(r"^[ \t]*format:[^\r\n]*", text, re.MULTILINE | re.IGNORECASE)
    return f"[Events]\n{formats[-1]}\n" if formats else before


READERS: dict[str, Callable[[EncodedText, str], list[Cue]]] = {
    ".srt": srt_cues,
    ".vtt": vtt_cues,
    ".ass": ass_cues,
    ".ssa": ass_cues,
}
