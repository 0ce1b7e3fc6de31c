"""Charts as inline SVG, drawn by pygal: no script, no style of their own; `corpus.css` gives colours and sizes.

Each is a `<figure>` with its title, and has its numbers in words for readers who cannot see it. The same numbers give
the same bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from corpus_assets import numbers

COLOURS = 8
"""Colours of series, `--c1` to `--c8` of the style; further series begin with the first again."""

_WIDTH, _ROW, _FONT, _MARGIN = 520, 24, 12, 8
_BINS = 64
_SPOKEN = 12
_DROPPED = ("x centered", "y centered", "x", "y", "x_label", "label")
Words = Callable[[float | None], str]


def bars(title: str, values: Mapping[str, float], words: Words = numbers.count) -> Markup:
    """Returns horizontal bars, the first on top. words: of a value, such as `numbers.size`."""
    return stacked_bars(title, list(values), {"": list(values.values())}, words)


def stacked_bars(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], words: Words = numbers.count
) -> Markup:
    """Returns a horizontal bar per label, made of a piece for each series; series have a value for every label."""
    import pygal

    rows = -(-len(series) // 2) if len(series) > 1 else 0
    height = 56 + _ROW * max(len(labels), 1) + 26 * rows
    chart = pygal.HorizontalStackedBar(
        **_options(words, height, max((sum(row) for row in zip(*series.values(), strict=True)), default=0)),
        **_legend(len(series)),
    )
    chart.x_labels = [_short(label) for label in reversed(labels)]
    for name, values in series.items():
        chart.add(_short(name, 32), list(reversed(values)))
    spoken = [
        f"{label}: " + ", ".join(f"{name} {words(values[row])}".strip() for name, values in series.items())
        for row, label in enumerate(labels[:_SPOKEN])
    ]
    return _figure(chart, title, spoken, len(labels))


def columns(title: str, values: Mapping[str, float], words: Words = numbers.count) -> Markup:
    """Returns vertical bars side by side, for counts by size classes; a label in so many is written that fit."""
    import pygal

    chart = pygal.Bar(**_options(words, 250, max(values.values(), default=0)), show_legend=False, spacing=4)
    labels = list(values)
    chart.x_labels = labels
    chart.x_labels_major_every = max(1, -(-len(labels) // 8))
    chart.show_minor_x_labels = False
    chart.add("", list(values.values()))
    spoken = [f"{label}: {words(value)}" for label, value in list(values.items())[:_SPOKEN]]
    return _figure(chart, title, spoken, len(labels))


def histogram(
    title: str, edges: Sequence[float], counts: Sequence[float], cuts: Mapping[str, float] | None = None
) -> Markup:
    """Returns bars over a scale: `counts[k]` lie between `edges[k]` and `edges[k + 1]`.

    All bars are equally wide, whatever the distance of their edges, so that a long tail leaves room for the rest.
    cuts: lines across it, by their words, at values of the scale; one beyond it is at its end.
    """
    import pygal

    edges, counts = _fewer(edges, counts)
    bins = list(pairwise(edges))
    chart = pygal.Histogram(
        **_options(_of_bin, 250, max(counts, default=0)),
        **_legend(1 + len(cuts or {})),
        xrange=(0, len(counts)),
    )
    every = max(1, -(-len(edges) // 7))
    chart.x_labels = [{"value": place, "label": _plain(edges[place])} for place in range(0, len(edges), every)]
    bars = [
        {"value": (count, place, place + 1), "formatter": partial(_of_bin, between=between)}
        for place, (count, between) in enumerate(zip(counts, bins, strict=True))
    ]
    chart.add("documents", bars)
    width, top = len(counts) / 250, max([*counts, 1])
    for name, value in (cuts or {}).items():
        at = _position(edges, value)
        line = {"value": (top, at - width / 2, at + width / 2), "formatter": partial(_of_cut, name=name)}
        chart.add(_short(name, 32), [line])
    spoken = [
        f"{_plain(low)} to {_plain(high)}: {numbers.count(count)}"
        for count, (low, high) in zip(counts, bins, strict=True)
        if count
    ][:_SPOKEN]
    return _figure(chart, title, [*(f"line: {name}" for name in cuts or {}), *spoken], 0)


def _fewer(edges: Sequence[float], counts: Sequence[float]) -> tuple[list[float], list[float]]:
    """Returns a histogram with neighbours added up until there are few enough bars."""
    step = -(-len(counts) // _BINS)
    summed = [sum(counts[place : place + step]) for place in range(0, len(counts), step)]
    return [*edges[: len(counts) : step], edges[len(counts)]], summed


def _position(edges: Sequence[float], value: float) -> float:
    """Returns where a value lies on a scale on which the edges have the positions 0, 1, 2 and so on."""
    for place, (low, high) in enumerate(pairwise(edges)):
        if value < high:
            return place + max(0.0, (value - low) / (high - low))
    return len(edges) - 1


def heat_map(
    title: str,
    rows: Sequence[str],
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    words: Words = numbers.count,
) -> Markup:
    """Returns a matrix as a table whose cells are the darker the larger their value: its numbers are to be read."""
    top = max((value for row in values for value in row if value), default=1)
    head = Markup("").join(Markup('<th scope="col" class="n">{}</th>').format(name) for name in names)
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            row, Markup("").join(_heat(value, top, words) for value in of_row)
        )
        for row, of_row in zip(rows, values, strict=True)
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="heat"><caption>{}</caption>'
        "<thead><tr><td></td>{}</tr></thead><tbody>\n{}</tbody></table></div>"
    ).format(title, title, head, body)


def _heat(value: float | None, top: float, words: Words) -> Markup:
    if not value:
        return Markup('<td class="n soft">{}</td>').format("–" if value is None else "0")
    return Markup('<td class="n" style="--heat:{}%">{}</td>').format(round(8 + 52 * value / top), words(value))


def _options(words: Words, height: int, top: float) -> dict[str, Any]:
    """Returns what all charts have in common. top: the largest value, at which the scale of values ends."""
    from pygal.style import Style

    ticks = _ticks(top)
    size = {f"{what}_font_size": _FONT for what in ("label", "major_label", "legend", "value")}
    return {
        "width": _WIDTH,
        "height": height,
        "margin": _MARGIN,
        "margin_right": 24,
        "css": (),
        "js": (),
        "no_prefix": True,
        "disable_xml_declaration": True,
        "style": Style(font_family="system-ui", **size),
        "truncate_legend": -1,
        "truncate_label": -1,
        "no_data_text": "nothing to show",
        "y_labels": [{"value": tick, "label": words(tick)} for tick in ticks],
        "range": (0, ticks[-1]),
        "formatter": words,
    }


def _legend(series: int) -> dict[str, Any]:
    """Returns where the names of series stand: in two columns below the bars."""
    more = series > 1
    half = round(1.5 * _FONT) if more and series % 2 else 0  # a last row of one name, which pygal leaves no room for
    return {
        "show_legend": more,
        "legend_at_bottom": more,
        "legend_at_bottom_columns": 2,
        "margin_bottom": _MARGIN + half,
    }


def _ticks(top: float) -> list[float]:
    """Returns three to six round values from 0 on, the last of which is not below `top`, rounded to nine digits."""
    if top < 1e-6:
        return [0, 1]
    top = float(f"{top:.9g}")  # Shares that add up to one do so but for their last digit.
    power = 10.0 ** floor(log10(top / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= top / 4)
    return [step * number for number in range(ceil(top / step) + 1)]


def _figure(chart: Any, title: str, spoken: Sequence[str], rows: int) -> Markup:
    """Returns a figure with a chart; its numbers are said in the description of the picture."""
    from pygal.etree import etree

    etree.to_etree()  # pygal draws with lxml where it is installed, whose elements are not Python's.
    more = [f"and {rows - _SPOKEN} more"] if rows > _SPOKEN else []
    chart.add_xml_filter(lambda root: _bare(root, title, "; ".join([*spoken, *more])))
    drawn = Markup(chart.render(is_unicode=True))
    return Markup('<figure class="chart"><figcaption>{}</figcaption>{}</figure>').format(title, drawn)


def _bare(root: Any, title: str, description: str) -> Any:
    """Returns a drawing without script, style, hidden parts and comments; names become tooltips of the browser."""
    from xml.etree import ElementTree

    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or _is_hidden(child):
                parent.remove(child)
            elif child.tag == "desc":
                child.tag = "title"
                child.attrib.clear()
    for found in root.iter():
        if found.get("id") is not None:
            del found.attrib["id"]
    for child in root.findall("title"):
        root.remove(child)
    root.set("role", "img")
    root.set("aria-label", title)
    said = ElementTree.Element("desc")
    said.text = description
    root.insert(0, said)
    return root


def _is_hidden(element: Any) -> bool:
    classes = element.get("class", "")
    if element.tag == "desc":
        return classes in _DROPPED
    if element.tag == "g":
        return classes == "titles" or "overlay" in classes
    return element.tag == "defs" or (element.tag == "title" and element.get("class") is None)


def _of_bin(value: Any, between: tuple[float, float] = (0, 0), **_: Any) -> str:
    """Returns the words of a value of the scale, or of a bar, whose value begins with its count."""
    if isinstance(value, int | float) or value is None:
        return numbers.count(value)
    return f"{_plain(between[0])} to {_plain(between[1])}: {numbers.count(value[0])}"


def _of_cut(_: Any, name: str, **__: Any) -> str:
    return name


def _short(label: str, most: int = 24) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
