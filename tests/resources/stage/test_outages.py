"""A store that stops answering in the middle of a file says nothing about the file."""

import errno
import gzip
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
import xxhash
from typing_extensions import override

from resources.errors import DamagedFileError, StorageError, StoreAccessError
from resources.formats.arrays import ArrayWriter
from resources.formats.known import fault_of
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage

LINES = b"".join(b'{"id":"%d","text":"%s","source":"s"}\n' % (number, b"ab" * number) for number in range(500))
FAULTS = [
    StoreAccessError("the store does not answer"),
    OSError(errno.EIO, "input/output error"),
    StorageError("the cache folder is full"),
]
READERS: list[Callable[[Partition], Iterable[Any]]] = [Partition.lines, Partition.documents, Partition.texts]


class _Broken(io.RawIOBase):
    """A file of which the first bytes can be read, and then nothing."""

    def __init__(self, content: bytes, fault: Exception) -> None:
        self._content, self._fault, self._place = content, fault, 0

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        if self._place:
            raise self._fault
        self._place = min(len(buffer), len(self._content) // 2)
        buffer[: self._place] = self._content[: self._place]
        return self._place


def packed_array() -> bytes:
    file = io.BytesIO()
    writer = ArrayWriter(file, np.dtype(np.int64))
    writer.append(np.arange(20_000))
    writer.finish()
    return file.getvalue()


def stored(folder: Path, path: str, content: bytes, digest: str) -> tuple[LocalStorage, Record]:
    storage = LocalStorage(folder, sync=False)
    storage.write(path, content)
    files = [FileRecord(path, len(content), digest)]
    record = Record(
        asset="a", partition="x", recipe="r", digest="d", inputs={}, parameters={}, code_version="1", files=files
    )
    return storage, record


def break_off(patch: pytest.MonkeyPatch, content: bytes, fault: Exception) -> None:
    def broken(store: LocalStorage, path: str) -> BinaryIO:
        return io.BufferedReader(_Broken(content, fault))

    patch.setattr(LocalStorage, "open", broken)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_lines_break_off_with_the_fault_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Partition], Iterable[Any]], fault: Exception
) -> None:
    content = gzip.compress(LINES)
    storage, record = stored(tmp_path, "a/x.jsonl.gz", content, xxhash.xxh3_128(LINES).hexdigest())
    assert sum(1 for _ in read(Partition(storage, record))) > 0
    break_off(monkeypatch, content, fault)
    with pytest.raises(type(fault)) as found:
        list(read(Partition(storage, record)))
    assert found.value is fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_file_that_cannot_be_checked_now_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    content = packed_array()
    storage, record = stored(tmp_path, "a/x.npy", content, "of other content")
    break_off(monkeypatch, content, fault)
    with pytest.raises(type(fault)) as found:
        Partition(storage, record).array(".npy")
    assert found.value is fault
    with pytest.raises(type(fault)) as found:
        fault_of(storage.open, "a/x.npy", "of other content")
    assert found.value is fault


def test_cut_lines_are_damage(tmp_path: Path) -> None:
    content = gzip.compress(LINES)[:-20]
    storage, record = stored(tmp_path, "a/x.jsonl.gz", content, xxhash.xxh3_128(LINES).hexdigest())
    with pytest.raises(DamagedFileError, match="cut or corrupt"):
        list(Partition(storage, record).lines())
