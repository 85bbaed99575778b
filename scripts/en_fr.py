"""OPUS-MT made document-level (docs/protocol-real.md): data, the next run, results, tables.

    python scripts/en_fr.py data DOCUMENTS CONTRASTIVE WORK
    python scripts/en_fr.py plan RESULTS
    python scripts/en_fr.py record WORK SYSTEM SEED RESULTS
    python scripts/en_fr.py tables RESULTS
    python scripts/en_fr.py documents WORK RESULTS SYSTEM SYSTEM [SYSTEM...]

`scripts/en-fr.sh` calls the first three.
"""

import gzip
import itertools
import json
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from concatmt.errors import UserError
from concatmt.evaluation.outcomes import read_items
from concatmt.evaluation.resampling import cluster_numbers, percentiles, resampled_means
from concatmt.evaluation.side_by_side import side_by_side
from concatmt.evaluation.significance import holm, replicates_p_value
from concatmt.json_text import parse_json
from concatmt.tables import markdown_table

OPPOSITE = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
DISTANCES = (1, 2, 3)
WORD = re.compile(r"[^\W\d_]+")
UNTRAINED = ("opus-mt", "plain", "s4to4-untrained")
TRAINED = (
    "base", "s4to4+cd", "s4to4", "s4to4+cd+pers", "s4to4+cd+shift+pers", "s4to4+cd+lrn+pers",
    "s4to4+cd+lrn+pers+pse", "s4to4+cd+sin+pers+pse",
)  # fmt: skip
SHOWN, SHOWN_SEED = 20, 1  # documents that are printed side by side
RESAMPLES = 1000  # for intervals of BLEU
REFERENCES = ("base", "s4to4+cd")  # what the others are compared with
TESTS = ("test", "diabla")
ITEM_SETS = ("items", "foreign")  # with their contexts, and with those of the next item
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
    for name, path in (("test", documents / "test"), ("diabla", documents / "extra/test-diabla")):
        for side in ("en", "fr"):
            _blank_lines(path, side, work / f"{name}.{side}")
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


def _blank_lines(path: Path, side: str, output: Path) -> None:
    texts, names = (
        Path(f"{path}.{ending}").read_text(encoding="utf-8").split("\n")[:-1]
        for ending in (side, "docs")
    )
    groups = itertools.groupby(zip(names, texts, strict=True), key=lambda pair: pair[0])
    documents = ["\n".join(text for _, text in group) for _, group in groups]
    output.write_text("\n\n".join(documents) + "\n", "utf-8")


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
    for name in ITEM_SETS:
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


