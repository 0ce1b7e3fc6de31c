"""A damaged copy on this machine is no damage: the file is read from the store, which has it as it was recorded."""

from pathlib import Path

import numpy as np
import pytest

from resources.errors import DamagedCopyError, DamagedFileError
from resources.formats.known import fault_of
from resources.hashing import sized_hasher
from resources.ledger.ledger import Ledger, Record
from resources.stage import soundness
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.jobs.job import Job
from resources.stage.jobs.run_job import run_job
from resources.stage.partition import Partition
from resources.stage.task import Given, Task
from resources.storage.s3.store import S3Storage

PATH = "documents/x.npy"
ROWS = np.arange(20_000, dtype=np.int64)
SEGMENT = "all"


@pytest.fixture
def record(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> Record:
    """The record of a partition with a large array, of which this machine has a copy."""
    task = Task(Given("a", "x", bucket, {}))
    task.save_array(PATH, ROWS)
    task.prepare()
    task.publish()
    [file] = (task.stored(file) for file in task.files)
    digest = sized_hasher(ROWS.nbytes)
    digest.update(ROWS.tobytes())
    found = Record(
        asset="a",
        partition="x",
        recipe="r",
        digest="d",
        inputs={},
        parameters={},
        code_version="1",
        files=[file],
        segments={SEGMENT: digest.hexdigest()},
    )
    assert np.array_equal(Partition(bucket, found).array(".npy"), ROWS)
    monkeypatch.setattr(soundness, "_FOUND_SOUND", set())  # as in a new process
    return found


def copies(storage: S3Storage) -> list[Path]:
    return [item for item in storage.cache.folder.rglob("*") if item.is_file() and not item.name.startswith(".")]


def damage(storage: S3Storage, size: int | None = None) -> None:
    """Cuts the copies of this machine, or changes bytes in their middle."""
    assert copies(storage)
    for copy in copies(storage):
        content = bytearray(copy.read_bytes())
        content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
        copy.write_bytes(content[:size])


def blocks(storage: S3Storage, record: Record) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.concatenate(list(Partition(storage, record).segment_blocks(".npy", SEGMENT, ROWS.dtype, 0, len(ROWS))))


@pytest.mark.parametrize("size", [0, 1000, None])
def test_a_damaged_copy_is_read_from_the_store(bucket: S3Storage, record: Record, size: int | None) -> None:
    damage(bucket, size)
    assert np.array_equal(Partition(bucket, record).array(".npy"), ROWS)
    assert [copy.stat().st_size for copy in copies(bucket)] == [record.files[0].bytes]
    assert np.array_equal(Partition(bucket, record).array_rows(".npy", 15_000, 15_009), ROWS[15_000:15_009])


def test_a_stream_that_met_a_damaged_copy_is_right_the_second_time(bucket: S3Storage, record: Record) -> None:
    damage(bucket)
    with pytest.raises(DamagedCopyError, match=r"documents/@\w+/x.npy: a copy of it on this machine was damaged"):
        blocks(bucket, record)
    assert copies(bucket) == []
    assert np.array_equal(blocks(bucket, record), ROWS)


def test_what_the_store_has_is_damage(bucket: S3Storage, record: Record) -> None:
    path = record.files[0].path
    bucket.forget_copy(path)
    bucket.write(path, bucket.read(path, 0, record.files[0].bytes)[:-8] + b"another!")
    with pytest.raises(DamagedFileError):
        Partition(bucket, record).array(".npy")


def test_a_deep_look_reads_the_store(bucket: S3Storage, record: Record) -> None:
    damage(bucket)
    [file] = record.files
    assert fault_of(bucket.from_store, file.path, file.digest) is None
    bucket.write(file.path, b"damaged")
    assert fault_of(bucket.from_store, file.path, file.digest) is not None


def _sum(task: Task) -> None:
    blocks = task.input("a").segment_blocks(".npy", SEGMENT, ROWS.dtype, 0, len(ROWS))
    task.save_counters("sum", {"of all": int(sum(block.sum() for block in blocks))})


def test_a_job_that_met_a_damaged_copy_begins_again(bucket: S3Storage, record: Record) -> None:
    damage(bucket)
    Ledger(bucket).write(record)
    stage = Stage("sums", "test", "Adds up.", Partitioning.SHARD, _sum, "1", "records", (same("a"),))
    with bucket.exclusive():
        outcome = run_job(Job(stage, "x", (), {}, {"a": ("x",)}, bucket, 1 << 30))
    assert outcome.error is None and outcome.record is not None
    assert outcome.record.counters_of("sum") == {"of all": int(ROWS.sum())}
