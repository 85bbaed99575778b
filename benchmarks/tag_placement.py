"""Share of tags that come to stand where a translator put them, with and without word alignment.

    python benchmarks/tag_placement.py MODEL benchmarks/tag_placement/en-fr.tsv

The file has sentences and their translations with stretches in [ ], { } or < >, the same kind on
both sides. The model only aligns; it does not translate. A stretch counts if both of its ends are
right.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from concatmt.decoding.alignment import Head, WordAligner
from concatmt.decoding.loading import LoadedModel
from concatmt.segments.segment import Alignment
from concatmt.segments.tags import Tag, moved

KINDS = ("[]", "{}", "<>")
Example = tuple[str, list[Tag], str, list[Tag]]


def read(path: Path) -> list[Example]:
    """Plain sentences and translations with their tags."""
    examples = []
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target = line.split("\t")
        examples.append((*parse(source), *parse(target)))
    return examples


def parse(text: str) -> tuple[str, list[Tag]]:
    """Text without its brackets, and these as tags."""
    plain, tags = "", []
    for character in text:
        kind = next((kind for kind in KINDS if character in kind), None)
        if kind is None:
            plain += character
        else:
            tags.append(Tag(len(plain), character, character == kind[1], kind))
    return plain, tags


def spans(tags: list[Tag]) -> dict[str | None, tuple[int, int]]:
    """Start and end of every stretch."""
    starts = {tag.pair: tag.offset for tag in tags if not tag.closes}
    return {tag.pair: (starts[tag.pair], tag.offset) for tag in tags if tag.closes}


def score(examples: list[Example], alignments: list[Alignment]) -> tuple[int, int, list[str]]:
    """Stretches that are right, all, and the wrong ones for reading."""
    right = total = 0
    wrong = []
    for (source, tags, target, wanted), alignment in zip(examples, alignments, strict=True):
        found = spans(moved(tags, source, target, alignment))
        for kind, span in spans(wanted).items():
            total += 1
            right += found[kind] == span
            if found[kind] != span:
                got = target[slice(*found[kind])]
                wrong.append(f"{target[slice(*span)]!r} wanted, {got!r} found: {source}")
    return right, total, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--every-head", action="store_true", help="a line for each head, best last")
    options = parser.parse_args()
    examples = read(options.examples)
    pairs = [(source, target) for source, _, target, _ in examples]
    model = LoadedModel.load(options.model)
    aligner = WordAligner(model.engine, model.text)
    alignments = aligner.align(pairs)
    nothing: list[Alignment] = [()] * len(pairs)
    for name, links in (("share of words", nothing), (f"{aligner.head}", alignments)):
        right, total, wrong = score(examples, links)
        print(f"{name}: {right} of {total}, {100 * right / total:.1f}%")
    print("\n".join(wrong))
    if options.every_head:
        stack = model.engine.config.architecture.decoder
        heads = [
            Head(layer + 1, head, late)
            for layer in range(stack.layers)
            for head in range(stack.heads + 1)
            for late in (False, True)
        ]
        rows = [
            (score(examples, WordAligner(model.engine, model.text, head).align(pairs))[0], head)
            for head in heads
        ]
        for right, head in sorted(rows):
            print(f"{right:3d} {head}")


if __name__ == "__main__":
    main()
