"""What people try first: a sentence-level model that is given several sentences at once.

    python scripts/plain_concatenation.py windows INPUT WINDOWS [K]
    concatmt translate MODEL WINDOWS --context 0 --format jsonl --output TRANSLATED
    python scripts/plain_concatenation.py cut INPUT TRANSLATED OUTPUT SOURCE TARGET [K]

`windows` joins every sentence and the K-1 before it by spaces; the model translates them as one
sentence. `cut` splits the translation into sentences, keeps as many from its end as the last line
of the input has, and prints how many windows lost sentences. INPUT is a text with blank lines
between documents, or JSONL of documents of which only the last sentence is wanted. SOURCE and
TARGET are language codes. docs/protocol-real.md says what this is compared with.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from concatmt.errors import UserError
from concatmt.json_text import parse_json
from concatmt.text.splitting import sentence_spans

SIZE = 4  # K


def windows(path: Path, size: int) -> Iterator[tuple[str, list[str]]]:
    """A name and the sentences of each window whose translation is wanted."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        for record in map(parse_json, text.splitlines()):
            yield str(record["id"]), record["source"][-size:]
        return
    for number, document in enumerate(text.rstrip("\n").split("\n\n")):
        lines = document.split("\n")
        for j in range(len(lines)):
            yield f"{number}-{j}", lines[max(0, j + 1 - size) : j + 1]


def sentences(text: str, language: str) -> list[str]:
    """The sentences of running text."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def last_part(window: list[str], translation: str, languages: tuple[str, str]) -> tuple[str, bool]:
    """What a window's translation has for its last line, and whether sentences were lost."""
    ours = sentences(translation, languages[1])
    wanted = max(1, len(sentences(window[-1], languages[0])))
    lost = len(ours) < len(sentences(" ".join(window), languages[0]))
    return " ".join(ours[-wanted:]), lost


def cut(path: Path, translated: Path, output: Path, languages: tuple[str, str], size: int) -> None:
    """Write the translations of the last lines in the form of `path`."""
    records = [parse_json(line) for line in translated.read_text("utf-8").splitlines()]
    texts = {str(r["document"]): r["translation"] for r in records if "translation" in r}
    head = [json.dumps(r) for r in records if "signature" in r]
    lines = head if path.suffix == ".jsonl" else []
    lost = several = 0
    for name, window in windows(path, size):
        text, some = last_part(window, texts[name], languages)
        several += len(window) > 1
        lost += some and len(window) > 1
        if path.suffix == ".jsonl":
            lines.append(json.dumps({"document": name, "translation": text}, ensure_ascii=False))
        else:
            if name.endswith("-0") and lines:
                lines.append("")
            lines.append(text)
    output.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{lost} of {several} windows of several sentences lost some: {lost / several:.1%}")


def main(arguments: list[str]) -> None:
    """One of the two commands."""
    match arguments:
        case ["windows", path, output, *size] if len(size) < 2:
            rows = windows(Path(path), int(size[0]) if size else SIZE)
            records = ({"id": name, "source": [" ".join(window)]} for name, window in rows)
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            Path(output).write_text("".join(lines), "utf-8")
        case ["cut", path, translated, output, source, target, *size] if len(size) < 2:
            languages = source, target
            count = int(size[0]) if size else SIZE
            cut(Path(path), Path(translated), Path(output), languages, count)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
