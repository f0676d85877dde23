"""Line plots as SVG files, on logarithmic axes, without any package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from math import ceil, floor, log10
from pathlib import Path

COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b7791f", "#444444")
WIDTH, HEIGHT, MARGIN = 300, 220, 46

Lines = Mapping[str, Sequence[tuple[float, float]]]
"""Named lines, each a sequence of points (x, y); points with y ≤ 0 are left out."""


def plot(path: Path, panels: Mapping[str, Lines], x_label: str, y_label: str) -> None:
    """One panel for each entry, side by side in rows of three, with a common legend."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    points = [p for lines in panels.values() for line in lines.values() for p in line if p[1] > 0]
    spans = [(floor(log10(min(p[i] for p in points))), ceil(log10(max(p[i] for p in points)))) for i in (0, 1)]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    size = (columns * WIDTH, rows * HEIGHT + 40)
    body = [
        _panel(i % columns, i // columns, title, lines, names, spans) for i, (title, lines) in enumerate(panels.items())
    ]
    places = accumulate((30 + 6 * len(name) for name in names), initial=MARGIN)
    legend = [
        f'<text x="{x}" y="{size[1] - 24}" fill="{COLOURS[i]}">■ {escape(name)}</text>'
        for i, (name, x) in enumerate(zip(names, places, strict=False))
    ]
    axes = f'<text x="{MARGIN}" y="{size[1] - 8}">{escape(y_label)}, against {escape(x_label)}</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif"'
    head += ' font-size="11">'
    path.write_text(
        "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *body, *legend, axes, "</svg>", ""])
    )


def _panel(column: int, row: int, title: str, lines: Lines, names: list[str], spans: list[tuple[int, int]]) -> str:
    left, top = column * WIDTH + MARGIN, row * HEIGHT + 22
    wide, tall = WIDTH - MARGIN - 12, HEIGHT - 48
    (x0, x1), (y0, y1) = spans

    def place(x: float, y: float) -> tuple[float, float]:
        return left + wide * (log10(x) - x0) / max(1, x1 - x0), top + tall * (1 - (log10(y) - y0) / max(1, y1 - y0))

    parts = [f'<text x="{left}" y="{top - 6}" font-weight="bold">{escape(title)}</text>']
    parts.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{tall}" fill="none" stroke="#999"/>')
    for k in range(x0, x1 + 1):
        x, _ = place(10.0**k, 10.0**y0)
        at = "end" if k == x1 else "middle"
        parts.append(f'<text x="{x:.1f}" y="{top + tall + 14}" text-anchor="{at}">{_power(k)}</text>')
    for k in range(y0, y1 + 1):
        _, y = place(10.0**x0, 10.0**k)
        parts.append(f'<path d="M{left} {y:.1f}h{wide}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{_power(k)}</text>')
    for name, line in lines.items():
        shown = [place(x, y) for x, y in line if y > 0]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)
        colour = COLOURS[names.index(name)]
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return "\n".join(parts)


LARGE = 6
"""From this power on its zeros take too much room."""


def _power(k: int) -> str:
    """A power of ten as people write it."""
    if k >= LARGE:
        return "10" + str(k).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{10**k:,}" if k >= 0 else f"{10.0**k:.{-k}f}"
