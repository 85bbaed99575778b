"""Plots of an evaluation as inline SVG: accuracies, learning curves, encodings, attention.

Needs the extra `plots`. The same figures give the same bytes. Knows figures, not how they were
computed.
"""

import io
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from concatmt.corpus.batch import side_from_lists
from concatmt.errors import UserError
from concatmt.evaluation.accuracy import Figure
from concatmt.evaluation.attention import KINDS, AttentionUse
from concatmt.evaluation.outcomes import System
from concatmt.evaluation.resampling import Estimate
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.transformer import Transformer

WORDS = (8, 5, 10, 7)  # of the sentences in the pictures of encodings
TITLES = {"encoder": "encoder self", "decoder": "decoder self", "cross": "decoder to source"}


def accuracy_plot(figures: Sequence[Figure], systems: Sequence[System], compare: bool) -> str:
    """One line for each figure, and on it one dot for each system."""
    shown = systems[1:] if compare else systems
    picture = new_picture(8, 1.2 + 0.18 * len(figures) * (1 + len(shown)))
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
    return as_svg(picture)


def _dot(
    axes: Any, estimate: Estimate, height: float, colour: str, filled: bool, label: str | None
) -> None:
    if estimate.low is not None and estimate.high is not None:
        axes.plot([100 * estimate.low, 100 * estimate.high], [height, height], color=colour)
    face = colour if filled else "white"
    options = {"color": colour, "markerfacecolor": face, "marker": "o", "linestyle": "none"}
    axes.plot([100 * estimate.value], [height], label=label, **options)


def curves_plot(curves: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]]) -> str | None:
    """Validation loss of current sentences by update, a line for each seed of each system.

    `curves`: the records of metrics.jsonl by system and seed; None if there are none.
    """
    picture = new_picture(8, 3.6)
    from matplotlib.ticker import LogLocator, NullLocator

    axes = picture.subplots()
    drawn = 0
    for number, (name, seeds) in enumerate(curves.items()):
        for seed, records in enumerate(seeds):
            points = [(r["update"], r["current_nll"]) for r in records if "current_nll" in r]
            if points:
                label = name if seed == 0 else None
                axes.plot(*zip(*points, strict=True), f"C{number}.-", label=label)
                drawn += 1
    if not drawn:
        return None
    axes.set_xlabel("updates")
    axes.set_ylabel("NLL, nats a token of the current sentence")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(color="0.9")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    return as_svg(picture)


def encoding_plot(model: Transformer) -> str:
    """What a model adds to its tokens by their place: to the input, and before later blocks."""
    size = model.config.system.sentences
    words = list(itertools.islice(itertools.cycle(WORDS), size))
    segments = side_from_lists([[[0] * count for count in words]]).segments
    t = torch.arange(segments.shape[1])[None] + FIRST_POSITION
    with torch.no_grad():
        signal = model.encoding(t, segments, torch.tensor([[size]]))
    panels = {"added to the input": signal.input}
    if signal.block is not None:
        panels["added before every later block"] = signal.block
    shape = (*segments.shape, model.config.architecture.dim)
    picture = new_picture(4.2 * len(panels), 3.4)
    for axes, (title, vectors) in zip(
        picture.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        matrix = vectors.expand(shape)[0].double().numpy()
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        mark_sentences(axes, segments[0].tolist())
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("dimension")
        picture.colorbar(image, ax=axes, shrink=0.8)
    return as_svg(picture)


def mark_sentences(axes: Any, segments: list[int]) -> None:
    """Lines between the sentences of a window, and their k at the left."""
    starts = [i for i, k in enumerate(segments) if i == 0 or segments[i - 1] != k]
    ends = [*starts[1:], len(segments)]
    for start in starts[1:]:
        axes.axhline(start - 0.5, color="k", linewidth=0.8)
    middles = [(a + b - 1) / 2 for a, b in zip(starts, ends, strict=True)]
    axes.set_yticks(middles, [f"k = {segments[start]}" for start in starts])


def attention_plot(runs: Mapping[str, Sequence[AttentionUse]]) -> str:
    """Shares and entropies by layer; a dashed line is even attention."""
    picture = new_picture(9, 4.8)
    rows = picture.subplots(2, len(KINDS), sharex=True, sharey="row")
    for column, kind in enumerate(KINDS):
        for number, (name, layers) in enumerate(runs.items()):
            found = [one for one in layers if one.kind == kind]
            places = [one.layer for one in found]
            shares = [100 * one.share.value for one in found]
            entropies = [one.entropy.value for one in found]
            rows[0][column].plot(places, shares, f"C{number}o-", label=None if column else name)
            rows[1][column].plot(places, entropies, f"C{number}o-")
            if number == 0:
                even = [100 * one.uniform_share for one in found]
                rows[0][column].plot(places, even, "k--", linewidth=0.8)
                most = [one.uniform_entropy for one in found]
                rows[1][column].plot(places, most, "k--", linewidth=0.8)
        rows[0][column].set_title(TITLES[kind], fontsize=10)
        rows[1][column].set_xlabel("layer")
        rows[1][column].set_xticks(places)
    rows[0][0].set_ylabel("per cent on current")
    rows[1][0].set_ylabel("entropy (nats)")
    picture.legend(loc="outside upper center", ncols=4, frameon=False)
    return as_svg(picture)


def missing(name: str) -> UserError:
    """What to say where the extra is not installed."""
    return UserError(f"HTML pages need {name}: install it with pip install 'concatmt[plots]'")


def new_picture(width: float, height: float) -> Any:
    """An empty figure of matplotlib, in inches."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Picture
    except ImportError as error:
        raise missing("matplotlib") from error
    matplotlib.rcParams["svg.hashsalt"] = "concatmt"  # the same picture is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["text.parse_math"] = False  # names of systems are not formulas
    return Picture(figsize=(width, height), layout="constrained")


def as_svg(picture: Any) -> str:
    """A figure as text that can stand in a page."""
    buffer = io.StringIO()
    picture.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]
