import tracemalloc
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.pairs.unique import unique_pairs
from tests.resources.test_spill import Files

MUCH = 1 << 28
TOTAL = 50
PAIRS = st.lists(st.tuples(st.integers(0, TOTAL - 2), st.integers(1, TOTAL - 1)).filter(lambda p: p[0] < p[1]))


def found(
    blocks: list[NDArray[np.uint32]], range_rows: int, memory: int = MUCH, total: int = TOTAL
) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    last = 0
    files = Files()
    for number, block in unique_pairs(blocks, total, range_rows, memory=memory, spill=files):
        assert number >= last
        last = number
        assert len(block)
        assert (block[:, 1] // range_rows == number).all()
        assert block.dtype == np.uint32
        pairs += map(tuple, block.tolist())
    assert all(file.closed for file in files.files)
    return pairs


@given(PAIRS, st.integers(1, 70), st.integers(0, 2000), st.integers(1, 20))
def test_each_pair_once_by_later_then_first(
    pairs: list[tuple[int, int]], range_rows: int, memory: int, size: int
) -> None:
    rows = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    expected = sorted(set(pairs), key=lambda pair: (pair[1], pair[0]))
    assert found(blocks, range_rows) == expected
    assert found(blocks, range_rows, memory) == expected
    assert found(blocks[::-1], range_rows, memory) == expected


def test_document_numbers_beyond_32_bits() -> None:
    total = 10_000_000_000
    rng = np.random.default_rng(8)
    first = rng.integers(0, total - 1, 20_000, dtype=np.uint64)
    later = first + rng.integers(1, 1000, len(first), dtype=np.uint64)
    pairs = np.stack([first, np.minimum(later, np.uint64(total - 1))], axis=1)
    given_twice = [pairs, pairs[::-1]]
    blocks = [block for _, block in unique_pairs(given_twice, total, 1 << 20, memory=MUCH, spill=TemporaryFile)]
    whole = np.concatenate(blocks)
    assert whole.dtype == np.uint64
    unique = np.unique(pairs, axis=0)
    assert np.array_equal(whole, unique[np.lexsort((unique[:, 0], unique[:, 1]))])


def test_a_range_beyond_memory_is_sorted_in_parts() -> None:
    rng = np.random.default_rng(5)
    total = 1 << 16
    later = rng.integers(1, total, 400_000, dtype=np.uint32)
    first = (later * rng.random(len(later))).astype(np.uint32)
    pairs = np.stack([first, later], axis=1)
    whole = np.concatenate([block for _, block in unique_pairs([pairs], total, total, memory=MUCH, spill=Files())])
    memory = 2 << 20
    tracemalloc.start()
    try:
        blocks = unique_pairs([pairs[:200_000], pairs[200_000:]], total, total, memory=memory, spill=TemporaryFile)
        start = 0
        for _, block in blocks:
            assert np.array_equal(block, whole[start : start + len(block)])
            start += len(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert start == len(whole)
    # A block that is handed in is worked on as a whole: some 40 bytes per pair.
    assert peak < memory + 200_000 * 40


@given(PAIRS, st.integers(1, 20), st.integers(0, 2000), st.integers(0, TOTAL), st.integers(0, TOTAL))
def test_a_span_of_later_documents_alone(
    pairs: list[tuple[int, int]], range_rows: int, memory: int, one: int, other: int
) -> None:
    start, stop = sorted((one, other))
    inside = [pair for pair in pairs if start <= pair[1] < stop]
    rows = np.array(inside, dtype=np.uint32).reshape(-1, 2)
    blocks = unique_pairs([rows], TOTAL, range_rows, memory=memory, spill=Files(), span=(start, stop))
    found = [(number, *pair) for number, block in blocks for pair in block.tolist()]
    expected = sorted(set(inside), key=lambda pair: (pair[1], pair[0]))
    assert found == [((later - start) // range_rows, first, later) for first, later in expected]


def test_a_pair_before_its_span() -> None:
    pairs = np.array([[1, 20], [3, 9]], dtype=np.uint32)
    with pytest.raises(ValueError, match=r"pair \[3, 9\]: valid is .* of documents 10 to 50"):
        list(unique_pairs([pairs], TOTAL, 7, memory=MUCH, spill=Files(), span=(10, 30)))


def test_nothing_and_no_documents() -> None:
    none = np.empty((0, 2), dtype=np.uint32)
    assert found([], 5) == found([none], 5) == found([none], 5, total=0) == []


@pytest.mark.parametrize("pair", [[3, 3], [4, 3], [3, TOTAL]])
def test_a_pair_that_is_none(pair: list[int]) -> None:
    with pytest.raises(ValueError, match=rf"pair \[{pair[0]}, {pair[1]}\]: valid is"):
        found([np.array([[0, 1], pair], dtype=np.uint32)], 7)


def test_ranges_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="ranges of 0 documents"):
        found([], 0)
    with pytest.raises(ValueError, match="do not fit 64 bits"):
        list(unique_pairs([], 1 << 40, 1 << 27, memory=MUCH, spill=Files()))
