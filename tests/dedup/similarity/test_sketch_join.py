import tracemalloc
from collections.abc import Callable
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.documents.ranges import DocumentRanges
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.similarity.sketch_join import agreements, compared, range_rows, row_type, with_sketches
from tests.resources.test_spill import Files

MUCH = 1 << 28


def made(total: int, bits: int, seed: int = 0) -> NDArray[np.uint8]:
    """Random sketches."""
    return np.random.default_rng(seed).integers(0, 256, (total, bits // 8), dtype=np.uint8)


def agreement(sketches: NDArray[np.uint8], one: int, other: int) -> int:
    return int((np.unpackbits(sketches[one]) == np.unpackbits(sketches[other])).sum())


def every_pair(total: int) -> NDArray[np.uint32]:
    return np.array([(a, b) for b in range(total) for a in range(b)], dtype=np.uint32).reshape(-1, 2)


def loader(sketches: NDArray[np.uint8], calls: list[tuple[int, int]] | None = None) -> Callable[..., NDArray[np.uint8]]:
    def load(start: int, stop: int) -> NDArray[np.uint8]:
        if calls is not None:
            calls.append((start, stop))
        return sketches[start:stop]

    return load


def checked(
    pairs: NDArray[np.uint32], sketches: NDArray[np.uint8], rows: int, memory: int = MUCH
) -> tuple[list[list[int]], list[int]]:
    files, total = Files(), len(sketches)
    unique = unique_pairs([pairs], total, rows, memory=memory, spill=files)
    found, agree = [], []
    for block, counts in agreements(unique, loader(sketches), total, rows, memory=memory, spill=files):
        assert counts.dtype == np.uint16
        found += block.tolist()
        agree += counts.tolist()
    assert all(file.closed for file in files.files)
    return found, agree


def test_as_counted_one_by_one() -> None:
    sketches = made(40, 192)
    found, agree = checked(every_pair(40), sketches, 7)
    expected = sorted(every_pair(40).tolist(), key=lambda pair: (pair[0] // 7, pair[1], pair[0]))
    assert found == expected
    assert agree == [agreement(sketches, a, b) for a, b in expected]


@given(st.integers(2, 30), st.sampled_from([64, 128, 320]), st.integers(1, 9), st.integers(0, 5000), st.randoms())
def test_depends_neither_on_memory_nor_on_order(
    total: int, bits: int, rows: int, memory: int, random: np.random.Generator
) -> None:
    pairs = every_pair(total).tolist()
    random.shuffle(pairs)
    some = np.array(pairs[: 1 + len(pairs) // 2], dtype=np.uint32)
    sketches = made(total, bits)
    expected = sorted(some.tolist(), key=lambda pair: (pair[0] // rows, pair[1], pair[0]))
    found, agree = checked(some, sketches, rows, memory)
    assert found == expected
    assert agree == [agreement(sketches, a, b) for a, b in expected]


@given(st.integers(2, 30), st.integers(1, 40), st.integers(1, 9), st.integers(0, 5000))
def test_range_by_range_as_all_at_once_and_no_sketch_is_read_outside_of_its_range(
    total: int, count: int, rows: int, memory: int
) -> None:
    sketches, pairs, ranges = made(total, 128), every_pair(total), DocumentRanges(total, count)
    row, by_first = row_type(total, 2), dict[int, list[NDArray[np.void]]]()
    for number in range(count):
        span, calls = ranges.span(number), list[tuple[int, int]]()
        unique = unique_pairs(
            [pairs[ranges.of(pairs[:, 1]) == number]], total, rows, memory=memory, spill=Files(), span=span
        )
        for some in with_sketches(unique, loader(sketches, calls), span, range_rows=rows, row=row):
            for first, one in zip(ranges.of(some["pair"][:, 0]).tolist(), some, strict=True):
                by_first.setdefault(first, []).append(one[None])
        assert all(span[0] <= start < stop <= span[1] for start, stop in calls)
    found: dict[tuple[int, int], int] = {}
    for number, blocks in by_first.items():
        span, calls = ranges.span(number), []
        load = loader(sketches, calls)
        for block, agree in compared(blocks, load, span, range_rows=rows, row=row, memory=memory, spill=Files()):
            found |= dict(zip(map(tuple, block.tolist()), agree.tolist(), strict=True))
        assert all(span[0] <= start < stop <= span[1] for start, stop in calls)
    assert found == {(a, b): agreement(sketches, a, b) for a, b in pairs.tolist()}


def test_rows_without_room_for_a_sketch_ask_for_none() -> None:
    row = row_type(10, 0)
    pairs = np.array([[1, 3], [2, 4]], dtype=np.uint32)
    (rows,) = with_sketches([(0, pairs)], lambda *_: pytest.fail("a sketch was read"), (0, 10), range_rows=10, row=row)
    assert rows["pair"].tolist() == pairs.tolist()
    assert rows.dtype.itemsize == 8


def test_a_kept_document_may_come_after_its_member() -> None:
    sketches = made(30, 128)
    pairs = np.array([[25, 2], [3, 4], [29, 7], [1, 11]], dtype=np.uint32)
    blocks = [(0, pairs[:3]), (1, pairs[3:])]
    found = list(agreements(blocks, loader(sketches), 30, 10, memory=MUCH, spill=Files()))
    assert [pair for block, _ in found for pair in block.tolist()] == [[3, 4], [1, 11], [25, 2], [29, 7]]
    counted = [agreement(sketches, a, b) for a, b in ([3, 4], [1, 11], [25, 2], [29, 7])]
    assert [count for _, counts in found for count in counts.tolist()] == counted


def test_ranges_are_read_in_order_and_at_most_twice() -> None:
    sketches = made(100, 64)
    calls: list[tuple[int, int]] = []
    pairs = np.array([[0, 95], [1, 25], [2, 96], [91, 96]], dtype=np.uint32)
    unique = unique_pairs([pairs], 100, 10, memory=MUCH, spill=Files())
    assert sum(len(block) for block, _ in agreements(unique, loader(sketches, calls), 100, 10, memory=0, spill=Files()))
    assert calls[0] == (0, 0)
    assert calls[1:] == [(20, 30), (90, 100), (0, 10), (90, 100)]


def test_document_numbers_beyond_32_bits() -> None:
    total, rows = (1 << 32) + 1000, 1 << 20
    seen = {number: made(1, 1024, number % 1000)[0] for number in (5, (1 << 32) + 7, (1 << 32) + 9)}

    def load(start: int, stop: int) -> NDArray[np.uint8]:
        sketches = np.zeros((stop - start, 128), dtype=np.uint8)
        for number, sketch in seen.items():
            if start <= number < stop:
                sketches[number - start] = sketch
        return sketches

    pairs = np.array([[5, (1 << 32) + 7], [(1 << 32) + 7, (1 << 32) + 9]], dtype=np.uint64)
    unique = unique_pairs([pairs], total, rows, memory=1 << 20, spill=Files())
    for block, counts in agreements(unique, load, total, rows, memory=1 << 20, spill=Files()):
        assert block.dtype == np.uint64
        assert counts.tolist() == [agreement(np.stack([seen[a], seen[b]]), 0, 1) for a, b in block.tolist()]


def test_memory_stays_within_its_budget() -> None:
    total, bits, rows, memory = 20_000, 1024, 2000, 4 << 20
    sketches = made(total, bits)
    rng = np.random.default_rng(4)
    later = rng.integers(1, total, 200_000, dtype=np.uint32)
    pairs = np.stack([(later * rng.random(len(later))).astype(np.uint32), later], axis=1)
    blocks = np.array_split(pairs, 100)
    count = 0
    tracemalloc.start()
    try:
        unique = unique_pairs(blocks, total, rows, memory=memory // 2, spill=TemporaryFile)
        for _, counts in agreements(unique, loader(sketches), total, rows, memory=memory // 2, spill=TemporaryFile):
            count += len(counts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == len(np.unique(pairs, axis=0))
    # Blocks read back from the file are 4 MiB.
    assert peak < memory + rows * bits // 8 + (6 << 20)


def test_pairs_and_sketches_that_do_not_fit() -> None:
    sketches = made(20, 64)

    def check(number: int, pair: list[int], given: NDArray[np.uint8] = sketches) -> None:
        block = np.array([pair], dtype=np.uint32)
        list(agreements([(number, block)], loader(given), 20, 10, memory=MUCH, spill=Files()))

    with pytest.raises(ValueError, match="documents 12 to 12 are not all of range 0"):
        check(0, [1, 12])
    with pytest.raises(ValueError, match="documents 2 to 2 are not all of range 1"):
        check(1, [1, 2])
    with pytest.raises(ValueError, match="buckets 2 to 2 are named"):
        check(1, [21, 12])
    with pytest.raises(ValueError, match="5 sketches were given for documents 10 to 20"):
        check(1, [1, 12], sketches[:15])
    with pytest.raises(ValueError, match="sketches of 0 bits; valid: multiples of 64 up to 32768"):
        check(1, [1, 12], sketches[:, :0])


def test_ranges_depend_on_the_number_of_bits_alone() -> None:
    assert range_rows(1024) == 1 << 20
    assert range_rows(1 << 31) == 1
