"""What the pages of the documentation take for granted, in small, so that their commands can run.

`check_docs` uses it: a generated corpus, models of a few updates (one of them, as a directory of
Hugging Face, in the place of OPUS-MT), texts, a film of some cues, the plug-ins of the pages.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """\
languages: {source: en, target: fr}
text: {kind: sentencepiece, size: 340}
corpus:
  splits:
    train: [{format: text, source: train.en, target: train.fr}]
    valid: [{format: text, source: dev.en, target: dev.fr}]
"""
SMALL = (
    "--set model.dim=16 --set model.encoder.layers=1 --set model.decoder.layers=1"
    " --set model.encoder.heads=2 --set model.decoder.heads=2"
    " --set model.encoder.feed_forward=32 --set model.decoder.feed_forward=32"
)
FEW = (
    "--set training.max_updates=4 --set training.optimiser.cooldown=null"
    " --set training.validate_every=4 --set training.tokens_per_update=512"
    " --set training.batch.tokens=512"
)


def make(folder: Path) -> None:
    """All of it, under the names that the pages use."""
    _testbed(folder)
    _french(folder)
    english, russian = (
        (folder / "testbed" / f"test.{side}").read_text("utf-8").splitlines(keepends=True)
        for side in ("en", "ru")
    )
    # Twenty sentences: one of the paper's conventions joins four to a line.
    places = [place for place, line in enumerate(english) if line.strip()]
    end = places[20]
    for name in ("talk.en", "test.en", "big.en", "input.en"):
        (folder / name).write_text("".join(english[:end]))
    translations = ("test.ru", "test.de", "test.fr", "out.ru", "base.ru", "s4to4.ru")
    for name in (*translations, "base.de", "s4to4.de"):
        (folder / name).write_text("".join(russian[:end]))
    document = {
        "id": "a",
        "source": [line.strip() for line in english[:4]],
        "target": [line.strip() for line in russian[:4]],
    }
    for name in ("talks.jsonl", "docs.jsonl"):
        (folder / name).write_text(json.dumps(document) + "\n")
    files = ROOT / "tests" / "data" / "files"
    shutil.copytree(files, folder / "tests" / "data" / "files")
    for name in ("film.srt", "film.vtt"):
        shutil.copy(files / name, folder / name)
    (folder / "terms.tsv").write_text("boat\tnavire\n")
    pages = [ROOT / "docs" / name for name in ("plugins.md", "tutorial.md")]
    text = "".join(page.read_text("utf-8") for page in pages)
    for block in re.findall(r"```python\n(\"\"\"\w+\.py: .*?)```", text, re.DOTALL):
        (folder / block[3:].partition(":")[0]).write_text(block)


def _testbed(folder: Path) -> None:
    """Three systems of the miniature."""
    sizes = "--documents 150 --items 8 --test-documents 8"
    _call(folder, f"testbed --pair en-ru --output testbed {sizes}")
    _call(folder, "prepare miniature --set corpus.root=testbed --output data")
    for system in ("base", "s4to4", "s4to4+cd"):
        what = f"--data data --system {system} --output runs/{system}"
        _call(folder, f"train miniature {what} {SMALL} {FEW}")
    for name in ("s4to4", "base"):
        shutil.copytree(folder / "runs" / name / "model", folder / name / "model")
        _call(folder, f"score {name}/model testbed/contrastive/tv.jsonl --output {name}.jsonl")


def _french(folder: Path) -> None:
    """English with its translation, called French; a model of windows and one of sentences."""
    for split, theirs in (("train", "train"), ("dev", "valid")):
        for side, there in (("en", "en"), ("fr", "de")):
            text = (ROOT / "examples" / "sample" / f"{theirs}.{there}").read_text("utf-8")
            (folder / f"{split}.{side}").write_text(text)
    (folder / "corpus.yaml").write_text(CONFIG)
    (folder / "corpus").mkdir()
    for name in ("train.en", "train.fr", "dev.en", "dev.fr"):
        shutil.copy(folder / name, folder / "corpus" / name)
    _call(folder, "prepare corpus.yaml --output fr-data")
    for system, output in (("base", "fr-base"), ("s4to4+cd", "fr-run")):
        what = f"--data fr-data --system {system} --output {output}"
        marian = "--set model.start=zero"  # as OPUS-MT's models start
        _call(folder, f"train corpus.yaml {what} {SMALL} {FEW} {marian}")
    shutil.copytree(folder / "fr-run" / "model", folder / "model")
    shutil.copytree(folder / "fr-base" / "model", folder / "en-fr")
    _call(folder, "convert fr-base/model --to huggingface --output opus-mt-en-fr")


def _call(folder: Path, command: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "concatmt", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"stand-ins: concatmt {command}: {done.stderr}")
