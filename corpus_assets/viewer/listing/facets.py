"""Facets: how many documents there are of each source, fate, licence and language, and by a number of theirs."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.viewer.listing.form import MOST_RANGES, Form
from corpus_assets.viewer.listing.looking import Looking
from corpus_assets.viewer.listing.values import CHARACTERS, FATE, WORDS
from corpus_assets.viewer.site import Asked, page, short

BINS = 24
MOST_WORDS = 30
_LARGEST = 500
"""Words of a kind that are counted; what comes after so many others is counted together."""


def facets(asked: Asked) -> str:
    """Shows the documents that a form asks for in numbers: a count per word, and histograms of their numbers."""
    form = Form.of(asked)
    cursor = asked.query.text("cursor", 2000)
    looking = Looking(asked.view, form.wanted, cursor)
    counts: dict[str, Counter[str]] = {name: Counter() for name in WORDS}
    names = list(dict.fromkeys([*(one.name for one in form.wanted.ranges), CHARACTERS]))[:MOST_RANGES]
    numbers: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    found = 0
    for _, block, rows, _ in looking:
        found += len(rows)
        for name in WORDS if len(rows) else ():
            words = block.words(name)
            _add(counts[name], [words[row] for row in rows.tolist()])
        for name in names if len(rows) else ():
            numbers[name].append(block.numbers(name)[rows])
    return page(
        asked,
        "facets.html",
        "Documents in numbers",
        form=form,
        looked=looking,
        found=found,
        words=[(name, _words(form, name, counts[name])) for name in WORDS],
        histograms=[_histogram(form, name, np.concatenate([np.empty(0), *numbers[name]])) for name in names],
        listing=form.address("documents", cursor=cursor),
        more=form.address("facets", cursor=looking.cursor) if looking.cursor else "",
        clear=any(form.given.values()) or bool(cursor),
    )


def _add(counts: Counter[str], words: Sequence[str]) -> None:
    for word, number in Counter(words).items():
        counts[word if word in counts or len(counts) < _LARGEST else "others"] += number


def _words(form: Form, name: str, counts: Counter[str]) -> list[dict[str, Any]]:
    most = max(counts.values(), default=1)
    return [
        {
            "word": plain(word) if name == FATE else short(word, 80),
            "count": count,
            "width": _width(count, most),
            "href": form.address("documents", **{name: word}),
        }
        for word, count in counts.most_common(MOST_WORDS)
    ]


def _histogram(form: Form, name: str, values: NDArray[np.float64]) -> dict[str, Any]:
    """Returns bins of equal width at round edges; lengths, whose tail is long, by powers of two."""
    known = values[np.isfinite(values)]
    edges = bins_of(known, doubling=name == form.numbers[0] or name == form.numbers[1])
    counts = [int(np.count_nonzero((known >= low) & (known < high))) for low, high in pairwise(edges)]
    most = max(counts, default=1)
    return {
        "name": name,
        "none": len(values) - len(known),
        "least": float(known.min()) if len(known) else None,
        "median": float(np.median(known)) if len(known) else None,
        "most": float(known.max()) if len(known) else None,
        "bins": [
            {
                "low": f"{low:,.6g}",
                "high": f"{high:,.6g}",
                "count": count,
                "width": _width(count, most),
                "href": form.narrowed("documents", name, low, float(np.nextafter(high, low))),
            }
            for (low, high), count in zip(pairwise(edges), counts, strict=True)
        ],
    }


def bins_of(values: NDArray[np.float64], *, doubling: bool) -> list[float]:
    """Returns the edges of bins, at most `BINS` of them, that hold all values; none without a value.

    doubling: powers of two, instead of equal widths of 1, 2 or 5 times a power of ten.
    """
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    if doubling:
        top = int(max(high, 1)).bit_length()
        first = min(int(max(low, 0)).bit_length(), top)
        return [0.0 if power == 0 else 2.0 ** (power - 1) for power in range(first, top + 2)]
    step = _step((high - low) / (BINS - 2)) if high > low else _step(abs(high) / 10 or 1.0)
    first = floor(low / step)
    return [number * step for number in range(first, max(ceil(high / step), floor(high / step) + 1) + 1)]


def _step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))


def _width(count: int, most: int) -> int:
    """Returns the width of a bar, of 160; one that counts anything can be seen."""
    return max(1, round(160 * count / max(most, 1))) if count else 0
