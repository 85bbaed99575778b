"""Draws plots for a page as HTML and inline SVG: dots with intervals, bars, lines, matrices.

They use the page's colours, light or dark, and its width, and explain each mark on hover.
The same figures give the same bytes. Knows numbers, not what they measure, and needs no library.
"""

import base64
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from concatmt.evaluation.resampling import Estimate

COLOURS = 8  # of the page, as CSS variables
WIDTH, HEIGHT = 420, 250  # of a line plot, in its own units
DIGIT = 7  # about how wide a digit of an axis is, in the same units
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 26, 40
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of dots: one for each system."""

    label: str
    note: str
    estimates: Sequence[Estimate]
    mark: float | None = None  # a vertical line: chance, or zero
    filled: Sequence[bool] = ()  # empty: all
    hint: str = ""  # what the label means


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plot; lines of one name have one colour."""

    name: str
    points: Sequence[Point]
    dashed: bool = False


def ticks(low: float, high: float, number: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, at most one more than `number`."""
    span = max(high - low, 1e-12)
    step = 10 ** math.floor(math.log10(span / number))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (factor * step) <= number)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def legend(names: Sequence[str], colours: Sequence[str] = ()) -> str:
    """Names with their colours, which follow their order in `colours`."""
    keys = "".join(
        f'<span class="key"><i class="c{(colours or names).index(name) % COLOURS}"></i>'
        f"{escape(name)}</span>"
        for name in names
    )
    return f'<p class="legend">{keys}</p>'


def dot_plot(rows: Sequence[DotRow], names: Sequence[str], unit: str, first: int = 0) -> str:
    """One row per label, with a dot and interval for each system from `first` on."""
    shown = names[first:]
    ends = [
        value
        for row in rows
        for estimate in row.estimates
        for value in (estimate.value, estimate.low, estimate.high)
        if value is not None
    ]
    ends += [row.mark for row in rows if row.mark is not None]
    low, high = (0.0, 100.0) if unit == "%" else _padded(min(ends), max(ends))
    marks = ticks(low, high)

    def place(value: float) -> str:
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"

    grid = "".join(f'<i class="grid" style="left:{place(value)}"></i>' for value in marks)
    lines = []
    for row in rows:
        dots = [grid]
        if row.mark is not None:
            what = f"chance {row.mark:.1f}{unit}" if unit == "%" else "no difference"
            dots.append(f'<i class="mark" style="left:{place(row.mark)}" title="{what}"></i>')
        for number, (name, estimate) in enumerate(zip(shown, row.estimates, strict=True)):
            filled = not row.filled or row.filled[number]
            colour = f"c{(first + number) % COLOURS}{'' if filled else ' open'}"
            top = f"top:{100 * (number + 0.5) / len(shown):.1f}%"
            interval = ""
            if estimate.low is not None and estimate.high is not None:
                interval = f" [{estimate.low:.1f}, {estimate.high:.1f}]"
                width = (
                    f"left:{place(estimate.low)};right:calc(100% - {place(estimate.high)});{top}"
                )
                dots.append(f'<i class="reach {colour}" style="{width}"></i>')
            title = escape(f"{name}: {estimate.value:.1f}{interval}")
            where = f"left:{place(estimate.value)};{top}"
            dots.append(f'<b class="dot {colour}" style="{where}" title="{title}"></b>')
        height = f"height:{max(22, 9 * len(shown) + 6)}px"
        lines.append(
            f'<div class="row"><span class="label">{hinted(row.label, row.hint)}'
            f" <small>{row.note}</small>"
            f'</span><div class="track" style="{height}">{"".join(dots)}</div></div>'
        )
    numbers = "".join(f'<span style="left:{place(value)}">{value:g}</span>' for value in marks)
    axis = f'<div class="row axis"><span class="label">{unit}</span><div>{numbers}</div></div>'
    return f'{legend(shown, names)}<div class="dots">{"".join(lines)}{axis}</div>'


def hinted(text: str, hint: str) -> str:
    """Text with its explanation on hover, if it has one."""
    return f'<abbr title="{escape(hint)}">{escape(text)}</abbr>' if hint else escape(text)


def bar_plot(values: Mapping[str, float], name: str) -> str:
    """A bar for each system, with its value."""
    most = max([*values.values(), 1e-9])
    rows = []
    for number, (system, value) in enumerate(values.items()):
        width = f"width:calc((100% - 3.5rem) * {max(value, 0.0) / most:.4f})"
        rows.append(
            f'<div class="row"><span class="label">{escape(system)}</span><div class="bar">'
            f'<i class="c{number % COLOURS}" style="{width}"></i><b>{value:.1f}</b></div></div>'
        )
    return f'<div class="dots bars" title="{escape(name)}">{"".join(rows)}</div>'


def line_plot(
    lines: Sequence[Line],
    x: str,
    y: str,
    title: str = "",
    log: bool = False,
    names: Sequence[str] = (),
) -> str:
    """Lines with dots at their points; `log` makes the axis of y logarithmic.

    `names` are all systems in the order of their colours, if only some have lines.
    """
    points = [point for line in lines for point in line.points]
    across = _padded(min(p[0] for p in points), max(p[0] for p in points), 0.0)
    heights = [math.log10(p[1]) if log else p[1] for p in points]
    up = _padded(min(heights), max(heights))

    def at(point: Point) -> Point:
        height = math.log10(point[1]) if log else point[1]
        right = LEFT + (WIDTH - LEFT - RIGHT) * (point[0] - across[0]) / (across[1] - across[0])
        down = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (height - up[0]) / (up[1] - up[0])
        return right, down

    whole = all(float(p[0]).is_integer() for p in points)  # layers, sentences, updates
    marks = [mark for mark in ticks(*across) if not whole or float(mark).is_integer()]
    parts = [_grid(marks, across[0], up, at, log)]
    drawn = list(dict.fromkeys(line.name for line in lines if not line.dashed))
    names = names or drawn
    for line in lines:
        places = [at(point) for point in line.points]
        path = " ".join(f"{right:.1f},{down:.1f}" for right, down in places)
        colour = "even" if line.dashed else f"c{names.index(line.name) % COLOURS}"
        parts.append(f'<polyline class="{colour}" points="{path}"/>')
        for (right, down), (_, value) in zip(places, line.points, strict=True):
            if not line.dashed:
                what = f"<title>{escape(line.name)}: {value:.4g}</title>"
                dot = f'<circle class="{colour}" cx="{right:.1f}" cy="{down:.1f}" r="3">'
                parts.append(f"{dot}{what}</circle>")
    parts.append(_words(x, y, title))
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(parts)}</svg>'
    key = legend(drawn, names) if len(names) > 1 else ""
    return f'<figure class="plot">{key}{svg}</figure>'


def _grid(
    marks: Sequence[float], left: float, up: Point, at: Callable[[Point], Point], log: bool
) -> str:
    """Lines and numbers of both axes; `marks` are those of x, which begins at `left`."""
    parts = []
    levels = _powers(*up) if log else ticks(*up, 4)
    for value in levels:
        _, down = at((left, value))
        line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>'
        number = f'<text x="{LEFT - 6}" y="{down + 4:.1f}" text-anchor="end">{value:g}</text>'
        parts += [line, number]
    for value in marks:
        right, _ = at((value, 10 ** up[0] if log else up[0]))
        text = f"{value:,g}"
        # A number that would stick out at the right ends there.
        fits = right + DIGIT * len(text) / 2 <= WIDTH
        where = f'x="{right if fits else WIDTH:.1f}" y="{HEIGHT - BOTTOM + 16}"'
        parts.append(f'<text {where} text-anchor="{"middle" if fits else "end"}">{text}</text>')
    return "".join(parts)


def _powers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of 10, between two logarithms."""
    parts = [
        factor * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for factor in (1, 2, 5)
    ]
    inside = [value for value in parts if low <= math.log10(value) <= high]
    return inside or [10 ** ((low + high) / 2)]


def _words(x: str, y: str, title: str) -> str:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f'{escape(x)}</text><text transform="translate(12 {middle}) rotate(-90)"'
        f' text-anchor="middle">{escape(y)}</text><text class="title" x="{LEFT}" y="16">'
        f"{escape(title)}</text>"
    )


def _padded(low: float, high: float, share: float = 0.06) -> Point:
    """A range with some space at its ends."""
    space = (high - low) * share or (0.5 if low == high else 0.0)
    return low - space, high + space


def heat_map(matrix: Sequence[Sequence[float]], most: float, title: str) -> str:
    """Rows of numbers from -most to most as a picture, blue to white to red."""
    rows = b"".join(b"\0" + b"".join(_pixel(value / most) for value in row) for row in matrix)
    size = struct.pack(">IIBBBBB", len(matrix[0]), len(matrix), 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    data = base64.b64encode(png).decode()
    text = escape(title)
    return (
        f'<figure class="matrix"><img alt="{text}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _pixel(value: float) -> bytes:
    """-1 is blue, 0 white, 1 red."""
    value = min(max(value, -1.0), 1.0)
    end = (178, 24, 43) if value > 0 else (33, 102, 172)
    return bytes(round(255 + (part - 255) * abs(value)) for part in end)


def details(title: str, html: str) -> str:
    """A part that a reader can open."""
    return f"<details><summary>{escape(title)}</summary>{html}</details>"
