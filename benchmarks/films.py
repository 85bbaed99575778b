"""The same film as SRT, WebVTT and ASS, made of a text; and what a translation did to it.

    python benchmarks/films.py make test.en test.docs films --cues 1000
    concatmt translate model films --output films.fr
    python benchmarks/films.py compare films films.fr

The text has a sentence a line, the second file names each line's document. Cues have the time that
their characters take at 16 a second; a document is a scene, 30 seconds apart from the next. Long
sentences go over two or three cues; two short ones share a cue, as speakers; every twentieth cue is
in italics, every thirtieth has a tag inside, every fiftieth begins with a name.
"""

import argparse
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

SPEED, WIDTH, LONGEST = 16, 42, 60  # characters a second, in a line, in a cue
TOO_FAST = 20
PAUSE, SCENE = 100, 30_000  # milliseconds
SHORT = 30  # characters of a sentence that shares its cue


@dataclass(frozen=True)
class Cue:
    begins: int  # milliseconds
    ends: int
    lines: tuple[str, ...]  # with <i> and <b> for tags
    name: str = ""


def scenes(text: Path, documents: Path) -> Iterator[list[str]]:
    lines = text.read_text(encoding="utf-8").splitlines()
    names = documents.read_text(encoding="utf-8").splitlines()
    for _, scene in groupby(zip(names, lines, strict=True), key=lambda pair: pair[0]):
        yield [line.strip() for _, line in scene if line.strip()]