def documents_side_by_side(work: Path, results: Path, systems: Sequence[str]) -> str:
    """Twenty test documents, drawn by a fixed seed from those of 6 to 12 lines, first seeds.

    The lines of a document are shown only where systems differ, the words that differ marked. Of
    the sentences themselves, which are not ours to print, their numbers stand there, and the text
    too if `work` has the test set.
    """
    first = {run["system"]: run["seed"] for run in reversed(read_runs(results))}
    texts = {}
    for name in systems:
        if name not in first:
            raise UserError(f"{name}: no run of it in {results}")
        path = results / "translations" / f"{name}-seed{first[name]}" / "test.own.fr.gz"
        texts[name] = gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n\n")
    whole = work / "test.en"
    sources = whole.read_text("utf-8").rstrip("\n").split("\n\n") if whole.is_file() else None
    sizes = [len(document.split("\n")) for document in texts[systems[0]]]
    numbers = [i for i, size in enumerate(sizes) if 6 <= size <= 12]
    parts = []
    for number in sorted(random.Random(SHOWN_SEED).sample(numbers, SHOWN)):
        english = sources[number].split("\n") if sources else [""] * sizes[number]
        names = [f"Sentence {i + 1}. {text}".strip() for i, text in enumerate(english)]
        columns = [(name, texts[name][number].split("\n")) for name in systems]
        shown = side_by_side(names, columns, differing_only=True) or "All alike."
        parts.append(f"## Document {number + 1}, {sizes[number]} sentences\n\n{_indented(shown)}")
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def read_runs(results: Path) -> list[dict[str, Any]]:
    """The lines of the runs that are done."""
    path = results / "runs.jsonl"
    if not path.is_file():
        return []
    return [parse_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tables(results: Path) -> str:
    """All tables, from the lines of the runs."""
    runs = read_runs(results)
    if not runs:
        raise UserError(f"{results}: no runs yet; start scripts/en-fr.sh")
    names = list(dict.fromkeys(run["system"] for run in runs))
    of_system = {name: [run for run in runs if run["system"] == name] for name in names}
    parts = (_main_table, _comparisons, _distances, _preference_table, _quality_table)
    return "\n\n".join(part(of_system) for part in parts)


def _right(
    runs: list[dict[str, Any]], kind: str = "items"
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Share of seeds that are right, by item."""
    rows = [[float(value == "right") for value in run[kind].values()] for run in runs]
    return np.array(rows).mean(axis=0)


def _main_table(of_system: dict[str, list[dict[str, Any]]]) -> str:
    rows = []
    for name, runs in of_system.items():
        values = _right(runs)
        clusters = cluster_numbers(runs[0]["items"])
        means = resampled_means(values[:, None], clusters)
        low, high = (float(ends[0]) for ends in percentiles(means, len(values)))
        open_ = np.mean([list(run["items"].values()).count("open") for run in runs]) / len(values)
        decided = values.mean() / max(1e-9, 1 - open_)
        rows.append(
            (
                name,
                str(len(runs)),
                f"{values.mean():.1%} [{low:.1%}, {high:.1%}]",
                f"{decided:.1%}",
                f"{open_:.1%}",
                f"{_right(runs, 'foreign').mean():.1%}",
            )
        )
    head = ("System", "Seeds", "Right [95%]", "Of decided", "Open", "Foreign context")
    return "## Pronouns that only context decides, generated\n\n" + markdown_table(head, rows)


def _distances(of_system: dict[str, list[dict[str, Any]]]) -> str:
    """Right ones by how many sentences before the antecedent is."""
    rows = []
    for name, runs in of_system.items():
        far = np.array(list(runs[0]["distances"].values()))
        values = _right(runs)
        rows.append((name, *(f"{values[far == d].mean():.1%}" for d in DISTANCES)))
    counts = [int((far == d).sum()) for d in DISTANCES]
    head = ("System", *(f"d={d} ({n})" for d, n in zip(DISTANCES, counts, strict=True)))
    return "## By distance of the antecedent\n\n" + markdown_table(head, rows)


def _preference_table(of_system: dict[str, list[dict[str, Any]]]) -> str:
    """Contrastive accuracy with gold context."""
    rows = []
    for name, runs in of_system.items():
        row = [name]
        for kind in CONTRASTIVE:
            if any(f"prefer.{kind}" not in run for run in runs):
                row.append("–")
                continue
            values = np.array([list(run[f"prefer.{kind}"].values()) for run in runs]).mean(axis=0)
            clusters = cluster_numbers(runs[0][f"prefer.{kind}"])
            means = resampled_means(values[:, None], clusters)
            low, high = (float(ends[0]) for ends in percentiles(means, len(values)))
            row.append(f"{values.mean():.1%} [{low:.1%}, {high:.1%}]")
        rows.append(tuple(row))
    head = ("System", "LCPT, the same items", "DiscEvalMT anaphora", "DiscEvalMT lexical")
    return "## Preferred with gold context\n\n" + markdown_table(head, rows)


def _quality_table(of_system: dict[str, list[dict[str, Any]]]) -> str:
    def mean(runs: list[dict[str, Any]], key: str, metric: str, form: str = ".2f") -> str:
        values = [run[key][metric] for run in runs if key in run]
        return format(float(np.mean(values)), form) if values else "–"

    def quality(runs: list[dict[str, Any]], test: str) -> tuple[str, str]:
        bleu, half, chrf = (mean(runs, f"{test}.own", m) for m in ("bleu", "bleu_interval", "chrf"))
        return f"{bleu} ± {half}", chrf

    rows = [
        (
            name,
            *(value for t in TESTS for value in quality(runs, t)),
            mean(runs, "test.none", "bleu"),
            mean(runs, "test.own", "short", ".2%"),
        )
        for name, runs in of_system.items()
    ]
    head = (
        "System",
        "Test BLEU",
        "chrF",
        "DiaBLa BLEU",
        "chrF",
        "Test alone",
        "Short",
    )
    return "## Quality, with own context and without\n\n" + markdown_table(head, rows)


def _comparisons(of_system: dict[str, list[dict[str, Any]]]) -> str:
    rows, p_values = [], []
    for reference in REFERENCES:
        for name, runs in of_system.items():
            if reference not in of_system or name == reference:
                continue
            difference = _right(runs) - _right(of_system[reference])
            clusters = cluster_numbers(runs[0]["items"])
            replicates = resampled_means(difference[:, None], clusters)
            low, high = (float(ends[0]) for ends in percentiles(replicates, len(difference)))
            p_values.append(replicates_p_value(replicates[:, 0]))
            shown = f"{100 * difference.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
            rows.append((name, reference, shown))
    if not rows:
        return "## Differences\n\nNothing to compare yet."
    full = [(*row, f"{p:.4f}") for row, p in zip(rows, holm(p_values), strict=True)]
    head = ("System", "Compared with", "Difference, points [95%]", "p (Holm)")
    return "## Differences of generated pronouns\n\n" + markdown_table(head, full)


def main(arguments: list[str]) -> None:
    """One of the five commands."""
    command, *rest = arguments or [""]
    if command == "documents" and len(rest) > 3:
        print(documents_side_by_side(Path(rest[0]), Path(rest[1]), rest[2:]))
        return
    if command == "plan" and len(rest) == 1:
        done = {(run["system"], run["seed"]) for run in read_runs(Path(rest[0]))}
        for system, seed in plan():
            if (system, seed) not in done:
                print(system, seed)
        return
    commands: dict[str, tuple[int, Callable[[], None]]] = {
        "data": (3, lambda: make_data(*map(Path, rest))),
        "record": (4, lambda: record(Path(rest[0]), rest[1], int(rest[2]), Path(rest[3]))),
        "tables": (1, lambda: print(tables(Path(rest[0])))),
    }
    if command not in commands or commands[command][0] != len(rest):
        sys.exit(__doc__)
    commands[command][1]()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
