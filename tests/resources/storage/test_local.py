"""The local store: nothing half-written is ever visible, and nothing outside the root is reachable."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import StorageError
from resources.storage.local import TEMPORARY, LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "store", sync=False)


def names(storage: LocalStorage) -> set[str]:
    return {entry.path for entry in storage.entries("")}


def test_files_appear_together_and_whole(storage: LocalStorage) -> None:
    pending = storage.begin()
    for name in ("a/one", "b/two"):
        pending.create(name).write(b"content")
    assert not {name for name in names(storage) if not name.startswith(TEMPORARY)}
    pending.publish()
    pending.discard()
    assert names(storage) == {"a/one", "b/two"}
    with storage.open("a/one") as file:
        assert file.read() == b"content"
    entry = storage.stat("b/two")
    assert entry is not None
    assert entry.bytes == 7


def test_what_is_discarded_was_never_there(storage: LocalStorage) -> None:
    pending = storage.begin()
    pending.create("a").write(b"x")
    pending.scratch().write(b"y")
    pending.discard()
    assert names(storage) == set()
    assert storage.stat("a") is None
    storage.delete("a")


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/hosts", "a/.."])
def test_paths_stay_below_the_root(storage: LocalStorage, path: str) -> None:
    for use in (storage.open, storage.stat, storage.delete, storage.fetch, storage.begin().create):
        with pytest.raises(StorageError, match="relative"):
            use(path)


@given(parts=st.lists(st.sampled_from(["a", "..", ".", "", "b", "..."]), min_size=1, max_size=6))
def test_every_path_is_refused_or_below_the_root(parts: list[str]) -> None:
    storage = LocalStorage(Path("/store"))
    path = "/".join(parts)
    try:
        resolved = storage.resolve(path)
    except StorageError:
        assert ".." in parts or path.startswith("/")
    else:
        assert Path(os.path.normpath(resolved)).is_relative_to(storage.root)


def test_temporary_folders_of_dead_writers_are_removed_and_no_others(storage: LocalStorage) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    dead = f"{socket.gethostname()}.{int(ended.stdout)}.{'0' * 16}"
    kept = [f"elsewhere.1.{'0' * 16}", "not-a-temporary-folder"]
    for name in (dead, *kept):
        (storage.root / TEMPORARY / name).mkdir(parents=True)
    pending = storage.begin()
    pending.create("mine").write(b"x")
    assert storage.abandoned() == [f"{TEMPORARY}/{name}" for name in sorted([dead, kept[1]])]
    storage.remove_abandoned()
    pending.publish()
    assert (storage.root / TEMPORARY / kept[0]).exists()
    assert storage.stat("mine") is not None


def test_a_list_of_a_folder_is_what_lies_below_it(storage: LocalStorage) -> None:
    for name in ("a/x", "a/deep/y", "ab/z"):
        storage.write(name, b"1")
    assert {entry.path for entry in storage.entries("a")} == {"a/x", "a/deep/y"}
    assert list(storage.entries("none")) == []
