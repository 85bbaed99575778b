"""Trials with contrastive sets of every format: ours, Voita's, ContraPro's two, ctxpro's.

Half are damaged in their values, the others in their bytes.
"""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.damage import copy, damage_bytes, damage_json, json_text
from tests.fuzz.oracle import Command, Done
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import Workbench, contrastive_item

Record = dict[str, Any]


def _voita(item: Record) -> Record:
    targets = [" _eos ".join([*item["context"], one]) for one in item["candidates"]]
    source = " _eos ".join(item["source"])
    return {"src": source, "dst": targets, "true_ind": 0, "ctx_dist": 1}


def _contrapro_lines(item: Record) -> Record:
    return {
        "src": item["source"][-1],
        "ref": item["candidates"][0],
        "contrastive": item["candidates"][1:],
        "src_context": item["source"][:-1],
        "ref_context": item["context"],
        "ref_pronoun": item["expected"],
        "ante_distance": 1,
    }


def _contrapro(item: Record) -> Record:
    return {
        "document id": "film.de",
        "segment id": 3,
        "src segment": item["source"][-1],
        "ref segment": item["candidates"][0],
        "ref pronoun": item["expected"],
        "ante distance": 1,
        "errors": [{"contrastive": one} for one in item["candidates"][1:]],
    }


def _ctxpro(item: Record) -> Record:
    record = {key: value for key, value in _contrapro(item).items() if key != "errors"}
    return {**record, "expected": item["expected"], "rule": "R"}


FORMATS: dict[str, Callable[[Record], Record]] = {
    "ours": lambda item: item,
    "voita": _voita,
    "contrapro-lines": _contrapro_lines,
    "contrapro": _contrapro,
    "ctxpro": _ctxpro,
}


def _documents(draw: random.Random, folder: Path, kind: str, records: list[Record]) -> list[str]:
    """What the contexts are taken from, sometimes damaged; the option that names it."""
    if kind == "contrapro":
        film = folder / "films" / "2001"
        film.mkdir(parents=True)
        for language in ("en", "de"):
            content = b"a1\na2\na3\na4\n"
            hurt = draw.random() < 0.1
            (film / f"film.{language}").write_bytes(
                damage_bytes(draw, content) if hurt else content
            )
        return ["--documents", "films"]
    lines = "".join(f"a1<eos> a2<eos> {one['src segment']}\n" for one in records).encode()
    hurt = draw.random() < 0.2
    (folder / "inputs").write_bytes(damage_bytes(draw, lines) if hurt else lines)
    return ["--documents", "inputs"]


def contrastive_set(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`contrast` or `evaluate` of a set: every item is answered, or the first bad one is named."""
    kind = draw.choice(list(FORMATS))
    records = [FORMATS[kind](contrastive_item(draw, number)) for number in range(3)]
    options: list[str] = []
    if kind in ("contrapro", "ctxpro") and draw.random() < 0.7:
        options = _documents(draw, folder, kind, records)
    values: list[Any] = list(records)
    way = draw.choice(["values", "values", "bytes", "nothing"])
    at = draw.randrange(len(values))
    if way == "values":
        values[at] = damage_json(draw, values[at])
    listed = kind in ("voita", "contrapro", "ctxpro") or draw.random() < 0.2
    content = (json_text(values) if listed else "\n".join(map(json_text, values)) + "\n").encode()
    if way == "bytes":
        content = damage_bytes(draw, content)
    name = "set.json" if listed else "set.jsonl"
    (folder / name).write_bytes(content)
    whole = way == "nothing"
    verb = draw.choice(["contrast", "contrast", "evaluate", "expected"])
    if verb == "contrast":
        copy(bench / "run/model", folder / "model")
        arguments = ["score", "model", name, "--output", "out", "--threads", "1"]
    elif verb == "evaluate":
        copy(bench / "run", folder / "run")
        arguments = ["evaluate", "run", "--on", name, "--measure", "contrastive", "--output", "out"]
    else:
        copy(bench / "translated.jsonl", folder / "t.jsonl")
        arguments = ["evaluate", "t.jsonl", "--expected", name, "--output", "out"]

    def check(done: Sequence[Done]) -> str | None:
        if verb != "contrast":
            return None if done[-1].stdout.strip() else "nothing was printed"
        lines = (folder / "out").read_text("utf-8").split("\n")[1:-1]
        answers = [json.loads(line) for line in lines]
        if whole and len(answers) != len(records):
            return f"{len(answers)} items answered of {len(records)}"
        good = all(0 <= answer["verdict"] <= 1 for answer in answers)
        return None if answers and good else "no answers, or verdicts that are none"

    # What was scored is kept for the next call, so `evaluate --on` may leave its folder.
    may_leave = ("out",) if verb == "evaluate" else ()
    return Trial((Command((*arguments, *options)),), check, may_leave, f"{kind}, {way}, {verb}")
