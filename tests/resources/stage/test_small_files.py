"""Small files are opened once per process and version; what nobody compared is kept for nobody."""

from pathlib import Path

import numpy as np
import pytest

from resources.errors import DamagedFileError
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.stage.small_files import SmallFiles
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

PATH = "a/x.npy"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path, sync=False)


def written(storage: LocalStorage, rows: list[int]) -> Record:
    """The record of a partition with one small array."""
    task = Task(Given("a", "x", storage, {}))
    task.save_array(PATH, np.array(rows, dtype=np.int64))
    task.publish()
    entry = storage.stat(PATH)
    assert entry is not None
    files = [FileRecord(PATH, entry.bytes, task.files[0].digest, len(rows))]
    return Record(
        asset="a", partition="x", recipe="r", digest="d", inputs={}, parameters={}, code_version="1", files=files
    )


def test_a_file_is_opened_once_until_it_changes(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    plain = LocalStorage.small

    def counting(store: LocalStorage, path: str, size: int) -> bytes:
        opened.append(path)
        return plain(store, path, size)

    first = written(storage, [1, 2, 3])
    monkeypatch.setattr(LocalStorage, "small", counting)
    for _ in range(3):
        partition = Partition(storage, first)
        assert partition.array(".npy").tolist() == [1, 2, 3]
        assert partition.array_rows(".npy", 1, 2).tolist() == [2]
    assert opened == [PATH]
    second = written(storage, [1, 2, 4])
    assert Partition(storage, second).array(".npy").tolist() == [1, 2, 4]
    assert opened == [PATH, PATH]
    assert Partition(storage, first).array(".npy").tolist() == [1, 2, 3]
    assert opened == [PATH, PATH]


def test_what_was_not_compared_is_not_kept(storage: LocalStorage) -> None:
    record = written(storage, [1, 2, 3])
    file = Path(storage.fetch(PATH))
    file.write_bytes(file.read_bytes()[:-8] + bytes(8))
    assert Partition(storage, record, compared=False).array(".npy").tolist() == [1, 2, 0]
    with pytest.raises(DamagedFileError, match="content digest"):
        Partition(storage, record).array(".npy")


def test_a_full_store_of_contents_begins_anew() -> None:
    kept = SmallFiles(10)
    for name in "abc":
        kept.keep(("s", name, "d"), b"1234")
    assert [kept.get(("s", name, "d")) for name in "abc"] == [None, None, b"1234"]
