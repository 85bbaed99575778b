"""What windows are worth before any training: OPUS-MT converted, and translated in every way.

    python benchmarks/untrained.py DIRECTORY SOURCE REFERENCE [--transformers 40]

DIRECTORY is a MarianMT model of Hugging Face; SOURCE and REFERENCE are texts with a blank line
between documents. Prints a table: sentence by sentence; windows of four, in `prefix` and
`redecode`, with the separator as a copy of <end> and as the mean of all symbols; and what people
try first, four sentences joined by spaces, of which generate() of transformers translates some too.
"""

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from concatmt.conversion.config import ImportConfig
from concatmt.conversion.convert import convert_in
from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.translator import Translator
from concatmt.processor import name_of_processor
from concatmt.tables import markdown_table

Mode = Literal["prefix", "redecode"]
Stop = Literal["best"]  # as generate()
Documents = list[list[str]]
SIZE = 4
LANGUAGES = "en", "fr"


def plain_concatenation() -> Any:
    """The script that joins windows by spaces and cuts them again."""
    path = Path(__file__).parents[1] / "scripts" / "plain_concatenation.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_documents(path: Path) -> Documents:
    """The sentences of every document."""
    return [part.split("\n") for part in path.read_text("utf-8").rstrip("\n").split("\n\n")]


def translated(
    folder: Path, documents: Documents, mode: Mode = "prefix", stop: Stop | None = None
) -> Documents:
    """By our search; with hypotheses scored as OPUS-MT's are."""
    search = SearchConfig(length_penalty=1.0, stop=stop)
    config = TranslateConfig(mode=mode, search=search)
    translator = Translator.load(folder, config)
    found = translator.translate_documents(documents)
    return [[sentence.text for sentence in document] for document in found]


def row(name: str, ours: Documents, references: Documents) -> tuple[str, ...]:
    """The figures of one way."""
    pairs = [pair for a, b in zip(ours, references, strict=True) for pair in zip(a, b, strict=True)]
    texts = [a for a, _ in pairs], [[b for _, b in pairs]]
    bleu: Any = BLEU().corpus_score(*texts, n_bootstrap=1000)
    short = sum(len(a) < len(b) / 2 for a, b in pairs) / len(pairs)
    chrf = CHRF().corpus_score(*texts).score
    return (
        name,
        str(len(pairs)),
        f"{bleu.score:.1f} ± {bleu._ci:.1f}",
        f"{chrf:.1f}",
        f"{short:.1%}",
    )


def plainly(folder: Path, documents: Documents) -> tuple[Documents, list[str], str]:
    """Windows as if they were single sentences: translations, whole windows, and what was lost."""
    plain = plain_concatenation()
    windows = [
        document[max(0, place - SIZE) : place]
        for document in documents
        for place in range(1, len(document) + 1)
    ]
    wholes = [" ".join(window) for window in windows]
    found = [one for (one,) in translated(folder, [[whole] for whole in wholes], stop="best")]
    parts = [plain.last_part(w, f, LANGUAGES) for w, f in zip(windows, found, strict=True)]
    several = [lost for window, (_, lost) in zip(windows, parts, strict=True) if len(window) > 1]
    note = f"{sum(several)} of {len(several)} windows of several sentences lost some"
    texts = iter([text for text, _ in parts])
    return [[next(texts) for _ in document] for document in documents], found, note


def with_transformers(directory: Path, wholes: Sequence[str]) -> list[str]:
    """What generate() makes of windows."""
    from transformers import MarianMTModel, MarianTokenizer

    tokenizer = MarianTokenizer.from_pretrained(directory)
    model = MarianMTModel.from_pretrained(directory).eval()
    found = []
    for whole in wholes:
        ids = model.generate(**tokenizer([whole], return_tensors="pt"), num_beams=4)
        found += tokenizer.batch_decode(ids, skip_special_tokens=True)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--transformers", type=int, default=40, help="windows for generate()")
    arguments = parser.parse_args()
    documents, references = read_documents(arguments.source), read_documents(arguments.reference)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        single = Path(work) / "single"
        convert_in(arguments.directory, single, ImportConfig())
        rows.append(row("sentence by sentence", translated(single, documents), references))
        whole, found, note = plainly(single, documents)
        rows.append(row("four sentences as one, cut again", whole, references))
        for separator in ("copy", "mean"):
            folder = Path(work) / separator
            convert_in(
                arguments.directory, folder, ImportConfig(system="s4to4", separator=separator)
            )
            for mode in ("prefix", "redecode"):
                name = f"windows, separator as {separator}, {mode}"
                print(name, file=sys.stderr)
                rows.append(row(name, translated(folder, documents, mode), references))
    print(f"{name_of_processor()}\n")
    head = ("way", "sentences", "BLEU", "chrF", "shorter than half the reference")
    print(markdown_table(head, rows))
    print(f"\nFour sentences as one: {note}.")
    if arguments.transformers:
        joined = [
            " ".join(document[max(0, place - SIZE) : place])
            for document in documents
            for place in range(1, len(document) + 1)
        ][: arguments.transformers]
        theirs = with_transformers(arguments.directory, joined)
        same = sum(a == b for a, b in zip(theirs, found, strict=False))
        print(f"generate() of transformers gives the same in {same} of {len(theirs)} windows.")


if __name__ == "__main__":
    main()
