"""Measures translation quality: BLEU, chrF and TER by sacrebleu, with signatures.

Also the paper's two ways to compute BLEU, document BLEU, BLEU by place in the document, and
sacrebleu's paired tests. Does not know where translations come from.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.evaluation.accuracy import ALPHA
from concatmt.evaluation.charts import Line, bar_plot, line_plot
from concatmt.evaluation.config import Convention, EvaluateConfig
from concatmt.evaluation.findings import Block, Picture, Prose, Section, Table, p_text
from concatmt.evaluation.significance import holm
from concatmt.evaluation.subjects import Deed, Subject, members_of
from concatmt.evaluation.suite import Need, Suite
from concatmt.evaluation.texts import Text
from concatmt.evaluation.translations import Translated, TranslationFile, check_aligned

TOKENISED_NOTE = (
    "The references look tokenised: compare these figures only with others of the same text."
)
TERMS = {
    "BLEU": "share of word sequences that also occur in the references, 0 to 100; higher is better",
    "chrF": "the same for characters, with recall; higher is better",
    "TER": "edits that turn the translation into the reference, per 100 words; lower is better",
    "d-BLEU": "BLEU with all sentences of a document joined into one line",
    "d-chrF": "chrF with all sentences of a document joined into one line",
    "convention": "what is compared: sentences, whole documents, or as in the paper",
}
FRAGMENT = 4  # sentences of one of Voita's documents, joined into one line for the paper's BLEU
FARTHEST = 4  # from here on, all sentences of a document form one group


@dataclass(frozen=True, slots=True)
class Score:
    """A figure with its sacrebleu signature."""

    name: str
    value: float
    signature: str


@dataclass(frozen=True, slots=True)
class Gain:
    """A figure of one system and its gain over the first; the first has no p-value."""

    system: str
    score: Score
    gain: float
    p_value: float | None  # Holm's, over all systems and metrics


class QualityMeasure:
    """Compares translations with references, under every requested convention."""

    name = "quality"
    need: Need = "texts"
    deed: Deed = "translate"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """Measure every seed; sacrebleu's tests compare single runs only."""
        section = Section(self.name, "Translation quality", json={}, terms=TERMS)
        values: dict[str, float] = {}  # of the first metric on the first text
        for text in suite.texts:
            references = text.references
            files = {member.label: member.translate(text) for member in members_of(subjects)}
            for file in files.values():
                check_aligned(file.text, references, file.path)
            for convention in config.conventions:
                rows = _compare(files, references, convention, config)
                first = convention == config.conventions[0]
                section.blocks += _blocks(text, convention, rows, files, references, first)
                section.json[f"{text.name}, {convention}"] = _json(
                    text, convention, rows, files, references, config
                )
                section.signatures += [f"{row.score.name}: {row.score.signature}" for row in rows]
                values = values or {row.system: row.score.value for row in rows[: len(files)]}
                metric = section.json[f"{text.name}, {convention}"]["figures"][0]["name"]
                section.clauses = section.clauses or _clauses(subjects, values, metric)
        section.signatures = list(dict.fromkeys(section.signatures))
        means = {subject.name: _mean(subject, values) for subject in subjects}
        section.best = max(reversed(means), key=lambda name: means[name])
        return section


def _mean(subject: Subject, values: Mapping[str, float]) -> float:
    return statistics.fmean(values[member.label] for member in subject.members)


def _clauses(
    subjects: Sequence[Subject], values: Mapping[str, float], metric: str
) -> dict[str, str]:
    """The metric in words, compared with the first system."""
    base = _mean(subjects[0], values)
    clauses = {subjects[0].name: f"{metric} {base:.1f}"}
    for subject in subjects[1:]:
        clauses[subject.name] = f"{metric} {_mean(subject, values) - base:+.1f}"
    return clauses


def _compare(
    files: Mapping[str, TranslationFile],
    references: Translated,
    convention: Convention,
    config: EvaluateConfig,
) -> list[Gain]:
    texts = {name: file.text for name, file in files.items()}
    return compare(texts, references, convention, config.test, config.samples)


