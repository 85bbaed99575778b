"""Small corpora for tests: stores from lists of documents."""

from pathlib import Path

from concatmt.corpus.prepare import CorpusConfig, prepare
from concatmt.corpus.store import Store
from concatmt.settings import parse_settings
from concatmt.text.pipeline import TextSettings

Corpus = list[list[tuple[str, str]]]  # documents of sentence pairs


def write_corpus(folder: Path, documents: Corpus) -> None:
    for side, name in enumerate(("en", "de")):
        text = "\n".join("".join(f"{pair[side]}\n" for pair in doc) for doc in documents)
        (folder / name).write_text(text, encoding="utf-8")


def make_store(folder: Path, documents: Corpus, **corpus: object) -> Store:
    write_corpus(folder, documents)
    reader = {"format": "text", "source": "en", "target": "de"}
    tree = {"root": folder, "splits": {"train": [reader]}, **corpus}
    config = parse_settings(CorpusConfig, tree, "test")
    text = {"languages": {"target": "de"}, "text": {"kind": "whitespace"}}
    store, _ = prepare(config, parse_settings(TextSettings, text, "test"), folder / "store")
    return store
