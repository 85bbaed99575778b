"""Writes a testbed to a folder: text, contrastive sets, expected words and the card."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from concatmt.files import atomic_folder, hash_file, write_json, write_text
from concatmt.progress import Progress, progress
from concatmt.testbed.card import Tally, make_card
from concatmt.testbed.card_text import card_markdown
from concatmt.testbed.contrastive import Item, contrastive_sets
from concatmt.testbed.dials import Dials
from concatmt.testbed.documents import (
    Document,
    Recipe,
    draw_documents,
    evaluation_recipe,
    keep_out,
    training_recipe,
)

CARD = "card.json"


def write_testbed(dials: Dials, output: Path) -> dict[str, Any]:
    """Generate everything into `output`, which only appears when complete; returns the card."""
    total = dials.documents + dials.valid_documents + dials.test_documents
    with (
        atomic_folder(output, CARD) as folder,
        progress("testbed", total, "documents") as bar,
    ):
        taken: set[bytes] = set()
        sets = dict(contrastive_sets(dials, taken))
        splits = {"contrastive": _write_sets(sets, folder)}
        for name, recipe, count in (
            ("test", evaluation_recipe(dials), dials.test_documents),
            ("valid", training_recipe(dials), dials.valid_documents),
        ):
            documents = list(_draw(recipe, name, count, dials, taken, bar))
            keep_out(documents, taken)
            splits[name] = _write_split(documents, name, dials.pair, folder)
        training = _draw(training_recipe(dials), "train", dials.documents, dials, taken, bar)
        splits["train"] = _write_split(training, "train", dials.pair, folder)
        ordered = {name: splits[name] for name in ("train", "valid", "test", "contrastive")}
        card = make_card(dials, ordered, sets)
        card["files"] = {
            path.relative_to(folder).as_posix(): hash_file(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        write_text(folder / "card.md", card_markdown(card))
        write_json(folder / CARD, card)
    return card


def _draw(
    recipe: Recipe, name: str, count: int, dials: Dials, taken: set[bytes], bar: Progress
) -> Iterator[Document]:
    for document in draw_documents(recipe, f"{dials.seed} {name}", count, taken):
        bar.advance()
        yield document


def _write_split(documents: Iterable[Document], name: str, pair: str, folder: Path) -> Tally:
    tally = Tally()
    with ExitStack() as stack:
        source, target = (
            stack.enter_context(
                (folder / f"{name}.{language}").open("w", encoding="utf-8", newline="\n")
            )
            for language in pair.split("-")
        )
        for number, document in enumerate(documents):
            gap = "\n" if number else ""
            source.write(gap + "".join(f"{sentence.source}\n" for sentence in document.sentences))
            target.write(gap + "".join(f"{sentence.target}\n" for sentence in document.sentences))
            tally.add_document(document)
    return tally


def _write_sets(sets: dict[str, list[Item]], folder: Path) -> Tally:
    tally = Tally()
    (folder / "contrastive").mkdir()
    for name, items in sets.items():
        _write_lines(folder / "contrastive" / f"{name}.jsonl", (i.contrastive() for i in items))
        for item in items:
            tally.add_item(item)
    everything = (item.generative() for items in sets.values() for item in items)
    _write_lines(folder / "expected.jsonl", everything)
    return tally


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    write_text(path, "".join(lines))
