"""HTML pages of an evaluation: plots with intervals and chance, and tokens coloured by context use.

A page is one file that needs nothing else. Needs the extra `plots`. Knows figures, not how they
were computed.
"""

import io
from collections.abc import Sequence
from typing import Any

from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure
from concatmt.evaluation.context_use import Sentence
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.resampling import Estimate

STRONGEST = 3.0  # nats: a token that context makes 20 times likelier has the full colour
STYLE = """body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
pre{overflow-x:auto;font-size:13px} svg{max-width:100%;height:auto} p.tokens{line-height:2}
span.token{padding:.15em .25em;border-radius:.2em}"""
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


def accuracy_page(figures: Sequence[Figure], systems: Sequence[System], text: str) -> str:
    """Accuracies of all systems by group, their differences to the first, and the table."""
    differences = ""
    if len(systems) > 1:
        differences = _plot(figures, systems, compare=True)
    return _render(
        ACCURACY,
        title="Evaluation",
        levels=_plot(figures, systems, compare=False),
        differences=differences,
        first=systems[0].name,
        text=text,
    )


def context_use_page(sentences: Sequence[Sentence], text: str, documents: int) -> str:
    """The first documents, sentence under sentence, each token coloured by its P-CXMI."""
    largest = max(sentences[0].log_probs)
    shown: dict[str, list[list[tuple[str, float, str]]]] = {}
    for one in sentences:
        if one.document in shown or len(shown) < documents:
            gains = one.gains(largest)
            shown.setdefault(one.document, []).append(
                [(t, g, _colour(g)) for t, g in zip(one.tokens, gains, strict=True)]
            )
    return _render(CONTEXT_USE, title="Context use", documents=shown, text=text)


def _colour(gain: float) -> str:
    strength = min(1.0, abs(gain) / STRONGEST)
    return f"rgba({'30,150,60' if gain > 0 else '200,40,40'},{strength:.2f})"


def _render(template: str, **values: Any) -> str:
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise _missing("jinja2") from error
    return Environment(autoescape=True).from_string(template).render(style=STYLE, **values)


def _missing(name: str) -> UserError:
    return UserError(f"HTML pages need {name}: install it with pip install 'concatmt[plots]'")


def _plot(figures: Sequence[Figure], systems: Sequence[System], compare: bool) -> str:
    """One line for each figure, and on it one dot for each system; as SVG."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Picture
    except ImportError as error:
        raise _missing("matplotlib") from error
    matplotlib.rcParams["svg.hashsalt"] = "concatmt"  # the same picture is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    shown = systems[1:] if compare else systems
    picture = Picture(figsize=(8, 1.2 + 0.18 * len(figures) * (1 + len(shown))))
    axes = picture.subplots()
    for place, figure in enumerate(figures):
        if compare:
            axes.axvline(0, color="black", linewidth=0.5)
        elif figure.chance is not None:
            axes.plot([100 * figure.chance] * 2, [place - 0.4, place + 0.4], color="black")
        for number, system in enumerate(systems):
            if system not in shown:
                continue
            difference = figure.differences[number]
            estimate = figure.accuracies[number]
            filled = not compare
            if compare and difference is not None:
                estimate, filled = difference.estimate, difference.survives
            height = place + 0.7 * ((number + 0.5) / len(systems) - 0.5)
            label = system.name if place == 0 else None
            _dot(axes, estimate, height, f"C{number}", filled, label)
    axes.set_yticks(range(len(figures)), [f"{f.name} ({f.count:,})" for f in figures])
    axes.invert_yaxis()
    axes.set_xlabel("points" if compare else "per cent")
    axes.grid(axis="x", color="0.9")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    picture.tight_layout()
    buffer = io.StringIO()
    picture.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]


def _dot(
    axes: Any, estimate: Estimate, height: float, colour: str, filled: bool, label: str | None
) -> None:
    if estimate.low is not None and estimate.high is not None:
        axes.plot([100 * estimate.low, 100 * estimate.high], [height, height], color=colour)
    face = colour if filled else "white"
    options = {"color": colour, "markerfacecolor": face, "marker": "o", "linestyle": "none"}
    axes.plot([100 * estimate.value], [height], label=label, **options)
