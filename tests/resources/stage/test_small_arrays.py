"""Small arrays of many partitions are read once, each checked as a whole; large ones are left to their reader."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import DamagedFileError, LedgerError
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.small_arrays import Run, ranges, small_arrays
from resources.stage.soundness import SMALL
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

ROW = np.dtype([("number", "<u4"), ("digest", "u1", (32,))])
MEMORY = 1 << 30


def rows_of(shard: int, count: int) -> np.ndarray:
    found = np.zeros(count, ROW)
    found["number"] = np.arange(count) + 1000 * shard
    return found


def written(folder: Path, sizes: list[int]) -> Partitions:
    """Partitions with so many rows each."""
    storage = LocalStorage(folder, sync=False)
    found = Partitions()
    for shard, size in enumerate(sizes):
        path = f"a/{shard}.npy"
        task = Task(Given("a", str(shard), storage, {}))
        task.save_array(path, rows_of(shard, size))
        task.publish()
        entry = storage.stat(path)
        assert entry is not None
        files = [FileRecord(path, entry.bytes, task.files[0].digest, size)]
        found.append(
            Partition(
                storage,
                Record(
                    asset="a",
                    partition=str(shard),
                    recipe="r",
                    digest="d",
                    inputs={},
                    parameters={},
                    code_version="1",
                    files=files,
                ),
            )
        )
    return found


def test_rows_of_small_files_lie_one_after_the_other(tmp_path: Path) -> None:
    large = SMALL // ROW.itemsize + 1
    sizes = [3, 0, 5, large, 0, 2]
    runs = small_arrays(written(tmp_path, sizes), ".npy", ROW, MEMORY)
    assert [(run.first, run.stop, run.rows is None) for run in runs] == [(0, 3, False), (3, 4, True), (4, 6, False)]
    for run in runs:
        if run.rows is not None:
            expected = [rows_of(shard, sizes[shard]) for shard in range(run.first, run.stop)]
            assert run.rows.tobytes() == np.concatenate(expected).tobytes()
            assert np.diff(run.starts).tolist() == sizes[run.partitions]
            assert not run.rows.flags.writeable


def test_files_are_read_once_and_kept_within_their_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partitions = written(tmp_path, [1, 1, 1])
    size = partitions[0].file(".npy").bytes
    asked: list[str] = []
    plain = LocalStorage.small

    def counting(store: LocalStorage, path: str, size: int) -> bytes:
        asked.append(path)
        return plain(store, path, size)

    monkeypatch.setattr(LocalStorage, "small", counting)
    for _ in range(2):
        runs = small_arrays(partitions, ".npy", ROW, 16 * 2 * size)
        assert [run.rows is None for run in runs] == [False, True]
    assert asked == ["a/0.npy", "a/1.npy"]
    assert all(run.rows is None for run in small_arrays(partitions, ".npy", ROW, 0))


def test_a_damaged_or_missing_file_is_named(tmp_path: Path) -> None:
    partitions = written(tmp_path, [4, 4])
    file = tmp_path / "a/1.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"a/1: a/1\.npy: content digest is"):
        small_arrays(partitions, ".npy", ROW, MEMORY)
    file.unlink()
    with pytest.raises(DamagedFileError, match=r"a/1\.npy.* is missing"):
        small_arrays(partitions, ".npy", ROW, MEMORY)


def test_rows_of_another_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"a/0\.npy: 36 bytes are no rows of 7"):
        small_arrays(written(tmp_path, [1]), ".npy", np.dtype("S7"), MEMORY)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_places_of_rows(parts: list[tuple[int, int, int]]) -> None:
    """A piece of each of several partitions: rows before it, in it and after it."""
    before, inside, after = np.array(parts, dtype=np.int64).T
    bounds = np.concatenate([[0], np.cumsum(before + inside + after)])
    run = Run(0, len(parts), np.arange(bounds[-1]), bounds, [f"{number}.npy" for number in range(len(parts))])
    expected = [
        row
        for start, skip, size in zip(bounds, before, inside, strict=False)
        for row in range(start + skip, start + skip + size)
    ]
    assert run.places(before, before + inside).tolist() == expected
    with pytest.raises(LedgerError, match=r"\.npy has \d+ rows; rows \d+ to \d+ were asked for"):
        run.places(before, before + inside + after + 1)


def test_ranges() -> None:
    assert ranges(np.array([5, 1, 9]), np.array([8, 1, 11])).tolist() == [5, 6, 7, 9, 10]
