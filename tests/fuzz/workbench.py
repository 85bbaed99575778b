"""One small thing of each kind that commands read: a corpus, a store, models, a run, a journal.

Made once, in a few seconds; trials copy what they damage. Also keeps what undamaged things give, to
compare with. Does not know how things are damaged.
"""

import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from concatmt.conversion.to_hugging_face import export_hugging_face
from concatmt.model.directory import save_model
from concatmt.text.moses_bpe import MosesBpeConfig
from concatmt.text.pipeline import Languages, TextSettings, learn_pipeline
from tests.fuzz.damage import Hashes
from tests.fuzz.oracle import Command, Done, run
from tests.unit.decoding.models import MARIAN, make_model, make_pipeline, write_model
from tests.unit.training.tiny import ARCHITECTURE, TRAINING

WORDS = 12
SHARED = Path(__file__).parents[3] / "shared"
Documents = list[tuple[list[str], list[str]]]  # sentences of both sides
QUICK = ("--beam", "2", "--threads", "1", "--length-factor", "0", "--length-constant", "6")
SYSTEM = "s3to3+cd"


@dataclass(frozen=True)
class Workbench:
    """Everything lies in one folder, under fixed names."""

    folder: Path
    hashes: dict[str, Hashes] = field(default_factory=dict)
    given: dict[str, bytes] = field(default_factory=dict)  # what the undamaged ones give
    foreign: list[str] = field(default_factory=list)  # models of other toolkits

    def __truediv__(self, name: str) -> Path:
        return self.folder / name


def make_documents(draw: random.Random, count: int, longest: int = 5) -> Documents:
    """Documents in which the translation of `a3` is `b3`."""
    documents = []
    for _ in range(count):
        sentences = [
            [draw.randrange(WORDS) for _ in range(draw.randint(1, 6))]
            for _ in range(draw.randint(1, longest))
        ]
        source, target = ([" ".join(f"{side}{i}" for i in s) for s in sentences] for side in "ab")
        documents.append((source, target))
    return documents


def plain_text(documents: Documents, side: int) -> str:
    """One side of documents, with blank lines between."""
    return "\n".join("".join(f"{line}\n" for line in document[side]) for document in documents)


def make_workbench(folder: Path) -> Workbench:
    """Make everything; only trials need what is in it, so a failure here is an assertion."""
    folder.mkdir(parents=True)
    bench = Workbench(folder)
    draw = random.Random(7)
    for split, count in (("train", 30), ("valid", 5)):
        documents = make_documents(draw, count)
        for side, language in enumerate(("en", "de")):
            (bench / f"{split}.{language}").write_text(plain_text(documents, side))
    (bench / "c.yaml").write_text(yaml.safe_dump(configuration()))
    _succeed(bench, "prepare", "c.yaml", "--output", "store", "--workers", "1")
    # With a limit that is raised later, the run has checkpoints from which it goes on.
    train = ("train", "c.yaml", "--data", "store", "--system", SYSTEM, "--output")
    _succeed(bench, *train, "run")
    _succeed(bench, *train, "longer", "--set", "training.max_updates=12")
    bench.given["weights"] = (bench / "longer" / "model" / "model.safetensors").read_bytes()
    write_model(bench / "pieces")
    _write_bpe_model(bench)
    _write_foreign_models(bench)
    _write_texts(bench, draw)
    for model in ("run/model", "pieces", "bpe"):
        done = _succeed(bench, "translate", model, "in.txt", *QUICK)
        bench.given[model] = done.stdout
    for system in ("run", "longer"):
        _succeed(bench, "score", f"{system}/model", "ours.jsonl", "--output", f"{system}.items")
        (bench / f"{system}.items").rename(bench / f"{system}-items.jsonl")
    _succeed(bench, "translate", "run/model", "ours.jsonl", *QUICK, "--format", "jsonl",
             "--input-format", "jsonl", "--output", "translated.jsonl")  # fmt: skip
    bench.given["show"] = _succeed(bench, "inspect", "show", "store", "--count", "200").stdout
    _interrupt_translation(bench)
    for name in ("store", "run", "run/model", "pieces", "bpe"):
        bench.hashes[name] = Hashes.of(bench / name)
    return bench


