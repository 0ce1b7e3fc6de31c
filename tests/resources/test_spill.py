import io
import tracemalloc
from collections import defaultdict
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.errors import StorageError
from resources.spill import Buckets, cut

PAIR = np.dtype([("pair", np.uint32, (2,)), ("sketch", np.uint8, (5,))])
BLOCKS = st.lists(st.lists(st.integers(0, 6), max_size=40), max_size=8)


class Files:
    """Hands out files in memory and remembers them."""

    def __init__(self) -> None:
        self.files: list[io.BytesIO] = []

    def __call__(self) -> BinaryIO:
        self.files.append(io.BytesIO())
        return self.files[-1]


@given(BLOCKS, st.integers(0, 2000))
def test_rows_come_back_by_bucket_in_the_order_appended(blocks: list[list[int]], memory: int) -> None:
    files = Files()
    expected: dict[int, list[int]] = defaultdict(list)
    written = 0
    with Buckets(7, np.uint64, memory, files) as buckets:
        for block in blocks:
            rows = np.arange(written, written + len(block), dtype=np.uint64)
            buckets.append(np.array(block, dtype=np.int64), rows)
            for number, row in zip(block, rows.tolist(), strict=True):
                expected[number].append(row)
            written += len(block)
        for number in range(7):
            found = list(buckets.rows(number))
            assert all(len(rows) for rows in found)
            assert [row for rows in found for row in rows.tolist()] == expected[number]
            assert buckets.size(number) == len(expected[number])
    assert len(files.files) <= 1
    assert all(file.closed for file in files.files)


def test_within_memory_nothing_is_spilled() -> None:
    files = Files()
    with Buckets(3, np.uint64, 1 << 20, files) as buckets:
        buckets.append(np.array([2, 0, 2]), np.array([5, 6, 7], dtype=np.uint64))
        assert [rows.tolist() for rows in buckets.rows(2)] == [[5, 7]]
        assert list(buckets.rows(1)) == []
    assert files.files == []


def compound_rows(count: int, buckets: int) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    rng = np.random.default_rng(3)
    rows = np.zeros(count, dtype=PAIR)
    rows["pair"][:, 0], rows["sketch"] = np.arange(count), rng.integers(0, 256, (count, 5))
    return rng.integers(0, buckets, count), rows


def test_ten_thousand_buckets_of_compound_rows_in_one_real_file() -> None:
    numbers, rows = compound_rows(100_000, 10_000)
    with Buckets(10_000, PAIR, 1 << 20, TemporaryFile) as buckets:
        buckets.append(numbers, rows)
        found = [block for number in range(10_000) for block in buckets.rows(number)]
    assert np.array_equal(np.concatenate(found), rows[np.argsort(numbers, kind="stable")])


def test_memory_stays_within_its_budget() -> None:
    numbers, rows = compound_rows(500_000, 300)
    memory = 1 << 20
    tracemalloc.start()
    try:
        with Buckets(300, PAIR, memory, TemporaryFile) as buckets:
            for start in range(0, len(rows), 10_000):
                buckets.append(numbers[start : start + 10_000], rows[start : start + 10_000])
            total = sum(len(block) for number in range(300) for block in buckets.rows(number))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == len(rows)
    assert peak < 1.1 * memory


def test_a_file_that_was_cut_is_noticed() -> None:
    files = Files()
    with Buckets(1, np.uint64, 280, files) as buckets:
        buckets.append(np.zeros(50, dtype=np.int64), np.arange(50, dtype=np.uint64))
        assert buckets.size(0) == 50
        files.files[0].truncate(100)
        with pytest.raises(StorageError, match=r"scratch file: \d+ of \d+ bytes"):
            list(buckets.rows(0))


def test_wrong_use_is_refused() -> None:
    rows = np.zeros(2, dtype=np.uint64)
    with Buckets(3, np.uint64, 1000, Files()) as buckets:
        with pytest.raises(ValueError, match="buckets 1 to 3 are named; there are 3"):
            buckets.append(np.array([1, 3]), rows)
        with pytest.raises(ValueError, match="buckets -1 to 0"):
            buckets.append(np.array([-1, 0]), rows)
        with pytest.raises(ValueError, match="1 bucket numbers for 2 rows"):
            buckets.append(np.array([1]), rows)
        assert buckets.size(0) == 0
        with pytest.raises(ValueError, match="append all of them before reading"):
            buckets.append(np.array([1, 2]), rows)
    with pytest.raises(ValueError, match="-1 buckets"):
        Buckets(-1, np.uint64, 0, Files())


@given(st.lists(st.integers(0, 30), max_size=6), st.integers(1, 9))
def test_cut_keeps_every_row(sizes: list[int], size: int) -> None:
    blocks = [np.arange(rows) for rows in sizes]
    found = list(cut(blocks, size))
    assert all(0 < len(block) <= size for block in found)
    assert [row for block in found for row in block] == [row for rows in sizes for row in range(rows)]
