"""Curves in a grid of panels, as SVG."""

from dataclasses import dataclass
from html import escape

PANEL, GAP, LEFT, TOP = (300, 220), 34, 64, 78
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
TICKS = 5
_KEYS = ("row", "column", "name")


@dataclass(frozen=True)
class Curve:
    """Points (similarity 0.5 to 1, share 0 to 1) of one line in the panel of a row and a column."""

    row: str
    column: str
    name: str
    points: list[tuple[float, float]]


def draw(title: str, curves: list[Curve], threshold: float) -> str:
    """An SVG document; the threshold is a dashed line in every panel."""
    rows, columns, names = (list(dict.fromkeys(getattr(curve, key) for curve in curves)) for key in _KEYS)
    width = LEFT + len(columns) * (PANEL[0] + GAP)
    height = TOP + len(rows) * (PANEL[1] + GAP) + 12
    colours = dict(zip(names, COLOURS, strict=False))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(title)}</text>',
    ]
    for number, name in enumerate(names):
        x = LEFT + number * 110
        parts.append(f'<path d="M{x} 42h24" stroke="{colours[name]}" stroke-width="3"/>')
        parts.append(f'<text x="{x + 30}" y="46">{escape(name)}</text>')
    for number, column in enumerate(columns):
        middle = LEFT + number * (PANEL[0] + GAP) + PANEL[0] // 2
        parts.append(f'<text x="{middle}" y="{TOP - 8}" text-anchor="middle">{escape(column)}</text>')
    for number, row in enumerate(rows):
        y = TOP + number * (PANEL[1] + GAP) + PANEL[1] // 2
        parts.append(f'<text transform="translate(16 {y}) rotate(-90)" text-anchor="middle">{escape(row)}</text>')
        for place, column in enumerate(columns):
            x, top = LEFT + place * (PANEL[0] + GAP), TOP + number * (PANEL[1] + GAP)
            lines = [(colours[c.name], c.points) for c in curves if (c.row, c.column) == (row, column)]
            parts += [f'<g transform="translate({x} {top})">', *_panel(lines, threshold), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _panel(lines: list[tuple[str, list[tuple[float, float]]]], threshold: float) -> list[str]:
    parts = [f'<rect width="{PANEL[0]}" height="{PANEL[1]}" fill="none" stroke="#999"/>']
    for tick in range(TICKS + 1):
        share, similarity = tick / TICKS, 0.5 + tick / TICKS / 2
        x, y = _place(similarity, share)
        parts.append(f'<path d="M0 {y}H{PANEL[0]}" stroke="#eee"/>')
        parts.append(f'<text x="-6" y="{y + 4}" text-anchor="end">{share:.1f}</text>')
        parts.append(f'<text x="{x}" y="{PANEL[1] + 16}" text-anchor="middle">{similarity:.1f}</text>')
    edge, _ = _place(threshold, 0)
    parts.append(f'<path d="M{edge} 0V{PANEL[1]}" stroke="#999" stroke-dasharray="4 3"/>')
    for colour, points in lines:
        places = " ".join("{},{}".format(*_place(*point)) for point in points)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts


def _place(similarity: float, share: float) -> tuple[float, float]:
    return round((similarity - 0.5) * 2 * PANEL[0], 1), round((1 - share) * PANEL[1], 1)
