"""A glossary drawn from a corpus, sentences that hold its terms, and how often they are honoured.

    python benchmarks/glossary.py make train.en train.fr test.en test.fr FOLDER
    concatmt translate model FOLDER/sentences.en --output FOLDER/without.fr
    concatmt translate model FOLDER/sentences.en --output FOLDER/with.fr --glossary FOLDER/terms.tsv
    python benchmarks/glossary.py count FOLDER without.fr with.fr

A term is a word of the source that has a partner in the training text (Dice coefficient of the
sentences that hold them); a second form is a word like it, as a plural is. Each sentence is a
document of its own.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

WORD = re.compile(r"[^\W\d_]+")
FEWEST, MOST = 20, 400  # times that a term is in the training text
SHORTEST = 5  # letters
DICE, DICE_OF_FORM = 0.4, 0.1
SENTENCES = 90


def pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    with source.open(encoding="utf-8") as ours, target.open(encoding="utf-8") as theirs:
        for one, other in zip(ours, theirs, strict=True):
            if one.strip():
                yield one.strip(), other.strip()


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


def partners(train: list[tuple[str, str]], wanted: set[str]) -> dict[str, list[str]]:
    """The forms that may translate each word, best first; none where no partner is clear."""
    of_source, of_target, both = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for source, target in train:
        theirs = words(target)
        of_target.update(theirs)
        for word in words(source) & wanted:
            of_source[word] += 1
            both.update((word, other) for other in theirs)
    scores: dict[str, list[tuple[float, str]]] = {}
    for (word, other), count in both.items():
        score = 2 * count / (of_source[word] + of_target[other])
        if score >= DICE_OF_FORM and FEWEST <= of_source[word] <= MOST:
            scores.setdefault(word, []).append((score, other))
    found = {}
    for word, candidates in scores.items():
        (best, form), *others = sorted(candidates, reverse=True)
        if best >= DICE and len(form) >= SHORTEST:
            like = (other for _, other in others if other[:4] == form[:4])
            found[word] = [form, *islice(like, 1)]
    return found


def make(chosen: argparse.Namespace) -> None:
    train = list(pairs(chosen.train_source, chosen.train_target))
    test = list(pairs(chosen.test_source, chosen.test_target))
    wanted = {word for source, _ in test for word in words(source) if len(word) >= SHORTEST}
    forms = partners(train, wanted)
    terms = random.Random(chosen.seed).sample(sorted(forms), chosen.terms)
    held = [pair for pair in test if words(pair[0]) & set(terms)][:SENTENCES]
    chosen.folder.mkdir(parents=True, exist_ok=True)
    rows = ("\t".join([term, *forms[term]]) for term in terms)
    (chosen.folder / "terms.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for side, name in enumerate(("sentences.en", "reference.fr")):
        text = "\n\n".join(pair[side] for pair in held) + "\n"
        (chosen.folder / name).write_text(text, encoding="utf-8")


def count(chosen: argparse.Namespace) -> None:
    import sacrebleu

    def lines(name: str) -> list[str]:
        text = (chosen.folder / name).read_text(encoding="utf-8")
        return [line for line in text.split("\n") if line.strip()]

    rows = [row.split("\t") for row in lines("terms.tsv")]
    source, reference = lines("sentences.en"), lines("reference.fr")
    print("| | honoured | BLEU | chrF |\n| --- | --- | --- | --- |")
    for name in [*chosen.translations, "reference.fr"]:
        texts = lines(name)
        held = [
            any(form in words(text) for form in forms)
            for one, text in zip(source, texts, strict=True)
            for term, *forms in rows
            if term in words(one)
        ]
        share = f"{sum(held)} of {len(held)} ({sum(held) / len(held):.0%})"
        scores = [
            f"{score(texts, [reference]).score:.1f}"
            for score in (sacrebleu.corpus_bleu, sacrebleu.corpus_chrf)
        ]
        print(f"| {name} | {share} | " + " | ".join(scores) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    for name in ("train_source", "train_target", "test_source", "test_target", "folder"):
        making.add_argument(name, type=Path)
    making.add_argument("--terms", type=int, default=50)
    making.add_argument("--seed", type=int, default=1)
    making.set_defaults(run=make)
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("translations", nargs="+")
    counting.set_defaults(run=count)
    chosen = parser.parse_args()
    chosen.run(chosen)


if __name__ == "__main__":
    main()
