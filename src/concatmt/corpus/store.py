"""The store: a prepared corpus on disk, memory-mapped, with hashes of every file.

A split is six flat arrays. Sentences follow one another, each closed by its separator, so
the tokens of a window are one contiguous slice. Opening reads the manifest and maps the files;
small stores are hashed in full, large ones by sample.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, ConfigDict, Field

from concatmt.errors import UserError
from concatmt.files import hash_file, hash_text, read_json, write_json
from concatmt.settings import Settings, parse_settings
from concatmt.text.pipeline import TextPipeline

FORMAT, VERSION = "concatmt store", 1
MANIFEST = "manifest.json"
TEXT = "text"  # the folder of the text pipeline, beside those of the splits
FULL_HASH_LIMIT = 32 << 20  # bytes of a store up to which opening it checks every byte
SAMPLE_BLOCKS, SAMPLE_BLOCK = 64, 16 << 10

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def _inside(name: str) -> str:
    """Check that a path is below the store's folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError("must be a path inside the store's folder")
    return name


def _plain(name: str) -> str:
    """Check that a split's name is a free folder name."""
    if name == TEXT or len(PurePosixPath(_inside(name)).parts) != 1:
        raise ValueError(f"a split's name is the name of a folder, without '/', and not {TEXT!r}")
    return name


SplitName = Annotated[str, AfterValidator(_plain)]


class _SplitEntry(Settings):
    model_config = ConfigDict(extra="ignore")
    statistics: dict[str, Any]


class _FileEntry(Settings):
    model_config = ConfigDict(extra="ignore")
    bytes: Annotated[int, Field(ge=0)]
    sha256: str
    sample: str


class _Manifest(Settings):
    """What opening a store relies on. The manifest comes with the data and may be anybody's."""

    model_config = ConfigDict(extra="ignore")
    # numpy knows types (`O`) that would turn the bytes of a file into addresses.
    token_type: Literal["uint16", "uint32"]
    splits: dict[SplitName, _SplitEntry]
    files: dict[Annotated[str, AfterValidator(_inside)], _FileEntry]


@dataclass(frozen=True)
class Sentences:
    """The sentences of one side of a split, one after the other."""

    tokens: Ids  # (tokens,) every sentence is closed by its separator
    offsets: Ints  # (N + 1,) start of each sentence, then the number of tokens

    def __getitem__(self, index: int) -> list[int]:
        """Token ids of one sentence, without its separator."""
        ids: list[int] = self.tokens[self.offsets[index] : self.offsets[index + 1] - 1].tolist()
        return ids


@dataclass(frozen=True)
class Split:
    """One split of a store: N sentences in D documents, all arrays memory-mapped."""

    name: str
    statistics: Mapping[str, Any]
    source: Sentences
    target: Sentences
    documents: Ints  # (D + 1,) index of each document's first sentence, then N
    # (R + 1,) index of each run's first sentence, then N. A run is a document, or a part of one
    # between two gaps that cleaning left: windows stay within a run.
    runs: Ints

    @classmethod
    def open(cls, folder: Path, token_type: str, statistics: Mapping[str, Any]) -> "Split":
        """Map the files of a split, refusing arrays that do not fit together."""

        def ints(name: str, end: int) -> Ints:
            """Numbers that rise from 0 to `end`; only small files are checked in full."""
            path = folder / f"{name}.bin"
            array = _map(path, "int64")
            small = array.nbytes <= FULL_HASH_LIMIT
            if (array[0], array[-1]) != (0, end) or (small and (np.diff(array) < 0).any()):
                raise UserError(f"{path}: damaged: does not count from 0 up to {end:,}")
            return array

        def side(name: str) -> Sentences:
            tokens = _map(folder / f"{name}.tokens.bin", token_type)
            return Sentences(tokens, ints(f"{name}.offsets", len(tokens)))

        source, target = side("source"), side("target")
        count = len(source.offsets) - 1
        if len(target.offsets) - 1 != count:
            raise UserError(
                f"{folder}: damaged: {count:,} source and {len(target.offsets) - 1:,} target"
                " sentences"
            )
        return cls(
            folder.name, statistics, source, target, ints("documents", count), ints("runs", count)
        )

    def __len__(self) -> int:
        return len(self.source.offsets) - 1


