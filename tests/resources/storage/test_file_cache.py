"""Copies on this machine: the limit holds, the oldest go, several processes agree, nothing half is left."""

import contextlib
import errno
import fcntl
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO

import pytest

from resources.errors import ConfigError, StorageError
from resources.storage import file_cache
from resources.storage.file_cache import FileCache
from resources.storage.s3.store import open_s3

SIZE = 1000


def write(file: BinaryIO, content: bytes = b"x" * SIZE) -> None:
    file.write(content)


def held(folder: Path) -> int:
    """Returns the bytes of all copies; no process adds or removes one meanwhile."""
    with (folder / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return sum(item.stat().st_size for item in folder.iterdir() if not item.name.startswith("."))


def test_a_copy_is_found_by_name_and_version(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 10 * SIZE)
    assert cache.find("a", "1", SIZE) is None
    place = cache.keep("a", "1", write)
    assert cache.find("a", "1", SIZE) == place
    assert cache.find("a", "2", SIZE) is cache.find("b", "1", SIZE) is None
    assert place.read_bytes() == b"x" * SIZE


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 4 * SIZE)
    for name in "abcd":
        os.utime(cache.keep(name, "1", write), (ord(name), ord(name)))
    assert cache.find("a", "1", SIZE) is not None
    cache.keep("e", "1", write)
    assert [name for name in "abcde" if cache.find(name, "1", SIZE)] == ["a", "d", "e"]


def test_a_file_in_use_stays_readable(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", SIZE)
    with cache.keep("a", "1", partial(write, content=b"a" * SIZE)).open("rb") as file:
        cache.keep("b", "1", write)
        assert cache.find("a", "1", SIZE) is None
        assert file.read() == b"a" * SIZE


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 4 * SIZE)

    def broken(file: BinaryIO) -> None:
        file.write(b"half")
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        cache.keep("a", "1", broken)
    assert list(cache.folder.iterdir()) == [] and cache.find("a", "1", SIZE) is None


def test_a_copy_of_another_size_is_none(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 4 * SIZE)
    os.truncate(cache.keep("a", "1", write), SIZE - 1)
    assert cache.find("a", "1", SIZE) is None
    os.truncate(cache.keep("a", "1", write), 0)
    assert cache.find("a", "1", SIZE) is None
    cache.keep("a", "1", write)
    assert cache.find("a", "1", SIZE) is not None
    cache.forget("a", "1")
    cache.forget("a", "1")
    assert cache.find("a", "1", SIZE) is None


def _fill(folder: Path, number: int) -> int:
    cache, most = FileCache(folder, 20 * SIZE), 0
    for step in range(100):
        cache.keep(f"{number}-{step}", "1", write)
        most = max(most, held(folder) if step % 7 == 0 else 0)
    return most


def test_several_processes_keep_the_limit(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, get_context("spawn")) as processes:
        seen = list(processes.map(partial(_fill, tmp_path / "cache"), range(4)))
    assert 0 < max(seen) <= 20 * SIZE
    assert 0 < held(tmp_path / "cache") <= 20 * SIZE


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = FileCache(tmp_path / "file" / "cache", SIZE)
    uses: list[Callable[[], object]] = [
        lambda: cache.find("s3://b/a.npy", "1", SIZE),
        lambda: cache.keep("s3://b/a.npy", "1", write),
        cache.spool,
    ]
    for use in uses:
        with pytest.raises(
            StorageError, match=r"file/cache: storage\.cache\.folder cannot be used for .*Not a directory"
        ):
            use()


def test_a_full_disk_is_told_with_the_folder_and_the_file(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", SIZE)

    def full(_: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match=r"storage\.cache\.folder cannot be used for s3://b/a.npy: No space left"):
        cache.keep("s3://b/a.npy", "1", full)


SECTION = {"s3": {}, "cache": {"folder": "/scratch", "limit": SIZE}, "lease": 120.0}


def test_users_of_a_machine_have_folders_of_their_own(tmp_path: Path) -> None:
    assert open_s3("s3://bucket/x", tmp_path, SECTION).cache.folder == Path(f"/scratch/user-{os.geteuid()}")


def test_a_user_without_a_home_is_told_which_option_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(group: str) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(file_cache, "user_folder", homeless)
    with pytest.raises(ConfigError, match=r"storage\.cache\.folder: this user has no home folder"):
        open_s3("s3://bucket/x", tmp_path, {**SECTION, "cache": {"folder": None, "limit": SIZE}})


def test_each_machine_finds_the_folder_of_its_user_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    store = open_s3("s3://bucket/x", tmp_path, {**SECTION, "cache": {"folder": None, "limit": SIZE}})
    assert store.cache.folder == tmp_path / "here/corpus-assets/objects"
    sent = pickle.dumps(store)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "there"))
    assert pickle.loads(sent).cache.folder == tmp_path / "there/corpus-assets/objects"


def test_errors_of_a_file_without_a_name_say_in_which_folder_it_is(tmp_path: Path) -> None:
    file = FileCache(tmp_path, 1000).spool()
    os.close(file.fileno())
    file.write(b"x")
    with pytest.raises(OSError, match=f"while writing: '{tmp_path} .a file without a name.'"):
        file.flush()
    with contextlib.suppress(OSError):
        file.close()
