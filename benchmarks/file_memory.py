"""Peak memory of reading and writing files of growing size, in a process of its own for each.

Files are made of a few sentences again and again; every sentence is "translated" to capitals, so
that all that is read is also written. No model takes part: what it needs depends on a few hundred
sentences at a time, whatever the file.

    python benchmarks/file_memory.py --megabytes 5 20 100
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

SENTENCES = (
    "I told her that the old house by the sea",
    "was sold last winter, and nobody knew why.",
    "Did you see the boat?",
    "The <b>red</b> one? It sank.",
)
MEGABYTE = 1_000_000
TEXTS = 1000  # sentences that one round has


def time_of(second: int, dot: str) -> str:
    return f"{second // 3600 % 100:02}:{second // 60 % 60:02}:{second % 60:02}{dot}000"


def srt(round_: int) -> str:
    first = round_ * TEXTS
    return "".join(
        f"{n}\n{time_of(2 * n, ',')} --> {time_of(2 * n + 1, ',')}\n{SENTENCES[n % 4]}\n\n"
        for n in range(first, first + TEXTS)
    )


def vtt(round_: int) -> str:
    return ("" if round_ else "WEBVTT\n\n") + srt(round_).replace(",000", ".000")


def ass(round_: int) -> str:
    head = "" if round_ else "[Events]\nFormat: Layer, Start, End, Style, Text\n"
    return head + "".join(
        f"Dialogue: 0,{time_of(2 * n, '.')[:-1]},{time_of(2 * n + 1, '.')[:-1]},D,"
        f"{SENTENCES[n % 4]}\n"
        for n in range(round_ * TEXTS, (round_ + 1) * TEXTS)
    )


def lines(_: int) -> str:
    return "".join(f"{SENTENCES[n % 4]}\n" for n in range(TEXTS)) + "\n"


def paragraphs(_: int) -> str:
    return (" ".join(SENTENCES) + "\n\n") * (TEXTS // 4)


def wrapped(_: int) -> str:
    paragraph = "{}\n{}\n{} {}\nthen all of us went home.\n\n".format(*SENTENCES)
    return paragraph * (TEXTS // 4)


def html(round_: int) -> str:
    return ("" if round_ else "<!DOCTYPE html><body>\n") + "".join(
        f"<p>{' '.join(SENTENCES)}</p>\n" for _ in range(TEXTS // 4)
    )


def xliff(round_: int) -> str:
    head = "" if round_ else '<xliff version="1.2"><file><body>\n'
    return head + "".join(
        f'<trans-unit id="{n}"><source>{SENTENCES[n % 4].replace("b>", "g>")}</source>'
        "</trans-unit>\n"
        for n in range(TEXTS)
    )


def tmx(round_: int) -> str:
    head = '<tmx version="1.4"><header srclang="en"/><body>\n' if not round_ else ""
    return head + "".join(
        f'<tu><tuv xml:lang="en"><seg>{n} a</seg></tuv><tuv xml:lang="fr"><seg>{n} b</seg></tuv>'
        "</tu>\n"
        for n in range(TEXTS)
    )


ENDS = {"html": "</body>\n", "xlf": "</body></file></xliff>\n", "tmx": "</body></tmx>\n"}
MAKERS: dict[str, tuple[str, Callable[[int], str]]] = {
    "SRT": ("srt", srt),
    "WebVTT": ("vtt", vtt),
    "ASS": ("ass", ass),
    "text, a sentence a line": ("txt", lines),
    "text, a paragraph a line": ("txt", paragraphs),
    "text, wrapped": ("txt", wrapped),
    "HTML": ("html", html),
    "XLIFF": ("xlf", xliff),
    "TMX, read for training": ("tmx", tmx),
}


def make(path: Path, maker: Callable[[int], str], size: int) -> None:
    with path.open("w") as file:
        round_ = 0
        while file.tell() < size:
            file.write(maker(round_))
            round_ += 1
        file.write(ENDS.get(path.suffix[1:], ""))


def go_through(path: Path) -> int:
    """Read a file, write it with other text; how many sentences there were."""
    from concatmt.corpus.formats import open_pieces
    from concatmt.corpus.formats.tmx import TmxFormat
    from concatmt.corpus.lines import ReadReport
    from concatmt.segments.config import FileConfig
    from concatmt.segments.segment import Translated

    if path.suffix == ".tmx":
        file = TmxFormat(format="tmx", file=path)
        return sum(len(document.source) for document in file.documents(Path(), ReadReport()))

    def written() -> Iterator[int]:
        with path.open("rb") as file, path.with_suffix(".out").open("wb") as out:
            for piece in open_pieces(file, str(path), FileConfig(), path.suffix):
                texts = [Translated(one.text.upper()) for one in piece.segments]
                out.write(piece.with_translations(texts)[0])
                yield len(texts)

    return sum(written())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[5, 20, 100])
    parser.add_argument("--formats", nargs="+", default=list(MAKERS), choices=list(MAKERS))
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.file:
        sentences = go_through(chosen.file)
        print(sentences, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    print("| file | " + " | ".join(f"{size} MB" for size in chosen.megabytes) + " |")
    print("| --- |" + " --- |" * len(chosen.megabytes))
    for name in chosen.formats:
        suffix, maker = MAKERS[name]
        peaks = []
        for size in chosen.megabytes:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"file.{suffix}"
                make(path, maker, size * MEGABYTE)
                command = [sys.executable, __file__, "--file", str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                peaks.append(done.stdout.split()[1])
        print(f"| {name} | " + " | ".join(peaks) + " |", flush=True)


if __name__ == "__main__":
    main()
