"""OPUS-MT made document-level (docs/protocol-real.md): data, the next run, its results.

    python scripts/en_fr.py data DOCUMENTS CONTRASTIVE WORK
    python scripts/en_fr.py plan RESULTS
    python scripts/en_fr.py record WORK SYSTEM SEED RESULTS

`scripts/en-fr.sh` calls them; `scripts/en_fr_report.py` makes tables of the results.
"""

import gzip
import itertools
import json
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from concatmt.errors import UserError
from concatmt.evaluation.outcomes import read_items
from concatmt.json_text import parse_json

OPPOSITE = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
DISTANCES = (1, 2, 3)
WORD = re.compile(r"[^\W\d_]+")
UNTRAINED = ("opus-mt", "plain", "s4to4-untrained")
TRAINED = (
    "s4to4+cd", "base", "s4to4", "s4to4+cd+pers", "s4to4+cd+shift+pers", "s4to4+cd+lrn+pers",
    "s4to4+cd+lrn+pers+pse", "s4to4+cd+sin+pers+pse",
)  # fmt: skip
DIALOGUES = 48  # of DiaBLa, a third of it
RESAMPLES = 1000  # for intervals of BLEU
TESTS = ("test", "diabla")
# With their contexts, with those of the next item, and with none.
ITEM_SETS = ("items", "foreign", "alone")
CONTRASTIVE = ("lcpt", "discevalmt-anaphora", "discevalmt-lexical")  # preferred, not generated


def plan() -> list[tuple[str, int]]:
    """All runs in their order: what answers the main question first, then second seeds."""
    return [(name, 0) for name in UNTRAINED] + [(n, seed) for seed in (1, 2) for n in TRAINED]


def verdict(translation: str, expected: str) -> str:
    """`right`, `wrong`, or `open` where both pronouns or none are there."""
    words = set(WORD.findall(translation.lower()))
    has = expected in words, OPPOSITE[expected] in words
    return {(True, False): "right", (False, True): "wrong"}.get(has, "open")


