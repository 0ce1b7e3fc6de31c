"""A full disk is an error where a file is written through a map: without room it would end the process."""

import errno
import os
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpus_assets.export import mixture
from corpus_assets.export.weights.choosing import HASHED
from corpus_assets.megatron_cache.folder import cache_folder
from resources.system_errors import make_room, new_placed

FULL = "No space left on device while making room for: "


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fails)


@pytest.mark.parametrize("size", [0, 100_000])
def test_a_file_has_its_size_and_room_for_it(tmp_path: Path, size: int) -> None:
    with new_placed(tmp_path / "a") as file:
        make_room(file, size)
    found = (tmp_path / "a").stat()
    assert found.st_size == size
    assert found.st_blocks * 512 >= size


def test_a_file_system_that_keeps_no_room_gives_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", fails)
    with new_placed(tmp_path / "a") as file:
        make_room(file, 100)
    assert (tmp_path / "a").stat().st_size == 100


@pytest.mark.usefixtures("full")
def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    with new_placed(tmp_path / "a", "scratch of a") as file, pytest.raises(OSError, match=f"{FULL}'scratch of a'"):
        make_room(file, 100)


@pytest.mark.usefixtures("full")
def test_indices_of_megatron_have_room(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=f"{FULL}'{tmp_path}/base-index.npy'"), cache_folder(tmp_path) as folder:
        folder.array("base", "index", (1000,), np.int64)


@pytest.mark.usefixtures("full")
def test_documents_by_unit_have_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = deque(tmp_path / name for name in ("numbers", "documents"))
    stream: Any = SimpleNamespace(key=None, array=lambda _: np.ones(3, np.uint32), json=lambda _: ["web"])
    monkeypatch.setattr(mixture, "unit_numbers", lambda *_: np.zeros(3, np.uint16))
    monkeypatch.setattr(mixture, "hashed", lambda *_: np.zeros(3, HASHED))
    units = mixture.UnitsOfStreams([stream], {None: stream}, lambda: new_placed(files.popleft()))
    begun: Any = {"web": SimpleNamespace(threshold=0, others=[])}
    with pytest.raises(OSError, match=f"{FULL}'{tmp_path}/documents'"):
        units.spilled(1, begun)
