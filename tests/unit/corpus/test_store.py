"""The store refuses what is not whole, not ours or not of this version."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from concatmt.corpus import store as store_module
from concatmt.corpus.store import Store
from concatmt.errors import UserError
from concatmt.files import hash_file, hash_text
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


def test_a_missing_split_is_reported_with_those_there_are(store: Store) -> None:
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
    [
        (None, "not a store: it has no manifest.json"),
        ("{}", "describes something else"),
        ("{", "damaged"),
    ],
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


def rewrite(store: Store, **changes: Any) -> None:
    """Change the manifest and give it the hash of what it says now."""
    path = store.folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    manifest.pop("hash")
    digest = hash_text(json.dumps(manifest, sort_keys=True, ensure_ascii=False))
    path.write_text(json.dumps({**manifest, "hash": digest}))


def rehash(store: Store, *names: str) -> None:
    """Let the manifest vouch for files as they are now."""
    files = json.loads((store.folder / "manifest.json").read_text())["files"]
    for name in names:
        path = store.folder / name
        digest = hash_file(path)
        files[name] = {"bytes": path.stat().st_size, "sha256": digest, "sample": digest}
    rewrite(store, files=files)


@pytest.mark.parametrize("kind", ["O", "object", "int64", "float32", "U4", "uint8", 7, None])
def test_only_two_types_of_tokens_are_mapped(store: Store, kind: object) -> None:
    """`O` would make Python objects of the file's bytes, and end the process."""
    rewrite(store, token_type=kind)
    with pytest.raises(UserError, match=r"manifest.json: token_type: .*'uint16' or 'uint32'"):
        Store.open(store.folder)


@pytest.mark.parametrize("place", ["absolute", "../elsewhere", "train/../../elsewhere", "", "text"])
def test_a_split_cannot_lie_outside_its_store(store: Store, place: str) -> None:
    elsewhere = store.folder.parent / "elsewhere"
    shutil.copytree(store.folder / "train", elsewhere)
    name = str(elsewhere) if place == "absolute" else place
    rewrite(store, splits={name: store.manifest["splits"]["train"]})
    with pytest.raises(UserError, match=r"manifest.json: splits"):
        Store.open(store.folder)


def test_files_outside_the_store_are_not_looked_at(store: Store) -> None:
    entry = next(iter(store.manifest["files"].values()))
    rewrite(store, files={"../../etc/passwd": entry})
    with pytest.raises(UserError, match="a path inside the store's folder"):
        Store.open(store.folder)


@pytest.mark.parametrize("name", ["../train", "a/b", "text"])
def test_a_split_of_a_new_store_cannot_lie_outside_it(tmp_path: Path, name: str) -> None:
    reader = {"format": "text", "source": "en", "target": "de"}
    with pytest.raises(UserError, match="folder"):
        make_store(tmp_path, CORPUS, splits={name: [reader]}, learn_from=name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["de", "en"]


@pytest.mark.parametrize(
    "change",
    [{"splits": []}, {"splits": {"train": {}}}, {"files": {"train/runs.bin": 3}}, {"files": None}],
)
def test_a_manifest_without_what_it_must_say_is_refused(store: Store, change: Any) -> None:
    rewrite(store, **change)
    with pytest.raises(UserError, match="manifest.json: (splits|files)"):
        Store.open(store.folder)


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("source.offsets", [0, 4, 7, 900], "does not count from 0 up to 9"),
        ("source.offsets", [0, 8, 4, 9], "does not count from 0 up to 9"),
        ("target.offsets", [0, 3, 7], "3 source and 2 target"),
        ("documents", [0, 2], "does not count from 0 up to 3"),
        ("runs", [-2, 3], "does not count from 0 up to 3"),
        ("runs", [], "0 bytes"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(
    store: Store, name: str, numbers: list[int], message: str
) -> None:
    (store.folder / "train" / f"{name}.bin").write_bytes(np.array(numbers, np.int64).tobytes())
    rehash(store, f"train/{name}.bin")
    with pytest.raises(UserError, match=message):
        Store.open(store.folder)


def test_the_text_of_a_large_store_is_checked_in_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "FULL_HASH_LIMIT", 0)
    monkeypatch.setattr(store_module, "SAMPLE_BLOCK", 1)
    monkeypatch.setattr(store_module, "SAMPLE_BLOCKS", 2)
    files = [store.folder / name for name in store.manifest["files"]]
    samples = {f"{path}": store_module._hash_sample(path) for path in files}
    entries = {
        name: {**entry, "sample": samples[f"{store.folder / name}"]}
        for name, entry in store.manifest["files"].items()
    }
    rewrite(store, files=entries)
    Store.open(store.folder)
    path = store.folder / "text" / "text.json"
    path.write_text(path.read_text().replace('"threshold": 1', '"threshold": 2'))
    assert store_module._hash_sample(path) == samples[f"{path}"]
    with pytest.raises(UserError, match="text.json: altered"):
        Store.open(store.folder)


def test_ids_beyond_the_vocabulary_are_refused(store: Store) -> None:
    path = store.folder / "train" / "target.tokens.bin"
    tokens = np.fromfile(path, np.uint16)
    tokens[0] = len(store.text.target)
    path.write_bytes(tokens.tobytes())
    rehash(store, "train/target.tokens.bin")
    with pytest.raises(UserError, match="target.tokens.bin: damaged: ids that are not in the voc"):
        _ = Store.open(store.folder).text
