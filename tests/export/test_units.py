"""Windows and documents as the rows of files: nothing is lost without being counted, nothing comes twice."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.window_exports import ParquetExport
from corpus_assets.export import units as units_module
from corpus_assets.export.documents import IdReader, runs
from corpus_assets.export.format import Files
from corpus_assets.export.units import Units
from resources.errors import CorpusError
from tests.export.streams import documents_of, ids_of

LENGTHS = st.lists(st.integers(0, 9), max_size=20)


def section(**options: Any) -> ParquetExport:
    return ParquetExport.model_validate({"name": "x", "format": "parquet", "input": "train", **options})


@given(sizes=st.lists(st.integers(1, 9), max_size=20), most=st.integers(-3, 30))
def test_runs_hold_as_many_as_fit_or_one(sizes: list[int], most: int) -> None:
    found = list(runs(np.array(sizes, np.int64), most))
    assert [n for first, end in found for n in range(first, end)] == list(range(len(sizes)))
    for first, end in found:
        assert sum(sizes[first:end]) <= most or end - first == 1
        assert end == len(sizes) or sum(sizes[first : end + 1]) > most


@given(
    lengths=LENGTHS,
    length=st.integers(2, 12),
    keep_tail=st.booleans(),
    before=st.booleans(),
    after=st.booleans(),
    empty=st.booleans(),
)
def test_windows_and_the_dropped_tail_are_all_ids(
    lengths: list[int], length: int, keep_tail: bool, before: bool, after: bool, empty: bool
) -> None:
    documents = documents_of(lengths, 7 if before else None, 9 if after else None, empty=empty)
    files = Files()
    units = Units.of(section(sequence_length=length, keep_tail=keep_tail), documents, files)
    every, reader = ids_of(documents), IdReader(documents, np.int32)
    found = [reader.read(size).tolist() for size in units.sizes.tolist()]
    assert all(len(window) == length for window in (found[:-1] if keep_tail else found))
    assert [id_ for window in found for id_ in window] == every[: sum(map(len, found))]
    lost = files.dropped.get("tail", {"ids": 0})["ids"]
    assert sum(map(len, found)) + lost == len(every)
    assert lost == (0 if keep_tail else len(every) % length)
    holder = np.repeat(documents.numbers, documents.sizes).tolist()
    for number in range(len(found)):
        place = units.place("x", number, len(found))
        start = number * length
        assert (place.id, place.document, place.units) == (start, holder[start], len(found) - number)
        assert (place.step, place.ids) == (length, len(every) - lost - start)


@given(lengths=LENGTHS, after=st.booleans(), empty=st.booleans())
def test_units_may_be_documents(lengths: list[int], after: bool, empty: bool) -> None:
    documents = documents_of(lengths, None, 9 if after else None, empty=empty)
    files = Files()
    units = Units.of(section(unit="document"), documents, files)
    assert units.sizes.tolist() == [n + after for n in lengths if n or empty]
    assert files.dropped == {}


@given(lengths=LENGTHS, length=st.integers(2, 12), first=st.integers(0, 9), after=st.booleans())
def test_positions_begin_at_every_document_and_every_window(
    lengths: list[int], length: int, first: int, after: bool
) -> None:
    documents = documents_of(lengths, None, 9 if after else None)
    units = Units.windows(documents, length, Files(), keep_tail=True)
    starts = {*units.starts.tolist(), *(np.cumsum(documents.sizes) - documents.sizes).tolist()}
    expected: list[int] = []
    for place in range(documents.ids):
        expected.append(0 if place in starts else expected[-1] + 1)
    first = min(first, len(units.sizes))
    assert units.positions(first, len(units.sizes)).tolist() == expected[int(units.starts[first]) :]


def test_a_document_that_32_bits_cannot_count_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_module, "MOST_IDS", 8)
    with pytest.raises(CorpusError, match="part: document 2 has 9 ids; valid with `unit: document`: at most 8"):
        Units.of(section(unit="document"), documents_of([3, 0, 9]), Files())
    assert Units.of(section(sequence_length=4), documents_of([3, 0, 9]), Files()).sizes.tolist() == [4, 4, 4]
