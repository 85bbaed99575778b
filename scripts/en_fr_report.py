"""OPUS-MT made document-level (docs/protocol-real.md): what the runs that are done say.

    python scripts/en_fr_report.py RESULTS [PAGE]
    python scripts/en_fr_report.py documents WORK RESULTS SYSTEM SYSTEM [SYSTEM...]

The first prints all tables, from the lines of RESULTS alone, and writes them as one HTML page if
asked; the second shows test documents side by side. What the runs are: scripts/en_fr.py.
"""

import gzip
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from en_fr import CONTRASTIVE, DISTANCES, TESTS, UNTRAINED, read_runs

import concatmt
from concatmt.errors import UserError
from concatmt.evaluation.findings import Prose, Report, Section, Table, p_text
from concatmt.evaluation.page import page
from concatmt.evaluation.resampling import cluster_numbers, percentiles, resampled_means
from concatmt.evaluation.side_by_side import side_by_side
from concatmt.evaluation.significance import holm, replicates_p_value

REFERENCES = ("base", "s4to4+cd")  # what the others are compared with
SHOWN, SHOWN_SEED = 20, 1  # documents that are printed side by side
SIZES = range(6, 13)  # sentences of such a document

ORIGINS = {
    "opus-mt": "OPUS-MT sentence by sentence",
    "base": "OPUS-MT fine-tuned on the same text without context",
}

Run = dict[str, Any]
BySystem = dict[str, list[Run]]
Values = np.ndarray[Any, np.dtype[np.float64]]

REMARKS = (
    "OPUS-MT was trained on OPUS, OpenSubtitles included: single sentences of LCPT and of the test"
    " documents may have been in its training. DiaBLa cannot have been.",
    "Right: the last sentence of an item has the pronoun that the antecedent asks for and not the"
    " one of the other gender; open: both or none. Context is the system's own translation.",
    "Intervals are 95%, from resampled documents of items; with one seed they say nothing of"
    " another seed.",
)
TERMS = {
    "opus-mt": "the public model as it is, sentence by sentence",
    "plain": "the public model, given four sentences as if they were one",
    "s4to4-untrained": "converted to windows of four sentences and not trained",
    "base": "fine-tuned on the same text as single sentences: what the domain alone brings",
    "Foreign context": "right ones when the context is that of another item",
    "None": "right ones when the last sentence is translated alone",
    "Of decided": "right ones among those that are not open",
    "Test alone": "BLEU of the test documents, every sentence without context",
    "Short": "translations of less than half the reference's length",
}


def report(results: Path) -> Report:
    """All tables."""
    runs = read_runs(results)
    if not runs:
        raise UserError(f"{results}: no runs yet; start scripts/en-fr.sh")
    names = list(dict.fromkeys(run["system"] for run in runs))
    of_system = {name: [run for run in runs if run["system"] == name] for name in names}
    makers = (_generated, _comparisons, _distances, _preferred, _quality)
    sections = [maker(of_system) for maker in makers]
    sections[0].terms = TERMS
    facts = {
        "version": concatmt.__version__,
        "command": "python scripts/en_fr_report.py RESULTS PAGE",
    }
    return Report("OPUS-MT made document-level", sections, None, REMARKS, facts)


def right(runs: Sequence[Run], kind: str = "items") -> Values:
    """Share of seeds that are right, by item."""
    rows = [[float(value == "right") for value in run[kind].values()] for run in runs]
    return np.array(rows).mean(axis=0)


def _documents(runs: Sequence[Run]) -> list[str]:
    """The document of each item: items of one document share context, and are drawn together."""
    return list(runs[0]["documents"].values())


def _interval(values: Values, clusters: Sequence[str]) -> str:
    """The mean of `values` with its interval, in per cent."""
    means = resampled_means(values[:, None], cluster_numbers(clusters))
    low, high = (float(ends[0]) for ends in percentiles(means, len(values)))
    return f"{values.mean():.1%} [{low:.1%}, {high:.1%}]"


