"""Trials with documents: every format that `prepare`, `translate`, `score` and `evaluate` read.

Half of the files are as they should be, with odd sentences: then every sentence must come back. The
others are damaged: then the number of sentences is counted here once more, by simpler means.
"""

import gzip
import html
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from concatmt.corpus.store import Store
from concatmt.errors import UserError
from tests.fuzz.damage import copy, damage_bytes, damage_json_text
from tests.fuzz.oracle import Command, Done
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import (
    QUICK,
    Documents,
    Workbench,
    configuration,
    make_documents,
    plain_text,
)

ODD_SENTENCES = (
    "a0 </s> a1",
    "<end>",
    "<pad> <unk>",
    "_eos",
    "a\u00a0b",
    "\u3000a1\u3000",
    "<doc>",
    "</seg>",
    "<title>x</title>",
    "&amp; &#0; &lt;",
    "e\u0301\u0327",
    "👩‍👩‍👧 🇩🇪",
    "مرحبا",
    "\u2581a1",
    "@@ a@@ b",
    "@-@",
    "x" * 3000,
    "a1 " * 300,
    '"quoted" \\n',
    "[1, 2]",
    "-",
    "0",
    "\ufeffa",
    "\ufffd\uffff",
    "\U0010ffff",
)


def odd_documents(draw: random.Random) -> Documents:
    """A few documents, some sentences of which are odd, on one side or both."""
    documents = make_documents(draw, draw.randint(1, 5))
    for document in documents:
        for side in document:
            for place in range(len(side)):
                if draw.random() < 0.3:
                    side[place] = draw.choice(ODD_SENTENCES)
    return documents


def _lines(documents: Documents, side: int) -> str:
    return "".join(f"{sentence}\n" for document in documents for sentence in document[side])


def _tsv(documents: Documents) -> str:
    return "".join(
        f"d{number}\t{source}\t{target}\n"
        for number, document in enumerate(documents)
        for source, target in zip(*document, strict=True)
    )


