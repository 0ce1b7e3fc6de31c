"""Charts say their numbers in words, hold no script and no colour, and are the same for the same numbers."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.html import charts
from corpus_assets.html.charts import _fewer, _position, _ticks

HOSTILE = "<b>&\"'</b>"
DRAWN = {
    "bars": lambda: charts.bars("Title", {"one": 1200, HOSTILE: 300}),
    "stacked": lambda: charts.stacked_bars("Title", ["a", HOSTILE], {"kept": [1, 2], HOSTILE: [3, 0]}),
    "columns": lambda: charts.columns("Title", {"1": 3, HOSTILE: 0}),
    "histogram": lambda: charts.histogram("Title", [0, 1, 2, 4], [3, 0, 2], {HOSTILE: 1.5, "beyond": 9}),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_a_chart_is_a_bare_picture_with_its_numbers_in_words(kind: str) -> None:
    drawn = str(DRAWN[kind]())
    assert drawn == str(DRAWN[kind]())
    figure = ElementTree.fromstring(drawn)
    assert not re.search(r"<(script|style|defs)|on\w+=|http(?!://www.w3.org/2000/svg)|#[0-9a-f]{6}\b", drawn)
    (svg,) = [child for child in figure if child.tag.endswith("svg")]
    assert (svg.get("role"), svg.get("aria-label")) == ("img", "Title")
    (said,) = svg.findall("{http://www.w3.org/2000/svg}desc")
    assert said.text
    assert "3" in said.text
    assert "<b>" not in drawn


def test_a_matrix_is_a_table_whose_cells_are_shaded_by_value() -> None:
    drawn = str(charts.heat_map("Title", ["a", HOSTILE], ["a", "b"], [[1, 20], [None, 0]]))
    assert [int(heat) for heat in re.findall(r"--heat:(\d+)%", drawn)] == [11, 60]
    assert drawn.count('scope="row"') == drawn.count('scope="col"') == 2
    assert "<b>" not in drawn


@given(st.floats(0, 1e12))
def test_a_scale_ends_at_a_round_number_not_below_the_largest_value(top: float) -> None:
    ticks = _ticks(top)
    assert ticks[0] == 0
    assert ticks[-1] >= float(f"{top:.9g}")
    assert 2 <= len(ticks) <= 6


def test_shares_that_add_up_to_one_but_for_rounding_end_at_one() -> None:
    assert _ticks(1.0000000000000002) == _ticks(1) == [0, 0.5, 1]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=300))
def test_fewer_bars_hold_as_many_documents(counts: list[int]) -> None:
    edges, fewer = _fewer(list(range(len(counts) + 1)), counts)
    assert sum(fewer) == sum(counts)
    assert len(edges) == len(fewer) + 1 <= 65
    assert (edges[0], edges[-1]) == (0, len(counts))


@pytest.mark.parametrize(("value", "place"), [(-5, 0), (0, 0), (0.5, 0.5), (3, 2.5), (99, 3)])
def test_a_cut_lies_between_the_edges_around_it(value: float, place: float) -> None:
    assert _position([0, 1, 2, 4], value) == place


@pytest.mark.parametrize("series", range(2, 11))
def test_a_legend_ends_inside_its_picture(series: int) -> None:
    stacked = charts.stacked_bars("Title", ["a", "b"], {f"series {number}": [1, 2] for number in range(series)})
    cut = charts.histogram("Title", [0, 1, 2], [3, 2], {f"cut {number}": 1.5 for number in range(1, series)})
    for drawn in (stacked, cut):
        figure = ElementTree.fromstring(str(drawn))
        (svg,) = [child for child in figure if child.tag.endswith("svg")]
        (legends,) = [node for node in svg.iter() if node.get("class") == "legends"]
        (below,) = re.findall(r"translate\(\S+ (\S+)\)", legends.get("transform", ""))
        boxes = [node for node in legends.iter() if node.tag.endswith("rect")]
        assert len(boxes) == series
        height = float(svg.get("viewBox", "").split()[3])
        assert max(float(below) + float(box.get("y", 0)) + float(box.get("height", 0)) for box in boxes) <= height
