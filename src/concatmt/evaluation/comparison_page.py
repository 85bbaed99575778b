"""The HTML page of runs on a suite: plots of every measure, and documents token by token.

A page is one file that needs nothing else. Needs the extra `plots`. Knows what was found, not how;
only the pictures of encodings are made from the models themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from concatmt.decoding.inputs import Part
from concatmt.evaluation.accuracy import Figure
from concatmt.evaluation.attention import AttentionUse
from concatmt.evaluation.comparison import Comparison, OfText
from concatmt.evaluation.context_use import Sentence
from concatmt.evaluation.evaluate import Evaluation
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.page import Coloured, coloured, render
from concatmt.evaluation.plots import (
    accuracy_plot,
    attention_plot,
    curves_plot,
    encoding_plot,
    missing,
)
from concatmt.evaluation.suite import SuiteConfig, Text
from concatmt.model.directory import load_model

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Evaluation</title>
<meta name="viewport" content="width=device-width"><style>{{ style }}</style><h1>Evaluation</h1>
{% for remark in endings %}<p>{{ remark }}</p>{% endfor %}
<nav>{% for section in sections %}<a href="#s{{ loop.index }}">{{ section.title }}</a>
{% endfor %}{% if examples %}<a href="#examples">Documents</a>{% endif %}
<a href="#tables">Tables</a></nav>
{% for section in sections %}<h2 id="s{{ loop.index }}">{{ section.title }}</h2>
<p>{{ section.remark }}</p>{% for caption, svg in section.plots %}
{% if caption %}<h3>{{ caption }}</h3>{% endif %}{{ svg|safe }}{% endfor %}{% endfor %}
{% if examples %}<h2 id="examples">Documents, token by token</h2>
<p>References, each token coloured by what context adds to its log-probability (P-CXMI): green
tokens become likelier, red ones less likely; hover for the gain in nats. Shown are the documents in
which context matters most.</p>
{% for example in examples %}<h3>{{ example.title }}</h3><table><tr><th>context</th>
<th>current sentence</th>{% for run in example.runs %}<th>{{ run }}</th>{% endfor %}</tr>
{% for row in example.rows %}<tr><td class="context">{% for sentence in row.context %}
{{ sentence }}<br>{% endfor %}</td><td>{{ row.current }}</td>{% for tokens in row.runs %}<td>
{% for token, gain, colour in tokens %}<span class="token" style="background:{{ colour }}"
 title="{{ '%+.2f'|format(gain) }}">{{ token }}</span> {% endfor %}</td>{% endfor %}</tr>
{% endfor %}</table>{% endfor %}{% endif %}
<h2 id="tables">Tables</h2><pre>{{ text }}</pre></html>
"""
SHOWN = ("all", "phenomenon", "orbit")  # figures of perturbed contexts that are drawn


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what has to be said, and plots with their captions."""

    title: str
    remark: str
    plots: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence of a document, its context, and its reference as each run sees it."""

    context: Sequence[str]
    current: str
    runs: Sequence[Coloured]


@dataclass(frozen=True, slots=True)
class Example:
    """A document."""

    title: str
    runs: Sequence[str]
    rows: Sequence[Row]


def page_problem() -> str | None:
    """Why no page can be made, or None."""
    for name in ("matplotlib", "jinja2"):
        try:
            import_module(name)
        except ImportError:  # not there, or broken
            return str(missing(name))
    return None


def comparison_page(found: Comparison, config: SuiteConfig, text: str) -> str:
    """The whole page."""
    return render(
        PAGE,
        sections=list(_sections(found)),
        examples=list(_examples(found, config)),
        text=text,
        endings=found.endings,
    )


def _sections(found: Comparison) -> Iterator[Section]:
    if found.contrastive:
        yield _accuracy("Contrastive accuracy", found.contrastive)
    if found.generative:
        yield _accuracy("Generative accuracy", found.generative)
    if found.perturbed:
        plots = [(one.system, _levels(one.figures, one.contexts)) for one in found.perturbed]
        remark = "Accuracy with the true context (gold) and with others; a black bar is chance."
        yield Section("Other contexts", remark, plots)
    if found.attention:
        remark = (
            "Where the tokens of current sentences look, by layer. The dashed line is even"
            " attention."
        )
        plots = [(name, attention_plot(runs)) for name, runs in _by_text(found.attention).items()]
        yield Section("Attention", remark, plots)
    curves = curves_plot(
        {one.name: [member.metrics for member in one.members] for one in found.candidates}
    )
    if curves:
        remark = (
            "Negative log-likelihood (NLL) of the current sentences of the validation data, without"
            " label smoothing, a line for each run."
        )
        yield Section("Learning curves", remark, [("", curves)])
    remark = (
        "What each system adds to its tokens by their place, over a window; the vectors are those"
        " of the trained model."
    )
    pictures = [
        (one.name, encoding_plot(load_model(one.members[0].model))) for one in found.candidates
    ]
    yield Section("Position encodings", remark, pictures)


def _accuracy(title: str, evaluation: Evaluation) -> Section:
    figures, systems = evaluation.figures, evaluation.systems
    plots = [("", accuracy_plot(figures, systems, compare=False))]
    if len(systems) > 1:
        caption = f"Difference to {systems[0].name}"
        plots.append((caption, accuracy_plot(figures, systems, compare=True)))
    remark = (
        "Dots with 95% intervals; a black bar is the chance level. Filled dots of differences are"
        " significant after Holm's correction."
    )
    return Section(title, remark, plots)


def _levels(figures: Sequence[Figure], contexts: Sequence[System]) -> str:
    shown = [figure for figure in figures if figure.kind in SHOWN]
    return accuracy_plot(shown, contexts, compare=False)


def _by_text(found: Sequence[OfText]) -> dict[str, dict[str, tuple[AttentionUse, ...]]]:
    runs: dict[str, dict[str, tuple[AttentionUse, ...]]] = {}
    for one in found:
        runs.setdefault(one.text, {})[one.run] = one.layers
    return runs


def _examples(found: Comparison, config: SuiteConfig) -> Iterator[Example]:
    for text in found.suite.texts:
        runs = {
            one.run: _by_place(one.sentences) for one in found.context_use if one.text == text.name
        }
        if runs:
            yield from _documents(text, runs, _context(found), config)


def _context(found: Comparison) -> int:
    return max(m.config.system.sentences for one in found.candidates for m in one.members) - 1


Places = Mapping[tuple[str, int], Sentence]


def _by_place(sentences: Sequence[Sentence]) -> Places:
    return {(one.document, one.number): one for one in sentences}


def _documents(
    text: Text, runs: Mapping[str, Places], context: int, config: SuiteConfig
) -> Iterator[Example]:
    """The documents with the largest gains, over all runs."""
    gains: dict[str, float] = {}
    for places in runs.values():
        for (document, _), one in places.items():
            gain = sum(one.gains(max(one.log_probs)))
            gains[document] = gains.get(document, 0.0) + gain
    chosen = sorted(gains, key=lambda name: -gains[name])[: config.examples]
    parts = {part.document: part for part in text.parts(config.documents)}
    for name in chosen:
        title = f"{text.name}, document {name}"
        yield Example(title, list(runs), list(_rows(parts[name], runs, context)))


def _rows(part: Part, runs: Mapping[str, Places], context: int) -> Iterator[Row]:
    for number, source in enumerate(part.source):
        tokens: list[Coloured] = []
        for places in runs.values():
            one = places.get((part.document, number))
            tokens.append(coloured(one) if one else [])
        yield Row(part.source[max(0, number - context) : number], source, tokens)
