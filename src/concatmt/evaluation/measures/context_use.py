"""Measures context use: CXMI (Fernandes et al. 2021), and P-CXMI of each token (2023).

CXMI with c sentences of context is the mean of log p(y | x, c) - log p(y | x, 0) over sentences,
both from one model. Also shows documents token by token. Does not know how scores are made.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from concatmt.corpus.parts import Part
from concatmt.errors import UserError
from concatmt.evaluation.charts import Line, line_plot
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.findings import Evidence, Picture, Prose, Section, Table
from concatmt.evaluation.resampling import (
    Estimate,
    cluster_numbers,
    percentiles,
    resampled_means,
)
from concatmt.evaluation.scores import Sentence
from concatmt.evaluation.subjects import Deed, Subject, seeing_context
from concatmt.evaluation.suite import Need, Suite
from concatmt.evaluation.texts import Text

REMARK = "What context adds to the log-probability of the references, in nats."
STRONGEST = 3.0  # nats: tokens that context makes 20 times likelier have the full colour
LEGEND = """<h3 id="documents">Documents, token by token</h3><p>References, each token coloured by
what context adds to its log-probability (P-CXMI): <span class="token" style="background:\
rgba(30,150,60,.6)">green</span> tokens become likelier, <span class="token" style="background:\
rgba(200,40,40,.6)">red</span> ones less likely; hover for the gain in nats. These are the documents
in which context matters most.</p>"""
TERMS = {
    "CXMI": "what context adds to the log-probability of the references, in nats (a nat is a"
    " factor of 2.7); above 0 the model makes use of its context",
    "P-CXMI": "CXMI of a single token",
    "gaining": "share of sentences that become likelier with context",
    "context": "number of sentences before the current one that the model is given",
    "current sentence": "the last sentence of a window, which is translated",
}
HEADER = ("context", "CXMI a sentence", "95% interval", "a token", "gaining", "sentences")


@dataclass(frozen=True, slots=True)
class ContextUse:
    """CXMI with one amount of context, in nats."""

    context: int
    sentences: int
    per_sentence: Estimate
    per_token: float
    gaining: float  # share of the sentences that become likelier


class ContextUseMeasure:
    """CXMI of texts, from references scored with every amount of context."""

    name = "context-use"
    need: Need = "texts"
    deed: Deed = "score"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """CXMI of every member on every text, then documents."""
        section = Section(self.name, "Context use", [Prose(REMARK)], json=[], terms=TERMS)
        files: dict[str, str] = {}
        pictures = []
        pairs, section.left_out = seeing_context(subjects, "context use")
        for text in suite.texts:
            runs: dict[str, Places] = {}
            lines, rows = [], []
            for subject, member in pairs:
                signature, sentences = member.scores(text)
                uses = context_use(sentences)
                runs[member.label] = {
                    (sentence.document, sentence.number): sentence for sentence in sentences
                }
                said = evidence(uses[-1], member.label, subject.name, text.name)
                section.evidence.setdefault(subject.name, []).append(said)
                tokens = f"p-cxmi-{len(files) + 1}.jsonl"
                files[tokens] = "".join(
                    json.dumps(gain, ensure_ascii=False) + "\n" for gain in token_gains(sentences)
                )
                points = [(float(use.context), use.per_sentence.value) for use in uses]
                lines.append(Line(subject.name, [(0.0, 0.0), *points]))
                rows += [(member.label, *row) for row in table(uses).rows]
                section.signatures.append(f"{member.label}, {text.name}: {signature}")
                section.json.append(
                    {
                        "run": member.label,
                        "text": text.name,
                        "signature": signature.to_json(),
                        "use": [dataclasses.asdict(use) for use in uses],
                        "tokens": tokens,
                    }
                )
            if lines:
                names = [subject.name for subject in subjects]
                plot = line_plot(
                    lines, "sentences of context", "CXMI, nats a sentence", text.name, names=names
                )
                section.blocks += [
                    Prose(text.name, heading=True, shown="text"),
                    Picture(plot),
                    Table(("system", *HEADER), rows),
                ]
                pictures += [Picture(example) for example in examples(text, runs, config)]
        if not section.json:
            section.blocks.clear()
        if pictures:
            section.blocks += [Picture(LEGEND), *pictures]
        section.files = files
        return section


def context_use(sentences: Sequence[Sentence]) -> list[ContextUse]:
    """CXMI by amount of context, with intervals over documents.

    Sentences at the start of a document have no context and are left out.
    """
    amounts = sorted(amount for amount in sentences[0].log_probs if amount)
    inner = [sentence for sentence in sentences if sentence.number > 0]
    if not inner:
        raise UserError("all documents have one sentence: there is no context to use")
    gains = np.array([[sum(sentence.gains(amount)) for amount in amounts] for sentence in inner])
    clusters = cluster_numbers(sentence.document for sentence in inner)
    number = int(clusters.max()) + 1
    low, high = [None] * len(amounts), [None] * len(amounts)
    if number > 1:
        ends = percentiles(resampled_means(gains, clusters), number)
        low, high = ends[0].tolist(), ends[1].tolist()
    tokens = sum(len(sentence.tokens) for sentence in inner)
    return [
        ContextUse(
            amount,
            len(inner),
            Estimate(float(gains[:, place].mean()), low[place], high[place]),
            float(gains[:, place].sum()) / tokens,
            float((gains[:, place] > 0).mean()),
        )
        for place, amount in enumerate(amounts)
    ]


def evidence(most: ContextUse, run: str, system: str, text: str) -> Evidence:
    """What the largest amount of context does, in words; 0 in the interval is no telling."""
    value, low, high = most.per_sentence.value, most.per_sentence.low, most.per_sentence.high
    helps = None
    interval = ""
    if low is not None and high is not None:
        helps = True if low > 0 else False if high < 0 else None
        interval = f" [{low:+.2f}, {high:+.2f}]"
    sentences = f"{most.context} sentence{'s' if most.context > 1 else ''}"
    which = "" if run == system else f" ({run})"
    words = (
        f"a reference sentence of {text} gains {value:+.2f} nats{interval} from {sentences} of"
        f" context{which}"
    )
    return Evidence(helps, words)


def table(uses: Sequence[ContextUse]) -> Table:
    """A table of CXMI by amount of context."""
    rows = []
    for use in uses:
        low, high = use.per_sentence.low, use.per_sentence.high
        rows.append(
            (
                str(use.context),
                f"{use.per_sentence.value:+.3f}",
                "-" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]",
                f"{use.per_token:+.4f}",
                f"{100 * use.gaining:.1f}%",
                f"{use.sentences:,}",
            )
        )
    return Table(HEADER, rows)


def token_gains(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    """P-CXMI of every token of every sentence, under the largest amount of context."""
    largest = max(sentences[0].log_probs)
    return [
        {
            "document": sentence.document,
            "sentence": sentence.number,
            "tokens": list(sentence.tokens),
            "p_cxmi": sentence.gains(largest),
        }
        for sentence in sentences
    ]


Places = Mapping[tuple[str, int], Sentence]


def examples(text: Text, runs: Mapping[str, Places], config: EvaluateConfig) -> Iterator[str]:
    """The documents with the largest gains over all runs, as HTML."""
    gains: dict[str, float] = {}
    amounts = [max(sentence.log_probs) for places in runs.values() for sentence in places.values()]
    for places in runs.values():
        for (document, _), sentence in places.items():
            gain = sum(sentence.gains(max(sentence.log_probs)))
            gains[document] = gains.get(document, 0.0) + gain
    chosen = sorted(gains, key=lambda name: -gains[name])[: config.examples]
    parts = {part.document: part for part in text.parts(config.documents)}
    for name in chosen:
        part = parts.get(name) or _without_source(name, runs)
        yield _document(f"{text.name}, document {name}", part, runs, max(amounts))


def _without_source(name: str, runs: Mapping[str, Places]) -> Part:
    """A document with scores only: its tokens stand in for the sources."""
    number = 1 + max(place for places in runs.values() for doc, place in places if doc == name)
    return Part(name, source=[""] * number)


def _document(title: str, part: Part, runs: Mapping[str, Places], context: int) -> str:
    """A row for each sentence: context, source, and the reference coloured for each run."""
    heads = "".join(f"<th>{escape(run)}</th>" for run in runs)
    rows = []
    for number, source in enumerate(part.source):
        before = "<br>".join(map(escape, part.source[max(0, number - context) : number]))
        cells = [_tokens(places.get((part.document, number))) for places in runs.values()]
        tokens = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr><td class="context">{before}</td><td>{escape(source)}</td>{tokens}</tr>')
    return (
        f'<h4>{escape(title)}</h4><div class="wide"><table class="document"><tr><th>context</th>'
        f"<th>current sentence</th>{heads}</tr>{''.join(rows)}</table></div>"
    )


def _tokens(sentence: Sentence | None) -> str:
    """Each token coloured by its P-CXMI under the largest context."""
    if sentence is None:
        return ""
    gains = sentence.gains(max(sentence.log_probs))
    return " ".join(
        f'<span class="token" style="background:{_colour(gain)}" title="{gain:+.2f}">'
        f"{escape(token)}</span>"
        for token, gain in zip(sentence.tokens, gains, strict=True)
    )


def _colour(gain: float) -> str:
    strength = min(1.0, abs(gain) / STRONGEST)
    return f"rgba({'30,150,60' if gain > 0 else '200,40,40'},{strength:.2f})"