def _blocks(
    text: Text,
    convention: Convention,
    results: Sequence[Gain],
    files: Mapping[str, TranslationFile],
    references: Translated,
    by_place: bool,
) -> list[Block]:
    """Figures of all systems, a plot of the first, then BLEU by place in the document."""
    rows = []
    for result in results:
        gain = p_value = ""
        if result.p_value is not None:
            gain, p_value = f"{result.gain:+.2f}", p_text(result.p_value)
            gain = f"**{gain}**" if result.p_value <= ALPHA else gain
        rows.append((result.score.name, result.system, f"{result.score.value:.2f}", gain, p_value))
    first = [result for result in results if result.score.name == results[0].score.name]
    bars = {result.system: result.score.value for result in first}
    blocks: list[Block] = [
        Prose(f"{text.name}, {convention}", heading=True),
        Picture(bar_plot(bars, results[0].score.name)),
        Table(("figure", "system", "value", "difference", "p"), rows),
    ]
    if by_place:
        positions = {name: by_position(file.text, references) for name, file in files.items()}
        places = list(next(iter(positions.values())))
        cells = [
            (name, *(f"{of_name[place].value:.2f}" for place in places))
            for name, of_name in positions.items()
        ]
        blocks += [
            Prose("BLEU by place in the document:", shown="text"),
            Table(("system", *places), cells, shown="text"),
            Picture(_by_place_plot(positions)),
        ]
        if look_tokenised(references):
            blocks.append(Prose(TOKENISED_NOTE))
    return blocks


def _by_place_plot(positions: Mapping[str, Mapping[str, Score]]) -> str:
    """BLEU of first, second, ... sentences; further right they have more context."""
    lines = [
        Line(name, [(place, score.value) for place, score in enumerate(of_name.values(), start=1)])
        for name, of_name in positions.items()
    ]
    last = f"sentence of the document ({FARTHEST}: all further ones)"
    return line_plot(lines, last, "BLEU", "BLEU by place in the document")


def _json(
    text: Text,
    convention: Convention,
    results: Sequence[Gain],
    files: Mapping[str, TranslationFile],
    references: Translated,
    config: EvaluateConfig,
) -> dict[str, Any]:
    """All figures as plain values."""
    return {
        "measure": "quality",
        "version": __version__,
        "convention": convention,
        "test": f"{config.test}:{config.samples}",
        "references": str(text.path),
        "tokenised": look_tokenised(references),
        "systems": [
            {
                "name": name,
                "file": file.path,
                "signature": file.signature.to_json() if file.signature else None,
            }
            for name, file in files.items()
        ],
        "figures": [
            {
                "system": result.system,
                "name": result.score.name,
                "value": result.score.value,
                "difference": result.gain,
                "p_holm": result.p_value,
                "signature": result.score.signature,
            }
            for result in results
        ],
        "by_position": {
            name: {
                place: score.value for place, score in by_position(file.text, references).items()
            }
            for name, file in files.items()
        },
    }


def lines(text: Translated, convention: Convention) -> list[str]:
    """The lines that are compared under a convention."""
    if convention == "document":
        return [" ".join(document) for document in text.documents]
    sentences = text.sentences
    if convention != "paper-en-ru":
        return sentences
    if len(sentences) % FRAGMENT:
        raise UserError(
            f"paper-en-ru joins {FRAGMENT} sentences into a line, and {len(sentences):,} is no"
            f" multiple of {FRAGMENT}; use another convention for this test set"
        )
    return [
        " ".join(sentences[first : first + FRAGMENT])
        for first in range(0, len(sentences), FRAGMENT)
    ]


def bleu(convention: Convention, references: Sequence[str] | None = None) -> BLEU:
    """The BLEU of a convention; with `references` their n-grams are counted once.

    `paper-en-ru` is `multi-bleu.perl -lc`: tokens are separated by spaces, in lower case, without
    smoothing. `paper-en-de` is `multi-bleu-detok.perl`: the tokens of mteval-v13a, cased, without
    smoothing.
    """
    options: dict[str, Any] = {}
    if convention == "paper-en-ru":
        options = {"lowercase": True, "tokenize": "none", "smooth_method": "none"}
    elif convention == "paper-en-de":
        options = {"tokenize": "13a", "smooth_method": "none"}
    # `force` keeps sacrebleu from warning about tokenised text with every figure: `look_tokenised`.
    given = None if references is None else [list(references)]
    return BLEU(references=given, force=True, **options)


