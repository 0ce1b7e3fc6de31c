from itertools import permutations
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.rows.shuffle import (
    KEY_SPACE,
    Keys,
    Rows,
    Run,
    destination,
    gather,
    held_rows,
    key_range,
    row_keys,
    run_bounds,
    sorted_rows,
)

SHAPE = (2, 3)
ROW_BYTES = 24
KEYS = st.integers(0, KEY_SPACE - 1)


def chi_square(counts: NDArray[np.int64]) -> float:
    mean = counts.mean()
    return float(((counts - mean) ** 2 / mean).sum())


def rows(first: int, count: int) -> Rows:
    """Rows that hold their own number."""
    return np.broadcast_to(np.arange(first, first + count, dtype=np.int32)[:, None, None], (count, *SHAPE)).copy()


def sorted_partition(first: int, keys: Keys, limit: int = 4) -> tuple[Keys, Rows]:
    ordered = list(sorted_rows([rows(first, keys.size)], keys, limit * ROW_BYTES))
    assert all(0 < len(block) <= limit for block in ordered)
    return np.sort(keys), np.concatenate(ordered) if ordered else rows(0, 0)


def part(keys: Keys, held: NDArray[Any], read: list[tuple[int, int]] | None = None) -> Run[Any]:
    def of_rows(first: int, end: int) -> NDArray[Any]:
        if read is not None:
            read.append((first, end))
        return held[first:end]

    return Run(keys, of_rows)


def shuffled(seed: int, sizes: dict[str, int], files: int, limit: int = 5) -> list[list[int]]:
    """Numbers of the rows of every file; the partitions in the order of their names."""
    parts, first = [], 0
    for name, size in sorted(sizes.items()):
        parts.append(part(*sorted_partition(first, row_keys(seed, "dataset", name, size))))
        first += size
    ranges = [key_range(file, files) for file in range(files)]
    return [[int(row[0, 0]) for block in gather(parts, *ends, limit) for row in block] for ends in ranges]


def test_keys_depend_on_every_argument_and_are_different() -> None:
    keys = [
        row_keys(seed, dataset, partition, 50)
        for seed in (0, 1)
        for dataset in ("a", "ab")
        for partition in ("b", "bc", "c")
    ]
    assert np.unique(np.concatenate(keys)).size == 50 * len(keys)
    np.testing.assert_array_equal(row_keys(1, "a", "b", 20), row_keys(1, "a", "b", 50)[:20])
    assert row_keys(0, "a", "b", 0).size == 0


def test_every_bit_of_a_key_is_even() -> None:
    keys = row_keys(3, "dataset", "partition", 40_000)
    shares = [int(np.count_nonzero(keys & np.uint64(1 << bit))) / keys.size for bit in range(64)]
    assert max(abs(share - 0.5) for share in shares) < 0.012  # 4.8 standard deviations


@pytest.mark.parametrize("split", [(4,), (1, 3), (2, 2), (1, 1, 1, 1)])
def test_all_orders_are_equally_likely(split: tuple[int, ...]) -> None:
    places = {order: number for number, order in enumerate(permutations(range(4)))}
    counts = np.zeros(24, np.int64)
    for seed in range(4800):
        keys = np.concatenate([row_keys(seed, "d", f"p{number}", size) for number, size in enumerate(split)])
        counts[places[tuple(np.argsort(keys).tolist())]] += 1
    assert chi_square(counts) < 54  # 23 degrees of freedom: once in 3000


def test_a_row_lands_in_every_file_and_place_equally() -> None:
    files, first = np.zeros(5, np.int64), np.zeros(12, np.int64)
    for seed in range(1200):
        result = shuffled(seed, {"a": 7, "b": 5}, 5)
        files[next(number for number, file in enumerate(result) if 3 in file)] += 1
        first[next(row for file in result for row in file)] += 1
    assert chi_square(files) < 24  # 4 degrees of freedom
    assert chi_square(first) < 37  # 11 degrees of freedom