def configuration() -> dict[str, Any]:
    """Of `prepare` and `train`."""
    splits = {
        split: [{"format": "text", "source": f"{split}.en", "target": f"{split}.de"}]
        for split in ("train", "valid")
    }
    training = {**TRAINING, "max_updates": 8, "checkpoint_every": 2, "device": "cpu"}
    return {
        "languages": {"source": "en", "target": "de"},
        "text": {"kind": "whitespace", "vocabulary": "joint"},
        "corpus": {"splits": splits},
        "model": ARCHITECTURE,
        "training": training,
    }


def _succeed(bench: Workbench, *arguments: str) -> Done:
    done = run(Command(arguments), bench.folder)
    assert done.code == 0, f"{arguments}: {done.stderr}"
    return done


def _write_bpe_model(bench: Workbench) -> None:
    languages = Languages(source="en", target="de")
    text = MosesBpeConfig(kind="moses-bpe", merges=60, vocabulary="separate")

    def lines(language: str) -> list[str]:
        return [line for line in (bench / f"train.{language}").read_text().split("\n") if line]

    pipeline = learn_pipeline(
        TextSettings(languages=languages, text=text), lambda: lines("en"), lambda: lines("de")
    )
    size = max(len(pipeline.source), len(pipeline.target))
    assert len(pipeline.source) == len(pipeline.target) == size
    save_model(bench / "bpe", make_model("s3to3", size, 16), lambda f: pipeline.save(f / "text"))


def _write_foreign_models(bench: Workbench) -> None:
    """A MarianMT directory that we export; Marian's own comes from the shared data, if there."""
    pipeline = make_pipeline()
    kind = "shared" if pipeline.joint else "decoder-tied"
    model = make_model("base", len(pipeline.target), 16, embeddings=kind, **MARIAN)
    export_hugging_face(model, pipeline, bench / "huggingface")
    bench.foreign.append("huggingface")
    golden = Path(os.environ.get("CONCATMT_SHARED", SHARED)) / "golden-marian" / "swish-opus"
    if golden.is_dir():
        (bench / "marian").mkdir()
        for path in golden.iterdir():
            if path.name.startswith(("model", "vocab")) or path.suffix == ".spm":
                (bench / "marian" / path.name).write_bytes(path.read_bytes())
        bench.foreign.append("marian")


def _write_texts(bench: Workbench, draw: random.Random) -> None:
    documents = make_documents(draw, 4)
    for side, name in enumerate(("in.txt", "ref.txt")):
        (bench / name).write_text(plain_text(documents, side))
    (bench / "long.txt").write_text("\n".join(f"a{draw.randrange(WORDS)}\n" for _ in range(700)))
    records = [contrastive_item(draw, number) for number in range(4)]
    (bench / "ours.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))


def contrastive_item(draw: random.Random, number: int) -> dict[str, Any]:
    """In our own format."""
    (source, target), (_, other) = make_documents(draw, 2, 1)
    context = make_documents(draw, 1, 2)[0]
    return {
        "id": f"i{number}",
        "source": [*context[0], *source],
        "context": context[1],
        "candidates": [target[0], f"{other[0]} b0"],
        "correct": 0,
        "phenomenon": "tv",
        "distance": 1,
        "orbit": f"o{number // 2}",
        "document": f"d{number // 2}",
        "expected": target[0].split()[0],
    }


TRANSLATE_LONG = ("translate", "run/model", "long.txt", "--output", "long.out", *QUICK)


def _interrupt_translation(bench: Workbench) -> None:
    """Leave the journal of a translation that was killed after its second chunk."""
    done = run(Command((*TRANSLATE_LONG, "--batch", "8")), bench.folder)
    assert done.code == 0, done.stderr
    bench.given["long"] = (bench / "long.out").read_bytes()
    (bench / "long.out").unlink()
    journal = bench / ".long.out.journal"
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os.chdir(bench.folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.argv = ["concatmt", *TRANSLATE_LONG, "--batch", "8", "--resume"]
            from concatmt.cli import main

            main()
        while len(list(journal.glob("*.chunk"))) < 2 and not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.001)
        if journal.exists():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if len(list(journal.glob("*.chunk"))) >= 2 and not (bench / "long.out").exists():
            return
        (bench / "long.out").unlink(missing_ok=True)
    raise AssertionError("the translation was never caught between two chunks")