def _jsonl(documents: Documents) -> str:
    records = [
        {"id": f"d{number}", "source": source, "target": target}
        for number, (source, target) in enumerate(documents)
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _wit3(documents: Documents, side: int) -> str:
    return "".join(
        f"<talkid>{number}</talkid>\n" + "".join(f"{line}\n" for line in document[side])
        for number, document in enumerate(documents)
    )


def _sgm(documents: Documents, side: int) -> str:
    return "".join(
        f'<doc docid="{number}">\n'
        + "".join(f'<seg id="1">{html.escape(line)}</seg>\n' for line in document[side])
        + "</doc>\n"
        for number, document in enumerate(documents)
    )


def _xml(documents: Documents) -> str:
    def segments(sentences: Sequence[str]) -> str:
        return "".join(f"<seg>{html.escape(line)}</seg>" for line in sentences)

    body = "".join(
        f"<doc id='{number}'><src>{segments(source)}</src><ref>{segments(target)}</ref></doc>"
        for number, (source, target) in enumerate(documents)
    )
    return f"<dataset>{body}</dataset>"


def corpus_files(kind: str, documents: Documents) -> dict[str, str]:
    """The files of a corpus format: name (as in its settings) -> content."""
    starts = [1]
    for document in documents:
        starts.append(starts[-1] + len(document[0]))
    writers: dict[str, Callable[[Documents, int], str]] = {
        "text": plain_text,
        "wit3": _wit3,
        "sgm": _sgm,
        "voita": lambda given, side: "".join(" _eos ".join(d[side]) + "\n" for d in given),
    }
    if kind in ("tsv", "jsonl", "wmt-xml"):
        writer = {"tsv": _tsv, "jsonl": _jsonl, "wmt-xml": _xml}[kind]
        return {"file": writer(documents)}
    sides = writers.get(kind, _lines)
    files = {"source": sides(documents, 0), "target": sides(documents, 1)}
    if kind == "starts":
        files["starts"] = "".join(f"{start}\n" for start in starts[:-1])
    if kind == "ids":
        files["ids"] = "".join(f"d{n}\n" * len(d[0]) for n, d in enumerate(documents))
    return files


FORMATS = ("text", "starts", "ids", "lines", "tsv", "jsonl", "voita", "wit3", "sgm", "wmt-xml")


def damaged(draw: random.Random, content: bytes, kind: str) -> bytes:
    """Other bytes; or other values, if it is JSON."""
    if kind == "jsonl" and draw.random() < 0.6:
        try:
            return damage_json_text(draw, content.decode()).encode()
        except (ValueError, IndexError):
            return b"\n"
    for _ in range(draw.choice([1, 1, 3])):
        content = damage_bytes(draw, content)
    return content


def prepare_documents(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`prepare` of a corpus: what is not damaged and has plain words comes out as it went in."""
    kind, harm = draw.choice(FORMATS), draw.random()
    documents = make_documents(draw, draw.randint(1, 6)) if harm < 0.3 else odd_documents(draw)
    files = corpus_files(kind, documents)
    packed = ".gz" if draw.random() < 0.2 else ""
    if kind == "wmt-xml":
        packed = ""
    hurt = draw.choice(list(files)) if harm > 0.5 else ""
    for key, text in files.items():
        content = text.encode()
        if key == hurt:
            content = damaged(draw, content, kind)
        if packed:
            content = gzip.compress(content, mtime=0)
            if key == hurt and draw.random() < 0.5:
                content = damage_bytes(draw, content)
        (folder / f"{key}{packed}").write_bytes(content)
    names = {key: f"{key}{packed}" for key in files}
    reader = {"format": kind, **{key: [n] if kind == "sgm" else n for key, n in names.items()}}
    config = configuration()
    pipeline = draw.choice(["whitespace", "whitespace", "moses-bpe"])
    config["text"] = {"kind": pipeline, "vocabulary": draw.choice(["joint", "separate"])}
    config["corpus"] = {"splits": {"train": [reader]}, "clean": {"splits": []}}
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    whole = harm < 0.3 and pipeline == "whitespace"

    def check(done: Sequence[Done]) -> str | None:
        try:
            store = Store.open(folder / "store", verify=True)
        except UserError as error:
            return f"a store that does not open: {error}"
        split = store.split("train")
        if not whole:
            return None
        decode = store.text.source.vocabulary.decode
        found = [" ".join(decode(split.source[index])) for index in range(len(split))]
        expected = [line for document in documents for line in document[0]]
        if kind != "lines" and len(split.documents) != len(documents) + 1:
            return f"{len(split.documents) - 1} documents, expected {len(documents)}"
        return None if found == expected else f"other sentences: {found} for {expected}"

    arguments = ("prepare", "c.yaml", "--output", "store", "--workers", "1")
    return Trial((Command(arguments),), check, what=f"{kind}{packed}, damaged: {hurt or 'nothing'}")


def count_sentences(content: bytes, kind: str) -> int:
    """Lines of a text or of TSV, sentences of JSONL: as many must come back."""
    lines = content.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    if kind == "jsonl":
        return sum(len(json.loads(line)["source"]) for line in lines if line.strip())
    return len(lines)


def _input_file(draw: random.Random, folder: Path, kind: str) -> tuple[str, int | None, bool]:
    """Name, sentences and whether it was damaged; `text` has no target beside it."""
    documents = odd_documents(draw)
    writers = {"text": lambda d: plain_text(d, 0), "tsv": _tsv, "jsonl": _jsonl}
    content = writers[kind](documents).encode()
    hurt = draw.random() < 0.5
    if hurt:
        content = damaged(draw, content, kind)
    try:
        count: int | None = count_sentences(content, kind)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        count = None
    suffix = {"text": "txt", "tsv": "tsv", "jsonl": "jsonl"}[kind]
    if draw.random() < 0.2:
        (folder / f"in.{suffix}.gz").write_bytes(gzip.compress(content, mtime=0))
        return f"in.{suffix}.gz", count, hurt
    (folder / f"in.{suffix}").write_bytes(content)
    return f"in.{suffix}", count, hurt


def translate_documents(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """Every sentence comes back, in text and in JSONL; standard input is a file like any other."""
    kind = draw.choice(["text", "tsv", "jsonl"])
    name, count, _ = _input_file(draw, folder, kind)
    model = draw.choice(["run/model", "pieces", "bpe"])
    copy(bench / model, folder / "model")
    shape = draw.choice(["text", "jsonl"])
    options = ["--format", shape, *QUICK]
    options += draw.choice([[], ["--mode", "redecode"], ["--mode", "redecode", "--nbest", "2"]])
    options += draw.choice([[], [], ["--max-tokens", "5"], ["--sample"], ["--unconstrained"]])
    options += draw.choice([[], [], ["--int8"], ["--context", "0"]])
    piped = kind == "text" and name == "in.txt" and draw.random() < 0.3
    stdin = (folder / name).read_bytes() if piped else b""
    if not piped:
        options += ["--output", "out"]
    command = Command(("translate", "model", "-" if piped else name, *options), stdin)

    def check(done: Sequence[Done]) -> str | None:
        written = done[-1].stdout if piped else (folder / "out").read_bytes()
        if written and not written.endswith(b"\n"):
            return "the last line has no end"
        lines = written.decode().split("\n")[:-1]
        if shape == "jsonl":
            sentences = sum("sentence" in json.loads(line) for line in lines)
            blank = stdin if piped else (folder / name).read_bytes()
            blank = gzip.decompress(blank) if name.endswith(".gz") else blank
            if kind == "text":  # a record for each sentence, none for blank lines
                return None if sentences <= (count or 0) else f"{sentences} records of {count}"
        else:
            sentences = len(lines)
            if kind == "jsonl":  # blank lines stand between the documents
                return None if sentences >= (count or 0) else f"{sentences} lines of {count}"
        return None if sentences == count else f"{sentences} sentences came back of {count}"

    return Trial((command,), check, (".out.journal",), f"{kind}, {model}")


def score_documents(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """A line for every sentence and amount of context, all log-probabilities finite."""
    kind = draw.choice(["text", "tsv", "jsonl"])
    name, count, hurt = _input_file(draw, folder, kind)
    copy(bench / draw.choice(["run/model", "pieces"]), folder / "model")
    options = ["--context", "0", "--context", "2", "--threads", "1", "--output", "out"]
    if kind == "text":
        target = (folder / name).read_bytes()
        if draw.random() < 0.3:
            target = damage_bytes(draw, target)
        (folder / f"t{name}").write_bytes(target)
        options += ["--target", f"t{name}"]

    def check(done: Sequence[Done]) -> str | None:
        lines = (folder / "out").read_text("utf-8").split("\n")[1:-1]
        records = [json.loads(line) for line in lines]
        if not all(-1e9 < record["log_prob"] <= 0 for record in records):
            return "a log-probability that is not finite, or above 0"
        if kind == "text" or hurt:
            return None if len(records) % 2 == 0 else f"{len(records)} lines for two contexts"
        return None if len(records) == 2 * (count or 0) else f"{len(records)} lines, {count} twice"

    return Trial((Command(("score", "model", name, *options)),), check, what=kind)


def evaluate_documents(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """Files of `contrast` and `translate`, whole or damaged, compared with each other."""
    expected: list[str] = []
    systems: tuple[str, ...] = ("a.jsonl", "b.jsonl")
    options: list[str] = []
    if draw.random() < 0.5:
        copy(bench / "run-items.jsonl", folder / "a.jsonl")
        copy(bench / "longer-items.jsonl", folder / "b.jsonl")
    elif draw.random() < 0.5:
        copy(bench / "in.txt", folder / "a.txt")
        copy(bench / "ref.txt", folder / "ref.txt")
        systems, options = ("a.txt",), ["--references", "ref.txt", "--samples", "20"]
        options += ["--convention", draw.choice(["sentence", "document", "paper-en-de"])]
        expected = ["ref.txt"]
    else:
        copy(bench / "translated.jsonl", folder / "a.jsonl")
        copy(bench / "ours.jsonl", folder / "expected.jsonl")
        systems, options = ("a.jsonl",), ["--expected", "expected.jsonl"]
        expected = ["expected.jsonl"]
    victim = folder / draw.choice([*systems, *expected])
    kind = "jsonl" if victim.suffix == ".jsonl" else "text"
    victim.write_bytes(damaged(draw, victim.read_bytes(), kind))

    def check(done: Sequence[Done]) -> str | None:
        written = json.loads((folder / "out" / "evaluation.json").read_text("utf-8"))
        return None if written and done[-1].stdout.strip() else "nothing was printed"

    command = Command(("evaluate", *systems, *options, "--output", "out"))
    return Trial((command,), check, what=f"damaged: {victim.name}")
