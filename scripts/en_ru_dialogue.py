"""The corpus of docs/protocol-real.md, in the form that the paper's own En-Ru data has.

    python scripts/en_ru_dialogue.py prepare DIALOGUE VOITA CTXPRO OUTPUT
    python scripts/en_ru_dialogue.py bleu RESULTS

`prepare` tokenises the parallel text as Moses does, cuts the test documents into fragments of four
sentences, as Voita's are, links the contrastive sets and draws ctxpro items with three sentences
of context. `bleu` scores the translations of all runs without tokenisation, by sacrebleu.
"""

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from sacrebleu import BLEU, CHRF
from sacremoses import MosesDetokenizer, MosesTokenizer

from concatmt.evaluation.expectations import read_expectations
from concatmt.files import atomic_file, atomic_folder
from concatmt.paper.results import Results
from concatmt.tables import markdown_table

LANGUAGES = ("en", "ru")
SPLITS = ("train", "dev", "test")
WINDOW = 4  # sentences of a fragment, and of a ctxpro item with its context
CTXPRO = ("formality", "inflection", "auxiliary")
ITEMS, SEED = 1000, 1  # of each
MARKER = "corpus.json"

Row = tuple[str, str, str]  # source, target, document


def rows(folder: Path, split: str) -> Iterator[Row]:
    """The sentence pairs of a split with their documents."""
    texts = [
        (folder / f"{split}.{end}").read_text(encoding="utf-8").rstrip("\n").split("\n")
        for end in (*LANGUAGES, "docs")
    ]
    yield from zip(*texts, strict=True)


def tokenised(pairs: Iterable[Row], limit: int | None) -> Iterator[Row]:
    """Moses tokens with spaces between; nothing is escaped, as in Voita's sets."""
    source, target = (MosesTokenizer(lang=language) for language in LANGUAGES)
    for number, (english, russian, document) in enumerate(pairs):
        if number == limit:
            return
        sides = (source.tokenize(english, escape=False), target.tokenize(russian, escape=False))
        yield " ".join(sides[0]), " ".join(sides[1]), document


def fragments(pairs: Iterable[Row]) -> Iterator[Row]:
    """Whole fragments of four sentences, each a document of its own; what is left is dropped."""
    for name, of_document in groupby(pairs, key=lambda row: row[2]):
        document = list(of_document)
        for first in range(0, len(document) - WINDOW + 1, WINDOW):
            for english, russian, _ in document[first : first + WINDOW]:
                yield english, russian, f"{name}-{first // WINDOW}"


def write(folder: Path, split: str, pairs: Sequence[Row]) -> None:
    """The three files of a split."""
    for end, column in zip((*LANGUAGES, "docs"), zip(*pairs, strict=True), strict=True):
        (folder / f"{split}.{end}").write_text("\n".join(column) + "\n", encoding="utf-8")


def write_ctxpro(source: Path, name: str, path: Path, items: int) -> None:
    """Some items of a set, with as much context as a window has."""
    evaluation = source / "evalsets" / f"{name}.opensubtitles.en-ru.dev.json"
    inputs = source / "inputs" / evaluation.name.removesuffix(".json")
    found = read_expectations(evaluation, inputs)
    chosen = random.Random(SEED).sample(found, min(items, len(found)))
    tokenizer = MosesTokenizer(lang="en")
    with path.open("w", encoding="utf-8") as file:
        for one in chosen:
            window = [" ".join(tokenizer.tokenize(s, escape=False)) for s in one.source[-WINDOW:]]
            record = {**one.record(), "source": window}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def prepare(
    dialogue: Path, voita: Path, ctxpro: Path, output: Path, limit: int | None, items: int
) -> None:
    """All of it, or nothing."""
    with atomic_folder(output, MARKER) as folder:
        counts = {}
        for split in SPLITS:
            pairs = list(tokenised(rows(dialogue, split), limit))
            pairs = list(fragments(pairs)) if split == "test" else pairs
            write(folder, split, pairs)
            counts[split] = {"sentences": len(pairs), "documents": len({row[2] for row in pairs})}
        (folder / "voita").mkdir()
        for path in sorted(voita.glob("*.json")):
            (folder / "voita" / path.name).symlink_to(path.resolve())
        (folder / "ctxpro").mkdir()
        for name in CTXPRO:
            write_ctxpro(ctxpro, name, folder / "ctxpro" / f"{name}.jsonl", items)
        (folder / MARKER).write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


def bleu(folder: Path) -> None:
    """RESULTS/bleu.md: BLEU and chrF of detokenised sentences, a line for each run."""
    results = Results(folder)
    detokenizer = MosesDetokenizer(lang="ru")

    def plain(sentences: Iterable[str]) -> list[str]:
        return [detokenizer.detokenize(sentence.split()) for sentence in sentences]

    references = [plain(results.references().sentences)]
    metrics = (BLEU(), CHRF())
    lines = []
    for run in results.runs():
        hypotheses = plain(results.translations(run).sentences)
        scores = [f"{one.corpus_score(hypotheses, references).score:.2f}" for one in metrics]
        lines.append((run.system, str(run.seed), *scores, f"{run.bleu:.2f}"))
    header = ("system", "seed", "BLEU", "chrF", "BLEU, the paper's convention")
    signatures = ", ".join(str(one.get_signature()) for one in metrics)
    with atomic_file(folder / "bleu.md") as temporary:
        temporary.write_text(
            f"{markdown_table(header, lines)}\n\nDetokenised, {signatures}.\n", encoding="utf-8"
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    preparing = verbs.add_parser("prepare")
    for name in ("dialogue", "voita", "ctxpro", "output"):
        preparing.add_argument(name, type=Path)
    preparing.add_argument("--limit", type=int, help="lines of each split, to try the script")
    preparing.add_argument("--items", type=int, default=ITEMS, help="of each ctxpro set")
    scoring = verbs.add_parser("bleu")
    scoring.add_argument("results", type=Path)
    given = parser.parse_args()
    if given.verb == "prepare":
        prepare(given.dialogue, given.voita, given.ctxpro, given.output, given.limit, given.items)
    else:
        bleu(given.results)


if __name__ == "__main__":
    main()
