"""A segment of an array is read and checked alone."""

from pathlib import Path

import numpy as np
import pytest

from resources.errors import DamagedFileError
from resources.formats.arrays import HEADER_BYTES
from resources.hashing import content_digest, sized_hasher
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.stage.soundness import SMALL
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

PATH = "a/x.npy"
CUTS = {"one": (0, 2_000_000), "none": (2_000_000, 2_000_000), "two": (2_000_000, 2_500_000)}


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path, sync=False)


def written(storage: LocalStorage, rows: int) -> Partition:
    """A partition with an array of so many numbers in three segments."""
    numbers = np.arange(rows, dtype=np.uint32)
    task = Task(Given("a", "x", storage, {}))
    task.save_array(PATH, numbers)
    task.publish()
    entry = storage.stat(PATH)
    assert entry is not None
    record = Record(
        asset="a",
        partition="x",
        recipe="r",
        digest="d",
        inputs={},
        parameters={},
        code_version="1",
        files=[FileRecord(PATH, entry.bytes, task.files[0].digest, rows)],
        segments={name: content_digest(numbers[start:stop].tobytes()) for name, (start, stop) in CUTS.items()},
    )
    return Partition(storage, record)


def damaged(storage: LocalStorage, row: int) -> None:
    with Path(storage.fetch(PATH)).open("r+b") as file:
        file.seek(HEADER_BYTES + 4 * row)
        file.write(b"\xff")


def test_blocks_are_the_rows_of_the_segment(storage: LocalStorage) -> None:
    partition = written(storage, 2_500_000)
    for name, (start, stop) in CUTS.items():
        blocks = list(partition.segment_blocks(".npy", name, np.uint32, start, stop))
        assert [number for block in blocks for number in block.tolist()] == list(range(start, stop))
    assert len(list(partition.segment_blocks(".npy", "one", (np.uint32, (2,)), 0, 1_000_000))) > 1


def test_damage_is_found_at_the_end_of_its_segment_and_in_no_other(storage: LocalStorage) -> None:
    partition = written(storage, 2_500_000)
    damaged(storage, 5)
    assert sum(len(block) for block in partition.segment_blocks(".npy", "two", np.uint32, *CUTS["two"])) == 500_000
    with pytest.raises(DamagedFileError, match=r"a/x: a/x\.npy: content digest of segment one is \w+, its record says"):
        list(partition.segment_blocks(".npy", "one", np.uint32, *CUTS["one"]))


def test_a_file_that_was_cut_off_or_is_gone(storage: LocalStorage) -> None:
    partition = written(storage, 2_500_000)
    file = Path(storage.fetch(PATH))
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(DamagedFileError, match="is cut off"):
        list(partition.segment_blocks(".npy", "two", np.uint32, *CUTS["two"]))
    file.unlink()
    with pytest.raises(DamagedFileError, match="is missing"):
        list(partition.segment_blocks(".npy", "two", np.uint32, *CUTS["two"]))


def test_a_small_file_is_checked_as_a_whole(storage: LocalStorage) -> None:
    partition = written(storage, 100)
    assert partition.file(".npy").bytes < SMALL
    damaged(storage, 50)
    with pytest.raises(DamagedFileError, match="content digest is"):
        list(partition.segment_blocks(".npy", "one", np.uint32, 0, 10))


def test_a_digest_of_known_size_is_that_of_the_content() -> None:
    hasher = sized_hasher(6)
    for part in (b"ab", b"", b"cdef"):
        hasher.update(part)
    assert hasher.hexdigest() == content_digest(b"abcdef")
