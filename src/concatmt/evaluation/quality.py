"""Translation quality against references: BLEU, chrF and TER through sacrebleu, with signatures.

Also the paper's two ways to compute BLEU, document BLEU, BLEU by place in the document, and
sacrebleu's paired tests. Does not know where translations come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from concatmt.errors import UserError
from concatmt.evaluation.significance import holm

Convention = Literal["sentence", "document", "paper-en-ru", "paper-en-de"]
FRAGMENT = 4  # sentences of a document of Voita's, pasted into one line for the paper's BLEU
FARTHEST = 4  # from here on, all sentences of a document are one group


@dataclass(frozen=True, slots=True)
class Translated:
    """Translations of a test set, by document."""

    documents: tuple[tuple[str, ...], ...]

    @property
    def sentences(self) -> list[str]:
        return [sentence for document in self.documents for sentence in document]


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, with the signature that sacrebleu gives it."""

    name: str
    value: float
    signature: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A figure of one system, and what it gains over the first one, which has no p-value."""

    system: str
    score: Score
    gain: float
    p_value: float | None  # Holm's, over all systems and metrics


def check_aligned(translations: Translated, references: Translated, what: str) -> None:
    """Refuse translations that are not sentence by sentence those of the references."""
    pairs = zip(translations.documents, references.documents, strict=False)
    for number, (ours, theirs) in enumerate(pairs, start=1):
        if len(ours) != len(theirs):
            raise UserError(
                f"{what}: document {number} has {len(ours)} sentences, its reference"
                f" {len(theirs)}; translate it again, one line in, one line out"
            )
    if len(translations.documents) != len(references.documents):
        raise UserError(
            f"{what}: {len(translations.documents):,} documents, but the references have"
            f" {len(references.documents):,}; give the references of the same test set"
        )


def lines(text: Translated, convention: Convention) -> list[str]:
    """The lines that are compared under a convention."""
    if convention == "document":
        return [" ".join(document) for document in text.documents]
    sentences = text.sentences
    if convention != "paper-en-ru":
        return sentences
    if len(sentences) % FRAGMENT:
        raise UserError(
            f"paper-en-ru pastes {FRAGMENT} sentences into a line, and {len(sentences):,} is no"
            f" multiple of {FRAGMENT}; use another convention for this test set"
        )
    return [
        " ".join(sentences[first : first + FRAGMENT])
        for first in range(0, len(sentences), FRAGMENT)
    ]


def bleu(convention: Convention, references: Sequence[str] | None = None) -> BLEU:
    """The BLEU of a convention; with `references` their n-grams are counted once.

    `paper-en-ru` is `multi-bleu.perl -lc`: tokens are what spaces separate, in lower case, without
    smoothing. `paper-en-de` is `multi-bleu-detok.perl`: the tokens of mteval-v13a, cased, without
    smoothing.
    """
    options: dict[str, Any] = {}
    if convention == "paper-en-ru":
        options = {"lowercase": True, "tokenize": "none", "smooth_method": "none"}
    elif convention == "paper-en-de":
        options = {"tokenize": "13a", "smooth_method": "none"}
    # `force` keeps sacrebleu from warning of tokenised text at every figure: `look_tokenised`.
    given = None if references is None else [list(references)]
    return BLEU(references=given, force=True, **options)


def look_tokenised(references: Translated) -> bool:
    """Whether a space stands before the last full stop of most sentences that end in one."""
    ends = [one.rstrip()[-2:] for one in references.sentences if one.rstrip().endswith(".")]
    return 2 * sum(end == " ." for end in ends) > len(ends)


def metrics(convention: Convention, references: Sequence[str] | None = None) -> dict[str, Any]:
    """The metrics of a convention by name: the paper has BLEU alone."""
    given = None if references is None else [list(references)]
    if convention.startswith("paper"):
        return {"BLEU": bleu(convention, references)}
    prefix = "d-" if convention == "document" else ""
    found = {f"{prefix}BLEU": bleu(convention, references), f"{prefix}chrF": CHRF(references=given)}
    if convention == "sentence":
        found["TER"] = TER(references=given)
    return found


def score(translations: Translated, references: Translated, convention: Convention) -> list[Score]:
    """All metrics of a convention."""
    ours, theirs = lines(translations, convention), lines(references, convention)
    found = []
    for name, metric in metrics(convention).items():
        value = metric.corpus_score(ours, [theirs]).score
        found.append(Score(name, value, f"{metric.get_signature()}|unit:{convention}"))
    return found


def by_position(translations: Translated, references: Translated) -> dict[str, Score]:
    """BLEU of the first, second, ... sentences of all documents: by how much context there is."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for ours, theirs in zip(translations.documents, references.documents, strict=True):
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
            name = f"{place}" if place < FARTHEST else f"{FARTHEST}+"
            group = groups.setdefault(name, ([], []))
            group[0].append(one)
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
) -> list[Comparison]:
    """All metrics of all systems, metric by metric, with a paired test against the first."""
    scores = {name: score(text, references, convention) for name, text in systems.items()}
    p_values: dict[tuple[str, str], float] = {}
    if len(systems) > 1:
        p_values = paired(systems, references, convention, test, samples)
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    first = next(iter(scores.values()))
    return [
        Comparison(name, one, one.value - base.value, adjusted.get((name, one.name)))
        for place, base in enumerate(first)
        for name, of_system in scores.items()
        for one in of_system[place : place + 1]
    ]


def paired(
    systems: Mapping[str, Translated],
    references: Translated,
    convention: Convention,
    test: Literal["bs", "ar"],
    samples: int,
) -> dict[tuple[str, str], float]:
    """p-values against the first system, by system and metric.

    `bs` is paired bootstrap resampling, `ar` approximate randomisation, both of sacrebleu.
    """
    named = metrics(convention, lines(references, convention))
    ours: list[tuple[str, Sequence[str]]] = [
        (name, lines(text, convention)) for name, text in systems.items()
    ]
    outcome: Mapping[str, Any] = PairedTest(ours, named, None, test, samples)()[1]
    _, *columns = outcome.values()  # the first holds the names of the systems
    found = {}
    for metric, (first, *others) in zip(named, columns, strict=True):
        for name, result in zip(list(systems)[1:], others, strict=True):
            # sacrebleu counts samples that differ by more than what was found, and so finds equal
            # systems, of which no sample differs at all, to be significantly different.
            found[name, metric] = 1.0 if result.score == first.score else float(result.p_value)
    return found
