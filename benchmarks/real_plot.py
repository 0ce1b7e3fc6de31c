"""Bars of two lengths each, as SVG."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

COLOURS = ("#0072b2", "#56b4e9")
NAMES = ("measured", "a third of the bytes, times three")
LEFT, WIDTH, TOP, HIGH = 230, 460, 56, 30


class Bar(NamedTuple):
    """A name, the length of its bar, and that of the one it is compared with."""

    name: str
    length: float
    beside: float


def draw(title: str, bars: Sequence[Bar]) -> str:
    """An SVG document with a row for each bar, in their order."""
    longest = max((max(bar.length, bar.beside) for bar in bars), default=1.0)
    width, height = LEFT + WIDTH + 60, TOP + HIGH * len(bars) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="20" font-size="16">{escape(title)}</text>',
    ]
    for place, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True)):
        x = LEFT + place * 110
        parts.append(f'<rect x="{x}" y="32" width="12" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="41">{escape(name)}</text>')
    for number, bar in enumerate(bars):
        top = TOP + number * HIGH
        parts.append(f'<text x="{LEFT - 8}" y="{top + 16}" text-anchor="end">{escape(bar.name)}</text>')
        for row, (length, colour) in enumerate(zip(bar[1:], COLOURS, strict=True)):
            shown = round(WIDTH * length / longest, 1)
            parts.append(f'<rect x="{LEFT}" y="{top + 3 + row * 11}" width="{shown}" height="10" fill="{colour}"/>')
        end = LEFT + round(WIDTH * bar.length / longest, 1) + 5
        parts.append(f'<text x="{end}" y="{top + 12}">{bar.length:,.0f}</text>')
    return "\n".join([*parts, "</svg>", ""])
