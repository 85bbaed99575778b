"""HTML pages of an evaluation: plots with intervals and chance, and tokens coloured by context use.

A page is one file that needs nothing else. Needs the extra `plots`. Knows figures, not how they
were computed.
"""

from collections.abc import Sequence
from typing import Any

from concatmt.evaluation.accuracy import Figure
from concatmt.evaluation.context_use import Sentence
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.plots import accuracy_plot, missing

STRONGEST = 3.0  # nats: a token that context makes 20 times likelier has the full colour
STYLE = """body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
pre{overflow-x:auto;font-size:13px} svg{max-width:100%;height:auto} p.tokens{line-height:2}
span.token{padding:.15em .25em;border-radius:.2em} table{border-collapse:collapse;width:100%}
td,th{vertical-align:top;text-align:left;padding:.4em .8em;border-bottom:1px solid #ddd}
td.context{color:#777;font-size:14px} td{line-height:1.7} nav a{margin-right:1em}
summary{cursor:pointer}"""
ACCURACY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{{ title }}</title>
<style>{{ style }}</style><h1>{{ title }}</h1>
<h2>Accuracy</h2><p>Dots with 95% intervals; a black bar is the chance level.</p>{{ levels|safe }}
{% if differences %}<h2>Difference to {{ first }}</h2><p>Filled dots are significant after Holm's
correction over all differences.</p>{{ differences|safe }}{% endif %}
<h2>Table</h2><pre>{{ text }}</pre></html>
"""
CONTEXT_USE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{{ title }}</title>
<style>{{ style }}</style><h1>{{ title }}</h1>
<p>Green tokens become likelier with context, red ones less likely; hover for the gain in nats.</p>
{% for document, sentences in documents.items() %}<h2>Document {{ document }}</h2>
{% for sentence in sentences %}<p class="tokens">{% for token, gain, colour in sentence %}
<span class="token" style="background:{{ colour }}" title="{{ '%+.2f'|format(gain) }}">{{ token }}\
</span>{% endfor %}</p>{% endfor %}{% endfor %}<h2>Table</h2><pre>{{ text }}</pre></html>
"""
Coloured = list[tuple[str, float, str]]  # token, gain in nats, colour


def accuracy_page(figures: Sequence[Figure], systems: Sequence[System], text: str) -> str:
    """Accuracies of all systems by group, their differences to the first, and the table."""
    differences = ""
    if len(systems) > 1:
        differences = accuracy_plot(figures, systems, compare=True)
    return render(
        ACCURACY,
        title="Evaluation",
        levels=accuracy_plot(figures, systems, compare=False),
        differences=differences,
        first=systems[0].name,
        text=text,
    )


def context_use_page(sentences: Sequence[Sentence], text: str, documents: int) -> str:
    """The first documents, sentence under sentence, each token coloured by its P-CXMI."""
    shown: dict[str, list[Coloured]] = {}
    for one in sentences:
        if one.document in shown or len(shown) < documents:
            shown.setdefault(one.document, []).append(coloured(one))
    return render(CONTEXT_USE, title="Context use", documents=shown, text=text)


def coloured(sentence: Sentence) -> Coloured:
    """The tokens of a sentence with their P-CXMI under the largest context, and its colour."""
    gains = sentence.gains(max(sentence.log_probs))
    return [(t, g, _colour(g)) for t, g in zip(sentence.tokens, gains, strict=True)]


def _colour(gain: float) -> str:
    strength = min(1.0, abs(gain) / STRONGEST)
    return f"rgba({'30,150,60' if gain > 0 else '200,40,40'},{strength:.2f})"


def render(template: str, **values: Any) -> str:
    """A page from a template; text is escaped."""
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise missing("jinja2") from error
    return Environment(autoescape=True).from_string(template).render(style=STYLE, **values)