def _map(path: Path, kind: str) -> npt.NDArray[Any]:
    """A file as an array, without reading it."""
    size = path.stat().st_size
    if not size or size % np.dtype(kind).itemsize:
        raise UserError(f"{path}: damaged: {size:,} bytes are not numbers of type {kind}")
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))


class Store:
    """A prepared corpus: splits, the text pipeline, the manifest."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder, self.manifest = folder, manifest
        self.splits = {
            name: Split.open(folder / name, manifest["token_type"], entry["statistics"])
            for name, entry in manifest["splits"].items()
        }

    @classmethod
    def open(cls, folder: Path, *, verify: bool = False) -> "Store":
        """Open a store, refusing one that is truncated, altered or not a store.

        With `verify` every byte is hashed, whatever the size.
        """
        manifest = read_json(folder / MANIFEST, "store")
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise UserError(f"{folder}: not a store: {MANIFEST} describes something else")
        if manifest.get("version") != VERSION:
            raise UserError(
                f"{folder}: a store of version {manifest.get('version')}, this program reads"
                f" version {VERSION}; prepare the corpus again"
            )
        body = {key: value for key, value in manifest.items() if key != "hash"}
        if manifest.get("hash") != _hash_manifest(body):
            raise UserError(f"{folder / MANIFEST}: altered since it was written; prepare it again")
        parse_settings(_Manifest, manifest, str(folder / MANIFEST))
        _check_files(folder, manifest["files"], verify)
        return cls(folder, manifest)

    @cached_property
    def text(self) -> TextPipeline:
        """The text pipeline that made the token ids."""
        text = TextPipeline.load(self.folder / TEXT)
        for split in self.splits.values():
            for name, tokens, codec in (
                ("source", split.source.tokens, text.source),
                ("target", split.target.tokens, text.target),
            ):
                if tokens.nbytes <= FULL_HASH_LIMIT and tokens.max() >= len(codec):
                    path = self.folder / split.name / f"{name}.tokens.bin"
                    raise UserError(f"{path}: damaged: ids that are not in the vocabulary")
        return text

    @property
    def hash(self) -> str:
        """Hash of the whole store: equal hashes mean equal data."""
        return str(self.manifest["hash"])

    def split(self, name: str) -> Split:
        """The split called `name`."""
        if name not in self.splits:
            raise UserError(f"{self.folder}: no split {name!r}; it has {', '.join(self.splits)}")
        return self.splits[name]


def write_manifest(
    folder: Path, token_type: str, splits: Mapping[str, Any], about: Mapping[str, Any]
) -> None:
    """Describe and hash all files in `folder`; `about` says how they were made."""
    files = {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": hash_file(path),
            "sample": _hash_sample(path),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "token_type": token_type,
        "splits": dict(splits),
        "files": files,
        **about,
    }
    write_json(folder / MANIFEST, {**manifest, "hash": _hash_manifest(manifest)})


def _hash_manifest(manifest: Mapping[str, Any]) -> str:
    return hash_text(json.dumps(manifest, sort_keys=True, ensure_ascii=False))


def _check_files(folder: Path, files: Mapping[str, Any], verify: bool) -> None:
    total = sum(entry["bytes"] for entry in files.values())
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            raise UserError(f"{path}: missing; prepare the corpus again")
        size = path.stat().st_size
        if size != entry["bytes"]:
            kind = "truncated" if size < entry["bytes"] else "altered"
            raise UserError(f"{path}: {kind}: {size:,} bytes, should be {entry['bytes']:,}")
    for name, entry in files.items():
        path = folder / name
        # Always check the text pipeline: it is small and decides what every id means.
        if verify or total <= FULL_HASH_LIMIT or PurePosixPath(name).parts[0] == TEXT:
            same = hash_file(path) == entry["sha256"]
        else:
            same = _hash_sample(path) == entry["sample"]
        if not same:
            raise UserError(f"{path}: altered since it was written; prepare the corpus again")


def _hash_sample(path: Path) -> str:
    """SHA-256 of evenly spaced blocks, including the first and the last."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for start in _sample_starts(path.stat().st_size):
            file.seek(start)
            digest.update(file.read(SAMPLE_BLOCK))
    return digest.hexdigest()


def _sample_starts(size: int) -> Iterator[int]:
    last = max(0, size - SAMPLE_BLOCK)
    step = max(SAMPLE_BLOCK, -(-last // (SAMPLE_BLOCKS - 1)))
    yield from range(0, last, step)
    yield last
