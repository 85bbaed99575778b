"""What `concatmt init` finds, proposes and writes."""

from pathlib import Path
from typing import Any

import pytest

from concatmt.config import Config
from concatmt.errors import UserError
from concatmt.model.systems import parse_system
from concatmt.settings import load_settings, parse_settings
from concatmt.setup import init
from concatmt.setup.corpora import Corpora
from concatmt.setup.hardware import Gpu, Hardware
from concatmt.setup.init import start
from concatmt.setup.probe import Speeds
from concatmt.setup.proposal import Amount, propose, with_length
from tests.conftest import Command

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
LAPTOP = Hardware("a processor", 4, 16 * 10**9, ())
SERVER = Hardware("a processor", 32, 64 * 10**9, (Gpu("a GPU", 80 * 10**9),))


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def test_pairs_of_texts_are_found_with_their_document_marks_and_splits(tmp_path: Path) -> None:
    pair = {"de": "Eins .\nZwei .\n", "en": "One .\nTwo .\n", "docs": "a\nb\n"}
    for stem in ("train", "train_extra", "dev", "dev_games", "tst2015"):
        write(tmp_path, **{f"{stem}__{end}": text for end, text in pair.items()})
    write(tmp_path, README__md="no corpus", LICENCE="none")
    found = Corpora.find(tmp_path)
    assert found.languages == ("en", "de")  # English first
    assert {name: len(one.readers) for name, one in found.splits.items()} == {
        "train": 2,
        "valid": 1,
        "test": 1,
    }
    train = found.splits["train"]
    assert {type(reader).name() for reader in train.readers} == {"ids"}
    train.count(tmp_path)
    assert train.sizes.documents % 2 == 0
    assert any("dev_games" in note for note in found.notes)
    assert Corpora.find(tmp_path, source="de").languages == ("de", "en")


def test_languages_that_cannot_be_known_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, train__en="a\n", train__de="b\n", train__fr="c\n")
    with pytest.raises(UserError, match="texts in de, en, fr; give --source and --target"):
        Corpora.find(tmp_path)
    assert Corpora.find(tmp_path, "fr", "de").languages == ("fr", "de")
    with pytest.raises(UserError, match="no parallel corpus for en-ru"):
        Corpora.find(tmp_path, "en", "ru")
    with pytest.raises(UserError, match="no such folder"):
        Corpora.find(tmp_path / "nowhere")


@pytest.mark.parametrize("hardware", [LAPTOP, SERVER])
def test_models_grow_with_the_text_and_every_proposal_is_a_configuration(
    hardware: Hardware,
) -> None:
    sizes = []
    for words in (1_000, 500_000, 5_000_000, 500_000_000):
        proposal = propose(Amount(words // 200, words // 10, words), hardware, True)
        tree, _, seconds = with_length(proposal, words * 5, 1000, 8)
        config = parse_settings(Config, tree, "the proposal")
        assert seconds <= 8 * 3600 * 1.01 or config.training.max_updates == 200
        assert parse_system(proposal.system).sentences == 4
        sizes.append(config.model.dim)
    assert sizes == sorted(sizes)
    assert sizes[-1] == (512 if hardware.gpus else 256)


def test_without_documents_there_is_no_context_to_propose() -> None:
    for documents, known in ((1, False), (10_000, True)):
        found = propose(Amount(documents, 10_000, 100_000), LAPTOP, known)
        assert found.system == "base"
        assert found.reasons["system"].startswith("base: ")


def test_a_folder_becomes_a_configuration_from_which_a_store_is_made(
    tmp_path: Path, concatmt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("train.en", "train.de")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in names:
        (corpus / name).write_bytes((SAMPLE / name).read_bytes())
    found = start(corpus, tmp_path / "my.yaml", None, None, 0.01)
    assert any("held out" in line for line in found.found)
    assert [command.split()[1] for command, _ in found.commands] == [
        "prepare",
        "train",
        "translate",
    ]
    config = load_settings(Config, str(tmp_path / "my.yaml"), [])
    assert config.languages is not None
    assert (config.languages.source, config.languages.target) == ("en", "de")
    whole = sum(
        (tmp_path / "my" / f"{n}.jsonl").read_text().count('"id"')
        for n in ("train", "valid", "test")
    )
    alone = Corpora.find(corpus).splits["train"]
    alone.count(corpus)
    assert whole == alone.sizes.documents
    with pytest.raises(UserError, match="exists; choose another --output"):
        start(corpus, tmp_path / "my.yaml", None, None, 0.01)
    command, _ = found.commands[0]
    done = concatmt(*command.split()[1:])
    assert done.returncode == 0, done.stderr


def test_a_model_that_would_hardly_see_the_text_gives_way_to_a_smaller_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("train.en", "train.de"):
        (tmp_path / name).write_bytes((SAMPLE / name).read_bytes())
    corpora = Corpora.find(tmp_path)
    tried = []

    def measure(_: object, __: object, ___: object, tree: dict[str, Any]) -> Speeds:
        """As slow as its size: 9 tokens a second of the largest that is tried."""
        tried.append(tree["model"]["dim"])
        return Speeds(100, 9 * (256 / tried[-1]) ** 2, 10, 10, 1)

    monkeypatch.setattr(init, "measure", measure)
    amount = Amount(1_000, 20_000, 5_000_000)
    proposal, _, (_, epochs, _) = init._fitting(corpora, amount, 8)
    assert tried == [256, 128]
    assert epochs > 2
    assert proposal.reasons["model"] == (
        "mini: a larger one would see the text less than 2 times in --hours"
    )
    init._fitting(corpora, amount, 0.01)
    assert tried[2:] == [256, 128, 64]
