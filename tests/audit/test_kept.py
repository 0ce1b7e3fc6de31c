"""What was judged is kept in the store, and is not taken for absent while it cannot be read."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.report.audit.result import FILE, Result, keep, kept
from resources.storage.local.store import LocalStorage


def test_a_result_that_cannot_be_read_is_not_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, result = LocalStorage(tmp_path, sync=False), Result("build", {})
    assert kept(storage, "build") is None
    keep(storage, result)
    assert kept(storage, "build") == result
    assert kept(storage, "another") is None
    storage.write(FILE, b"{")
    assert kept(storage, "build") is None

    def fails(_: LocalStorage, path: str) -> Any:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(LocalStorage, "open", fails)
    number = errno.EIO
    with pytest.raises(OSError, match="Input/output error"):
        kept(storage, "build")
    number = errno.ENOENT
    assert kept(storage, "build") is None