def parts(sentence: str) -> list[str]:
    """A sentence in as many parts as it needs cues, cut at spaces."""
    count = -(-len(sentence) // LONGEST)
    cuts = [0]
    for part in range(1, count):
        spaces = [m.start() for m in re.finditer(" ", sentence)]
        cuts.append(min(spaces, key=lambda at: abs(at - len(sentence) * part // count)))
    return [sentence[a:b].strip() for a, b in pairwise([*cuts, len(sentence)])]


def wrapped(text: str) -> tuple[str, ...]:
    if len(text) <= WIDTH or " " not in text:
        return (text,)
    at = min((m.start() for m in re.finditer(" ", text)), key=lambda at: abs(at - len(text) / 2))
    return text[:at], text[at + 1 :]


def film(found: Iterator[list[str]], count: int) -> list[Cue]:
    cues: list[Cue] = []
    now = 1000
    for scene in found:
        at = 0
        while at < len(scene):
            pair = scene[at : at + 2]
            number = len(cues)
            name = "ANNA" if number % 50 == 49 else ""
            if len(pair) == 2 and max(map(len, pair)) <= SHORT and number % 4 == 0:
                bodies: list[tuple[str, ...]] = [(f"- {pair[0]}", f"- {pair[1]}")]
                name = ""
                at += 2
            else:
                bodies = [wrapped(part) for part in parts(scene[at])]
                at += 1
            for lines in bodies:
                length = max(1000, sum(map(len, lines)) * 1000 // SPEED)
                cues.append(Cue(now, now + length, tagged(lines, len(cues)), name))
                now += length + PAUSE
                name = ""
                if len(cues) == count:
                    return cues
        now += SCENE
    raise SystemExit(f"the text has sentences for {len(cues)} cues only")


def tagged(lines: tuple[str, ...], number: int) -> tuple[str, ...]:
    text = "\n".join(lines)
    words = lines[0].split()
    if number % 20 == 19 and not text.startswith("- "):
        text = f"<i>{text}</i>"
    elif number % 30 == 17 and len(words) > 3:
        text = text.replace(words[2], f"<b>{words[2]}</b>", 1)
    return tuple(text.split("\n"))


def stamp(at: int, dot: str) -> str:
    whole, part = divmod(at, 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{dot}{part:03}"


def written(cues: Sequence[Cue], suffix: str) -> str:
    out = {".vtt": "WEBVTT\n\nSTYLE\n::cue { color: white }\n\n", ".srt": ""}.get(
        suffix,
        "[Script Info]\n; made of a text\nScriptType: v4.00+\n\n[V4+ Styles]\n"
        "Format: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n[Events]\n"
        "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n",
    )
    for number, cue in enumerate(cues, 1):
        if suffix == ".ass":
            text = re.sub(r"<([ib])>", r"{\\\g<1>1}", "\\N".join(cue.lines))
            text = re.sub(r"</([ib])>", r"{\\\g<1>0}", text)
            times = f"{stamp(cue.begins, '.')[1:-1]},{stamp(cue.ends, '.')[1:-1]}"
            out += f"Dialogue: 0,{times},Default,{cue.name},0,0,0,,{text}\n"
        elif suffix == ".vtt":
            voice = f"<v {cue.name.title()}>" if cue.name else ""
            text = "\n".join(cue.lines).replace("&", "&amp;")
            out += (
                f"{stamp(cue.begins, '.')} --> {stamp(cue.ends, '.')} line:90%\n{voice}{text}\n\n"
            )
        else:
            name = f"{cue.name}: " if cue.name else ""
            times = f"{stamp(cue.begins, ',')} --> {stamp(cue.ends, ',')}"
            out += f"{number}\n{times}\n{name}" + "\n".join(cue.lines) + "\n\n"
    return out


_TIMES = re.compile(r"(\d+):(\d\d):(\d\d)[.,](\d{2,3})")


def read(path: Path) -> list[tuple[str, float, list[str]]]:
    """Times as they are written, seconds, lines without tags."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ass":
        rows = [line.split(",", 9) for line in text.split("\n") if line.startswith("Dialogue:")]
        found = [(",".join(row[:9]), row[9].replace("\\N", "\n")) for row in rows]
    else:
        blocks = re.finditer(r"((?:\d+\n)?[^\n]*-->[^\n]*)\n(.*?)(?:\n\n|$)", text, re.DOTALL)
        found = [(block[1], block[2]) for block in blocks]
    cues = []
    for head, body in found:
        begins, ends = (
            (int(h) * 60 + int(m)) * 60 + int(s) + int(part) / 10 ** len(part)
            for h, m, s, part in _TIMES.findall(head)
        )
        cues.append((head, ends - begins, body.split("\n")))
    return cues


_TAG = re.compile(r"<[^>]*>|\{[^}]*\}")


def compare(before: Path, after: Path) -> None:
    names = sorted(path.name for path in before.iterdir())
    rows: dict[str, list[str]] = {}

    def add(key: str, value: str) -> None:
        rows.setdefault(key, []).append(value)

    for name in names:
        old, new = read(before / name), read(after / name)
        same = [head for head, *_ in old] == [head for head, *_ in new]
        add("cues; the same times, numbers, settings", f"{len(new)}; {'yes' if same else 'NO'}")
        for what, cues in (("before", old), ("after", new)):
            plain = [[_TAG.sub("", line) for line in lines] for *_, lines in cues]
            speeds = [
                sum(map(len, lines)) / seconds
                for lines, (_, seconds, _) in zip(plain, cues, strict=True)
            ]
            tags = sum(len(_TAG.findall("\n".join(lines))) for *_, lines in cues)
            add(f"tags {what}", str(tags))
            add(f"empty cues {what}", str(sum(not "".join(lines).strip() for lines in plain)))
            tenths = statistics.quantiles(speeds, n=10)
            add(
                f"characters a second {what}: median, 90th percentile",
                f"{statistics.median(speeds):.1f}, {tenths[-1]:.1f}",
            )
            add(f"cues above {TOO_FAST} {what}", str(sum(speed > TOO_FAST for speed in speeds)))
            long = sum(len(line) > WIDTH for lines in plain for line in lines)
            add(f"lines longer than {WIDTH} {what}", str(long))
            add(f"cues of more than two lines {what}", str(sum(len(x) > 2 for x in plain)))
    print("| | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for key, values in rows.items():
        print(f"| {key} | " + " | ".join(values) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    for name in ("text", "documents", "folder"):
        make.add_argument(name, type=Path)
    make.add_argument("--cues", type=int, default=1000)
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "compare":
        compare(chosen.before, chosen.after)
        return
    cues = film(scenes(chosen.text, chosen.documents), chosen.cues)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for suffix in (".srt", ".vtt", ".ass"):
        path = chosen.folder / f"film-{suffix[1:]}{suffix}"
        path.write_text(written(cues, suffix), encoding="utf-8")


if __name__ == "__main__":
    main()