def look_tokenised(references: Translated) -> bool:
    """Whether most sentences that end in a full stop have a space before it."""
    ends = [
        sentence.rstrip()[-2:]
        for sentence in references.sentences
        if sentence.rstrip().endswith(".")
    ]
    return 2 * sum(end == " ." for end in ends) > len(ends)


def metrics(convention: Convention, references: Sequence[str] | None = None) -> dict[str, Any]:
    """The metrics of a convention by name; the paper's have only BLEU."""
    given = None if references is None else [list(references)]
    if convention.startswith("paper"):
        return {"BLEU": bleu(convention, references)}
    prefix = "d-" if convention == "document" else ""
    all_metrics = {
        f"{prefix}BLEU": bleu(convention, references),
        f"{prefix}chrF": CHRF(references=given),
    }
    if convention == "sentence":
        all_metrics["TER"] = TER(references=given)
    return all_metrics


def score(translations: Translated, references: Translated, convention: Convention) -> list[Score]:
    """All metrics of a convention."""
    ours, theirs = lines(translations, convention), lines(references, convention)
    gains = []
    for name, metric in metrics(convention).items():
        value = metric.corpus_score(ours, [theirs]).score
        gains.append(Score(name, value, f"{metric.get_signature()}|unit:{convention}"))
    return gains


def by_position(translations: Translated, references: Translated) -> dict[str, Score]:
    """BLEU of the first, second, ... sentences of all documents, that is, by amount of context."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for ours, theirs in zip(translations.documents, references.documents, strict=True):
        for place, (our_line, other) in enumerate(zip(ours, theirs, strict=True), start=1):
            name = f"{place}" if place < FARTHEST else f"{FARTHEST}+"
            group = groups.setdefault(name, ([], []))
            group[0].append(our_line)
            group[1].append(other)
    metric = bleu("sentence")
    return {
        name: Score(
            f"BLEU {name}",
            metric.corpus_score(ours, [theirs]).score,
            f"{metric.get_signature()}|unit:sentence|place:{name}",
        )
        for name, (ours, theirs) in groups.items()
    }


def compare(
    systems: Mapping[str, Translated],
    references: Translated,
    convention: Convention,
    test: Literal["bs", "ar"],
    samples: int,
) -> list[Gain]:
    """All metrics of all systems, metric by metric, with paired tests against the first."""
    scores = {name: score(text, references, convention) for name, text in systems.items()}
    p_values: dict[tuple[str, str], float] = {}
    if len(systems) > 1:
        p_values = paired(systems, references, convention, test, samples)
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    first = next(iter(scores.values()))
    return [
        Gain(name, line, line.value - base.value, adjusted.get((name, line.name)))
        for place, base in enumerate(first)
        for name, of_system in scores.items()
        for line in of_system[place : place + 1]
    ]


def paired(
    systems: Mapping[str, Translated],
    references: Translated,
    convention: Convention,
    test: Literal["bs", "ar"],
    samples: int,
) -> dict[tuple[str, str], float]:
    """p-values against the first system, by system and metric.

    `bs` is paired bootstrap resampling, `ar` approximate randomisation, both from sacrebleu.
    """
    named = metrics(convention, lines(references, convention))
    ours: list[tuple[str, Sequence[str]]] = [
        (name, lines(text, convention)) for name, text in systems.items()
    ]
    outcome: Mapping[str, Any] = PairedTest(ours, named, None, test, samples)()[1]
    _, *columns = outcome.values()  # the first holds the names of the systems
    p_values = {}
    for metric, (first, *others) in zip(named, columns, strict=True):
        for name, result in zip(list(systems)[1:], others, strict=True):
            # sacrebleu counts samples that differ by more than the observed difference: it finds
            # equal systems, whose samples never differ, to be significantly different.
            p_values[name, metric] = 1.0 if result.score == first.score else float(result.p_value)
    return p_values
