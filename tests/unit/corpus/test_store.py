"""The store refuses what is not whole, not ours or not of this version."""

import json
from pathlib import Path

import pytest

from concatmt.corpus import store as store_module
from concatmt.corpus.store import Store
from concatmt.errors import UserError
from tests.unit.corpus.corpora import make_store

CORPUS = [[("a b c", "x y"), ("d e", "z")], [("f", "w")]]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path, CORPUS)


def test_sentences_come_back_from_the_store(store: Store) -> None:
    split = store.split("train")
    pairs = [pair for document in CORPUS for pair in document]
    assert len(split) == 3
    for i, (source, target) in enumerate(pairs):
        assert store.text.source.decode(split.source[i]) == source
        assert store.text.target.decode(split.target[i]) == target
    assert split.documents.tolist() == [0, 2, 3]


def test_ids_take_16_bits_when_the_vocabulary_allows(store: Store) -> None:
    assert store.manifest["token_type"] == "uint16"
    assert store.split("train").source.tokens.dtype.itemsize == 2


def test_a_missing_split_is_told_with_those_there_are(store: Store) -> None:
    with pytest.raises(UserError, match="no split 'valid'; it has train"):
        store.split("valid")


@pytest.mark.parametrize("file", ["train/source.tokens.bin", "train/runs.bin", "text/text.json"])
def test_an_altered_byte_is_noticed(store: Store, file: str) -> None:
    path = store.folder / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match=f"{file}: altered"):
        Store.open(store.folder)


def test_a_truncated_file_is_noticed(store: Store) -> None:
    path = store.folder / "train" / "target.tokens.bin"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(UserError, match="target.tokens.bin: truncated: 12 bytes, should be 14"):
        Store.open(store.folder)


def test_a_missing_file_is_noticed(store: Store) -> None:
    (store.folder / "train" / "documents.bin").unlink()
    with pytest.raises(UserError, match="documents.bin: missing"):
        Store.open(store.folder)


def test_an_altered_manifest_is_noticed(store: Store) -> None:
    path = store.folder / "manifest.json"
    path.write_text(path.read_text().replace('"uint16"', '"uint32"'))
    with pytest.raises(UserError, match="manifest.json: altered"):
        Store.open(store.folder)


def test_a_store_of_another_version_is_refused(store: Store) -> None:
    path = store.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}))
    with pytest.raises(UserError, match="a store of version 99, this program reads version 1"):
        Store.open(store.folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "not a store: it has no manifest.json"), ("{}", "of something else"), ("{", "damaged")],
)
def test_a_foreign_folder_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UserError, match=message):
        Store.open(tmp_path)


def test_of_a_large_store_a_sample_is_checked_and_all_on_request(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "FULL_HASH_LIMIT", 0)
    monkeypatch.setattr(store_module, "_hash_sample", lambda path: "not looked at")
    with pytest.raises(UserError, match="altered"):
        Store.open(store.folder)
    assert Store.open(store.folder, verify=True).hash == store.hash
