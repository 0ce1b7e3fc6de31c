"""Histograms of scores: every document is in one bin that holds its score, and shards add up to the whole."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.documents import score_histograms
from resources.documents.score_histograms import ScoreHistograms, added, edges
from resources.formats.attributes import Span

SCORES = st.one_of(
    st.integers(-20, 20).map(float),
    st.floats(0, 1),
    st.floats(-1e15, 1e15),
    st.sampled_from([0.0, 1.0, -1.0, 0.02, 2.0**40, 2.0**41, -(2.0**41)]),
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.lists(SCORES, min_size=1, max_size=3)), max_size=12)
Rows = list[dict[str, list[float]]]


def counted(rows: Rows) -> ScoreHistograms:
    found = ScoreHistograms()
    for row in rows:
        found.add({key: spans(scores) for key, scores in row.items()})
    return found


def spans(scores: list[float]) -> list[Span]:
    return [(place, place + 1, score) for place, score in enumerate(scores)]


@given(ROWS)
def test_every_document_is_in_the_bin_of_its_score(rows: Rows) -> None:
    found = counted(rows)
    histograms = json.loads(json.dumps(found.histograms()))
    assert found.spans == sum(len(scores) for row in rows for scores in row.values())
    assert set(histograms) == {key for row in rows for key in row}
    for key, one in histograms.items():
        scores = [sum(row[key]) for row in rows if key in row]
        assert one["none"] == len(rows) - len(scores)
        bins = list(pairwise(edges(one)))
        assert (bins[0][0], bins[-1][1]) == (one["low"], one["high"])
        assert one["counts"][0]
        assert one["counts"][-1]
        inside = [min(max(score, -(2.0**40)), 2.0**40 - 1) for score in scores]
        assert one["counts"] == [sum(low <= score < high for score in inside) for low, high in bins]


@given(st.lists(ROWS, max_size=4))
def test_shards_add_up(shards: list[Rows]) -> None:
    parts = [(len(rows), counted(rows).histograms()) for rows in shards]
    assert added(parts) == counted([row for rows in shards for row in rows]).histograms()


def test_whole_numbers_below_sixteen_and_shares_are_told_apart() -> None:
    one = counted([{"a": [float(score)]} for score in range(16)]).histograms()["a"]
    assert [count for count in one["counts"] if count] == [1] * 16
    shares = counted([{"a": [place / 50]} for place in range(50)]).histograms()["a"]
    assert shares == {"low": 0.0, "high": 1.0, "counts": [1] * 50, "none": 0}


def test_keys_past_a_limit_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_histograms, "MOST_KEYS", 2)
    found = counted([{"a": [1.0], "b": [1.0], "c": [1.0]}, {"c": [1.0], "d": [1.0, 1.0]}])
    assert set(found.histograms()) == {"a", "b"}
    assert found.uncounted == 3
