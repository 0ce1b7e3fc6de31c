"""Partitions whose files have one name: the record of the first goes before the second is committed, in every store."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from resources.ledger.ledger import Ledger, record_path
from resources.ledger.records import Record
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Job
from resources.stage.jobs.run_job import run_job
from resources.stage.task import Task
from resources.storage.holders import this_process
from resources.storage.interface import Storage


@pytest.fixture(autouse=True)
def building(storage: Storage) -> Iterator[None]:
    with storage.shared(this_process()):
        yield


def shares(path: str, task: Task) -> None:
    """Write a file whose name others have had, and one of the partition's own."""
    task.save_bytes(path, f"of {task.key}".encode())
    task.save_bytes(f"exports/own/{task.key}.txt", b"own")


def job(storage: Storage, asset: str, key: str, path: str, **more: Any) -> Job:
    stage = Stage(asset, "own", "", Partitioning.CHUNK, partial(shares, path), "1", "records")
    return Job(stage, key, (), {}, {}, storage, 1 << 20, **more)


def committed(storage: Storage, asset: str, key: str, path: str, **more: Any) -> Record:
    before = storage.stat(record_path(asset, key))
    outcome = run_job(job(storage, asset, key, path, known=before and before.version, **more))
    assert outcome.record is not None, outcome.error
    return outcome.record


def kept(storage: Storage) -> set[tuple[str, str | None]]:
    ledger = Ledger(storage)
    return {(asset, key) for asset in ledger.assets() for key in ledger.records(asset)}


def test_a_record_gives_way_to_a_file_of_another_partition(storage: Storage) -> None:
    path = "exports/shared/0.bin"
    committed(storage, "old", "a", path)
    committed(storage, "other", "a", "exports/shared/1.bin")
    committed(storage, "new", "b", path, look="plan")
    assert kept(storage) == {("other", "a"), ("new", "b")}
    committed(storage, "new", "c", path)
    assert kept(storage) == {("other", "a"), ("new", "c")}
    committed(storage, "new", "c", path)
    with storage.open(path) as file:
        assert file.read() == b"of c"


def test_a_record_that_is_new_meanwhile_stays(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "exports/shared/0.bin"
    committed(storage, "new", "a", path)
    give_way = Ledger.give_way

    def late(ledger: Ledger, *given: Any) -> bool:
        monkeypatch.undo()
        committed(storage, "new", "a", "exports/shared/1.bin")
        return give_way(ledger, *given)

    monkeypatch.setattr(Ledger, "give_way", late)
    committed(storage, "new", "b", path)
    assert kept(storage) == {("new", "a"), ("new", "b")}


def test_a_partition_is_committed_whose_record_gave_way_meanwhile(storage: Storage) -> None:
    path = "exports/shared/0.bin"
    committed(storage, "new", "a", path)

    def compute(task: Task) -> None:
        committed(storage, "new", "b", path)
        shares("exports/shared/1.bin", task)

    stage = Stage("new", "own", "", Partitioning.CHUNK, compute, "2", "records")
    before = storage.stat(record_path("new", "a"))
    assert before is not None
    outcome = run_job(Job(stage, "a", (), {}, {}, storage, 1 << 20, known=before.version))
    assert outcome.record is not None, outcome.error
    assert kept(storage) == {("new", "a"), ("new", "b")}