@given(st.lists(KEYS, max_size=20), st.integers(1, 1000))
def test_files_are_consecutive_key_ranges(drawn: list[int], files: int) -> None:
    keys = np.array(drawn, np.uint64)
    for key, file in zip(drawn, destination(keys, files).tolist(), strict=True):
        low, high = key_range(file, files)
        assert low <= key < high
    assert key_range(0, files)[0] == 0
    assert key_range(files - 1, files)[1] == KEY_SPACE
    assert all(key_range(file, files)[1] == key_range(file + 1, files)[0] for file in range(files - 1))
    low = key_range(files // 2, files)[0]
    assert destination(np.array([low], np.uint64), files)[0] == files // 2
    assert low == 0 or destination(np.array([low - 1], np.uint64), files)[0] == files // 2 - 1


def test_bounds_are_where_files_begin() -> None:
    keys = np.sort(row_keys(0, "d", "p", 100))
    bounds = run_bounds(keys, 7)
    assert (bounds[0], bounds[-1]) == (0, 100)
    for file in range(7):
        assert (destination(keys, 7)[bounds[file] : bounds[file + 1]] == file).all()


@given(
    st.lists(st.lists(st.integers(0, 6) | KEYS, max_size=12), max_size=4),
    st.integers(1, 9),
    st.integers(1, 4),
)
def test_gather_merges_in_key_order_and_reads_once(drawn: list[list[int]], limit: int, files: int) -> None:
    """Small keys collide often: ties are in the order of partition and row."""
    parts, reads, first = list[Run[Any]](), list[list[tuple[int, int]]](), 0
    expected = list[tuple[int, int, int]]()
    for number, keys in enumerate(drawn):
        reads.append([])
        parts.append(part(*sorted_partition(first, np.array(keys, np.uint64)), reads[-1]))
        expected += [(key, number, first + row) for row, key in enumerate(keys)]
        first += len(keys)
    merged = list[int]()
    for file in range(files):
        for block in gather(parts, *key_range(file, files), limit):
            assert 0 < len(block) <= limit
            assert block.shape[1:] == SHAPE
            assert (block == block[:, :1, :1]).all()
            merged += block[:, 0, 0].tolist()
    assert merged == [row for _, _, row in sorted(expected)]
    for ranges, keys in zip(reads, drawn, strict=True):
        assert all(0 < end - start <= limit for start, end in ranges)
        assert [row for start, end in ranges for row in range(start, end)] == list(range(len(keys)))


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 30))
def test_rows_beyond_memory_are_held_in_a_file(sizes: list[int], memory_rows: int) -> None:
    given_blocks = [rows(sum(sizes[:number]), size) for number, size in enumerate(sizes)]
    with TemporaryFile() as file:
        opened = list[BinaryIO]()

        def scratch() -> BinaryIO:
            opened.append(file)
            return file

        held = held_rows(given_blocks, memory_rows * ROW_BYTES, scratch)
        assert len(opened) == (sum(sizes) > memory_rows)
        in_memory = [block for block in held if not isinstance(block, np.memmap)]
        assert sum(map(len, in_memory)) <= memory_rows
        assert all(map(len, held))
        keys = row_keys(0, "d", "p", sum(sizes))
        ordered = [row for block in sorted_rows(held, keys, ROW_BYTES) for row in block[:, 0, 0].tolist()]
        assert ordered == np.argsort(keys).tolist()


def test_a_small_part_of_an_array_does_not_keep_all_of_it() -> None:
    whole = rows(0, 100)
    (few, many) = held_rows([whole[:3], whole[10:90]], 1 << 20, lambda: pytest.fail("all fits into memory"))
    assert few.base is None
    assert many.base is whole
    assert few[:, 0, 0].tolist() == [0, 1, 2]


def test_rows_in_another_form_are_merged_as_well() -> None:
    keys, held = sorted_partition(0, row_keys(0, "d", "p", 9))
    stored = np.array([row.tobytes() for row in held], np.object_)
    parts = [part(keys[:5], stored[:5]), part(keys[5:], stored[5:])]
    merged = [row for block in gather(parts, 0, KEY_SPACE, 4) for row in block.tolist()]
    assert merged == stored.tolist()


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(0, 9), max_size=4), st.integers(1, 4))
def test_rows_are_kept_whatever_the_block(sizes: dict[str, int], files: int) -> None:
    result = shuffled(7, sizes, files)
    assert sorted(row for file in result for row in file) == list(range(sum(sizes.values())))
    assert result == shuffled(7, sizes, files, limit=1) == shuffled(7, sizes, files, limit=100)
    # Files are cuts of one order: their number does not change it.
    assert [row for file in result for row in file] == [row for file in shuffled(7, sizes, 1) for row in file]


def test_partitions_that_are_added_leave_the_order_of_the_others() -> None:
    before = [row for file in shuffled(0, {"a": 20, "b": 20}, 3) for row in file]
    after = [row for file in shuffled(0, {"a": 20, "b": 20, "c": 20}, 3) for row in file]
    assert [row for row in after if row < 40] == before
    assert before != list(range(40))


@pytest.mark.parametrize("given_rows", [4, 6])
def test_another_number_of_rows_is_refused(given_rows: int) -> None:
    with pytest.raises(ValueError, match=f"{given_rows} rows for 5 keys"):
        next(sorted_rows([rows(0, given_rows)], row_keys(0, "d", "p", 5), 4))


def test_a_part_that_gives_too_few_rows_is_refused() -> None:
    keys = np.sort(row_keys(0, "d", "p", 5))
    with pytest.raises(ValueError, match="run 0 gave 4 rows; asked for 0 to 5"):
        list(gather([part(keys, rows(0, 4))], 0, KEY_SPACE, 8))
