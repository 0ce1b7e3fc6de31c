"""The plan looks at the files of the store; one that it could not look at is not missing."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import override

from resources.ledger.records import FileRecord, Record
from resources.planning.stored_files import StoredFiles
from resources.storage.interface import Entry
from resources.storage.local.store import LocalStorage


def test_files_of_a_folder_that_could_not_be_listed_are_not_missing_afterwards(tmp_path: Path) -> None:
    failed: list[str] = []

    class FailsOnce(LocalStorage):
        @override
        def entries(self, prefix: str) -> Iterator[Entry]:
            if not failed:
                failed.append(prefix)
                raise OSError(errno.EIO, os.strerror(errno.EIO), prefix)
            return super().entries(prefix)

    storage = FailsOnce(tmp_path, sync=False)
    storage.write("documents/a", b"abc")
    file = FileRecord("documents/a", 3, "")
    record = Record(
        asset="a", partition=None, recipe="", digest="", inputs={}, parameters={}, code_version="1", files=[file]
    )
    stored = StoredFiles(storage)
    with pytest.raises(OSError, match="Input/output error"):
        stored.damage(record)
    assert stored.damage(record) == ""