def _generated(of_system: BySystem) -> Section:
    rows = []
    for name, runs in of_system.items():
        values = right(runs)
        open_ = np.mean([list(run["items"].values()).count("open") for run in runs]) / len(values)
        decided = values.mean() / max(1e-9, 1 - open_)
        rows.append(
            (
                name,
                str(len(runs)),
                _interval(values, _documents(runs)),
                f"{decided:.1%}",
                f"{open_:.1%}",
                *(_share_of(runs, kind) for kind in ("foreign", "alone")),
            )
        )
    head = ("System", "Seeds", "Right [95%]", "Of decided", "Open", "Foreign context", "None")
    count = len(next(iter(of_system.values()))[0]["items"])
    blocks = [Prose(f"{count} items of LCPT, own context."), Table(head, rows)]
    share = _share(of_system)
    best = max((n for n in of_system if n not in UNTRAINED), key=share, default=None)
    clauses = {}
    if best:
        clauses[best] = (
            f"{best} generates the right pronoun in {share(best):.1%} of {count} items that only"
            " context decides"
        )
        for other, what in ORIGINS.items():
            if other in of_system and other != best:
                clauses[best] += f", {what} in {share(other):.1%}"
    title = "Pronouns that only context decides, generated"
    return Section("generated", title, list(blocks), clauses=clauses, best=best)


def _share_of(runs: Sequence[Run], kind: str) -> str:
    return f"{right(runs, kind).mean():.1%}" if kind in runs[0] else "-"


def _share(of_system: BySystem) -> Callable[[str], float]:
    return lambda name: float(right(of_system[name]).mean())


def _comparisons(of_system: BySystem) -> Section:
    rows, p_values = [], []
    for reference in REFERENCES:
        for name, runs in of_system.items():
            if reference not in of_system or name == reference:
                continue
            difference = right(runs) - right(of_system[reference])
            replicates = resampled_means(difference[:, None], cluster_numbers(_documents(runs)))
            low, high = (float(ends[0]) for ends in percentiles(replicates, len(difference)))
            p_values.append(replicates_p_value(replicates[:, 0]))
            shown = f"{100 * difference.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
            rows.append((name, reference, shown))
    full = [
        (*row[:2], f"**{row[2]}**" if p < 0.05 else row[2], p_text(p))
        for row, p in zip(rows, holm(p_values), strict=True)
    ]
    head = ("System", "Compared with", "Difference, points [95%]", "p (Holm)")
    return Section(
        "differences",
        "Differences of generated pronouns",
        [Table(head, full) if full else Prose("Nothing to compare yet.")],
    )


def _distances(of_system: BySystem) -> Section:
    """Right ones by how many sentences before the antecedent is."""
    rows = []
    for name, runs in of_system.items():
        far = np.array(list(runs[0]["distances"].values()))
        values = right(runs)
        rows.append((name, *(f"{values[far == d].mean():.1%}" for d in DISTANCES)))
    counts = [int((far == d).sum()) for d in DISTANCES]
    head = ("System", *(f"d={d} ({n})" for d, n in zip(DISTANCES, counts, strict=True)))
    return Section("distance", "By distance of the antecedent", [Table(head, rows)])


def _preferred(of_system: BySystem) -> Section:
    """Contrastive accuracy with gold context."""
    rows = []
    for name, runs in of_system.items():
        row = [name]
        for kind in CONTRASTIVE:
            key = f"prefer.{kind}"
            if any(key not in run for run in runs):
                row.append("-")
                continue
            values = np.array([list(run[key].values()) for run in runs]).mean(axis=0)
            row.append(_interval(values, list(runs[0][key])))
        rows.append(tuple(row))
    head = ("System", "LCPT, the same items", "DiscEvalMT anaphora", "DiscEvalMT lexical")
    return Section("preferred", "Preferred with gold context", [Table(head, rows)])


def _quality(of_system: BySystem) -> Section:
    def mean(runs: Sequence[Run], key: str, metric: str, form: str = ".2f") -> str:
        values = [run[key][metric] for run in runs if key in run]
        return format(float(np.mean(values)), form) if values else "-"

    def quality(runs: Sequence[Run], test: str) -> tuple[str, str]:
        bleu, half, chrf = (mean(runs, f"{test}.own", m) for m in ("bleu", "bleu_interval", "chrf"))
        return (f"{bleu} ± {half}" if bleu != "-" else "-"), chrf

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
        *("Test BLEU", "Test chrF", "DiaBLa BLEU", "DiaBLa chrF", "Test alone", "Short"),
    )
    return Section("quality", "Quality, with own context", [Table(head, rows)])


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
    numbers = [i for i, size in enumerate(sizes) if size in SIZES]
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


def main(arguments: Sequence[str]) -> None:
    """One of the two commands."""
    match arguments:
        case ["documents", work, results, *systems] if len(systems) > 1:
            print(documents_side_by_side(Path(work), Path(results), systems))
        case [results] if results != "documents":
            print(report(Path(results)).markdown)
        case [results, output] if results != "documents":
            found = report(Path(results))
            Path(output).write_text(page(found), "utf-8")
            print(found.markdown)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