def chosen_items(path: Path) -> list[dict[str, Any]]:
    """The items of LCPT that only context decides, by the protocol's rule."""
    items = [parse_json(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [i for i in items if i.get("distance") in DISTANCES and i.get("expected") in OPPOSITE]


def make_data(documents: Path, contrastive: Path, work: Path) -> None:
    """The corpus' settings, test texts with blank lines between documents, and the items."""
    work.mkdir(parents=True, exist_ok=True)

    def reader(name: str) -> dict[str, str]:
        return {
            "format": "ids",
            "source": f"{name}.en",
            "target": f"{name}.fr",
            "ids": f"{name}.docs",
        }

    splits = {
        "train": [reader("train"), *[reader("extra/train-dense")] * 3],
        "valid": [reader("dev")],
    }
    corpus = {
        "root": str(documents.resolve()),
        "splits": splits,
        "clean": {"max_words": 100, "max_ratio": 3},
    }
    tree = {"languages": {"source": "en", "target": "fr"}, "corpus": corpus}
    (work / "corpus.yaml").write_text(yaml.safe_dump(tree, sort_keys=False), "utf-8")
    for name, path, most in (
        ("test", documents / "test", None),
        ("diabla", documents / "extra/test-diabla", DIALOGUES),
    ):
        for side in ("en", "fr"):
            _blank_lines(path, side, work / f"{name}.{side}", most)
    items = chosen_items(contrastive / "lcpt-without-scat-train.jsonl")
    _write_lines(work / "items.judge.jsonl", items)
    others = items[1:] + items[:1]
    foreign = [
        [*other["source"][:-1], item["source"][-1]]
        for item, other in zip(items, others, strict=True)
    ]
    _write_lines(work / "items.jsonl", [{"id": i["id"], "source": i["source"]} for i in items])
    _write_lines(
        work / "foreign.jsonl",
        [{"id": i["id"], "source": s} for i, s in zip(items, foreign, strict=True)],
    )
    _write_lines(work / "lcpt.jsonl", items)
    for name in CONTRASTIVE[1:]:
        shutil.copyfile(contrastive / f"{name}.jsonl", work / f"{name}.jsonl")
    print(f"{work}: {len(items)} items")


def _blank_lines(path: Path, side: str, output: Path, most: int | None) -> None:
    texts, names = (
        Path(f"{path}.{ending}").read_text(encoding="utf-8").split("\n")[:-1]
        for ending in (side, "docs")
    )
    groups = itertools.groupby(zip(names, texts, strict=True), key=lambda pair: pair[0])
    documents = ["\n".join(text for _, text in group) for _, group in groups]
    output.write_text("\n\n".join(documents[:most]) + "\n", "utf-8")


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def last_sentences(path: Path) -> dict[str, str]:
    """The last translation of each document of what `translate --format jsonl` wrote."""
    records = [parse_json(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {str(r["document"]): r["translation"] for r in records if "translation" in r}


def record(work: Path, system: str, seed: int, results: Path) -> None:
    """Add the line of a run that is done, and keep its translations."""
    run = work / "runs" / f"{system}-seed{seed}"
    kept = results / "translations" / run.name
    kept.mkdir(parents=True, exist_ok=True)
    items = [parse_json(x) for x in (work / "items.judge.jsonl").read_text("utf-8").splitlines()]
    line: dict[str, Any] = {"system": system, "seed": seed}
    line["distances"] = {i["id"]: i["distance"] for i in items}
    line["documents"] = {i["id"]: i["document"] for i in items}
    for name in ITEM_SETS:
        if not (run / f"{name}.jsonl").is_file():
            continue
        found = last_sentences(run / f"{name}.jsonl")
        line[name] = {i["id"]: verdict(found[i["id"]], i["expected"]) for i in items}
        _keep(kept / f"{name}.jsonl.gz", json.dumps(found, ensure_ascii=False, indent=0))
    for name in CONTRASTIVE:
        preferred = run / f"prefer.{name}.jsonl"
        if preferred.is_file():  # what is only translated prefers nothing
            outcomes = read_items(preferred).outcomes
            line[f"prefer.{name}"] = {one.id: one.right for one in outcomes}
    for name in TESTS:
        for context in ("own", "none"):
            file = run / f"{name}.{context}.fr"
            if not file.is_file():
                continue
            ours, theirs = (p.read_text("utf-8").split("\n") for p in (file, work / f"{name}.fr"))
            pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if b.strip()]
            texts = [a for a, _ in pairs], [[b for _, b in pairs]]
            resampled: Any = BLEU().corpus_score(*texts, n_bootstrap=RESAMPLES)
            line[f"{name}.{context}"] = {
                "bleu": resampled.score,
                "bleu_interval": resampled._ci,  # half of it, 95%
                "chrf": CHRF().corpus_score(*texts).score,
                "short": sum(len(a) < len(b) / 2 for a, b in pairs) / len(pairs),
            }
            _keep(kept / f"{file.name}.gz", file.read_text("utf-8"))
    for extra in ("metrics.jsonl", "lost.txt"):
        if (run / extra).is_file():
            shutil.copyfile(run / extra, kept / extra)
    line["signature"] = parse_json((run / "items.jsonl").read_text("utf-8").split("\n")[0])[
        "signature"
    ]
    with (results / "runs.jsonl").open("a", encoding="utf-8") as file_of_runs:
        file_of_runs.write(json.dumps(line, ensure_ascii=False) + "\n")


def _keep(path: Path, text: str) -> None:
    """Compressed, the same bytes every time."""
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_runs(results: Path) -> list[dict[str, Any]]:
    """The lines of the runs that are done."""
    path = results / "runs.jsonl"
    if not path.is_file():
        return []
    return [parse_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(arguments: Sequence[str]) -> None:
    """One of the three commands."""
    match arguments:
        case ["data", documents, contrastive, work]:
            make_data(Path(documents), Path(contrastive), Path(work))
        case ["plan", results]:
            done = {(run["system"], run["seed"]) for run in read_runs(Path(results))}
            for system, seed in plan():
                if (system, seed) not in done:
                    print(system, seed)
        case ["record", work, system, seed, results]:
            record(Path(work), system, int(seed), Path(results))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
