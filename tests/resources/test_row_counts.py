"""Numbers of rows by source and by size: sums are exact, and those of parts add up to those of the whole."""

import string
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from resources.documents.row_counts import SourcesOfRows, added, by_power, counted_by_power
from resources.formats.row_tables import ROW, RowTable

NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=48)
ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from(["books", "web"]), NAMES), st.integers(0, 2**32 - 1), st.booleans())
)
SIZES = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**40)))


def table(rows: list[tuple[str, int, bool]]) -> RowTable:
    found = np.zeros(len(rows), ROW)
    found["source"] = [source.encode() for source, _, _ in rows]
    found["bytes"] = [size for _, size, _ in rows]
    return found


@given(ROWS)
def test_rows_are_counted_by_source(rows: list[tuple[str, int, bool]]) -> None:
    chosen = np.array([flag for _, _, flag in rows], np.bool_)
    sources = SourcesOfRows(table(rows))
    for flags in (None, chosen, ~chosen):
        taken = [
            row for row, flag in zip(rows, flags if flags is not None else [True] * len(rows), strict=True) if flag
        ]
        sizes = Counter[str]()
        for source, size, _ in taken:
            sizes[source] += size
        assert sources.counts(flags) == Counter(source for source, _, _ in taken)
        found = sources.documents(flags)
        assert {source: numbers["text_bytes"] for source, numbers in found.items()} == dict(sizes)
        assert list(found) == sorted(found)


def test_many_sources_are_told_apart() -> None:
    rows = [(f"source-{number % 300}", number, True) for number in range(1000)]
    assert SourcesOfRows(table(rows)).counts() == Counter(source for source, _, _ in rows)


@given(SIZES)
def test_entry_k_counts_sizes_of_k_bits(sizes: list[int]) -> None:
    found = by_power(sizes)
    assert {power: count for power, count in enumerate(found) if count} == Counter(map(int.bit_length, sizes))
    assert not found or found[-1]
    assert counted_by_power(Counter(sizes)) == found


@given(st.lists(SIZES))
def test_parts_add_up(parts: list[list[int]]) -> None:
    assert added(map(by_power, parts)) == by_power([size for part in parts for size in part])
