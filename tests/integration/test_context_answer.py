"""`evaluate` says in a sentence whether context helps, of models for which the truth is known."""

import json
from pathlib import Path

import pytest

from concatmt.corpus.prepare import CorpusConfig, prepare
from concatmt.settings import parse_settings
from concatmt.text.pipeline import TextSettings
from concatmt.training.train import train
from tests.conftest import Command
from tests.unit.training.tiny import make_task

# A noun decides the pronoun of the sentence after it, and nothing else does.
NOUNS = {"lamp": ("Lampe", "sie"), "table": ("Tisch", "er"), "book": ("Buch", "es")}
VERBS = {"stands": "steht", "costs": "kostet"}


def document(number: int) -> list[tuple[str, str]]:
    noun = list(NOUNS)[number % 3]
    verb = list(VERBS)[number % 2]
    german, pronoun = NOUNS[noun]
    return [(noun, german), (f"it {verb}", f"{pronoun} {VERBS[verb]}")]


def write(folder: Path, name: str, documents: int) -> None:
    for side, language in enumerate(("en", "de")):
        blocks = ["\n".join(pair[side] for pair in document(one)) for one in range(documents)]
        (folder / f"{name}.{language}").write_text("\n\n".join(blocks) + "\n", "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt it, one that cannot, and a test set of 48 documents."""
    folder = tmp_path_factory.mktemp("answer")
    for name, documents in (("train", 240), ("valid", 24), ("test", 96)):
        write(folder, name, documents)
    splits = {
        split: [{"format": "text", "source": f"{split}.en", "target": f"{split}.de"}]
        for split in ("train", "valid")
    }
    corpus = parse_settings(CorpusConfig, {"root": folder, "splits": splits}, "test")
    text = {
        "languages": {"source": "en", "target": "de"},
        "text": {"kind": "whitespace", "vocabulary": "joint"},
    }
    prepare(corpus, parse_settings(TextSettings, text, "test"), folder / "store", workers=1)
    for system in ("base", "s2to2"):
        task = make_task(
            folder / "store", system, max_updates=200, validate_every=100, tokens_per_update=128,
            optimiser={"learning_rate": 0.01, "warmup": 10},
        )  # fmt: skip
        assert train(task, folder / system)
    return folder


def test_a_model_that_uses_its_context_is_said_to(
    concatmt: Command, folder: Path, tmp_path: Path
) -> None:
    on = f"{folder / 'test.en'},{folder / 'test.de'}"
    runs = [folder / "base", folder / "s2to2"]
    done = concatmt("evaluate", *runs, "--on", on, "--output", "out")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    [answer] = found["context"]
    assert answer.startswith("Context helps s2to2: a reference sentence of test.en gains +")
    assert answer in done.stdout
    page = (tmp_path / "out" / "evaluation.html").read_text("utf-8")
    assert "Context helps s2to2" in page
    # "es" is never the right one of an item, for it may stand for nothing: two thirds are left, of
    # which half at most can be right without the noun.
    assert "swaps of base: it sees no context" in found["left_out"]
    [figure] = [one for one in found["swaps"]["s2to2, test.en"]["figures"] if one["kind"] == "all"]
    assert figure["items"] == 64
    accuracy = {name: one["accuracy"] for name, one in figure["systems"].items()}
    assert accuracy["gold"] > 0.95
    assert accuracy["none"] < 0.7
    assert accuracy["other"] < 0.7
