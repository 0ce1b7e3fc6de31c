"""The local store: nothing half-written is ever visible, and nothing outside the root is reachable."""

import errno
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import ConfigError, StorageError
from resources.processes.alive import birth
from resources.storage.holders import this_process
from resources.storage.local import files, locks
from resources.storage.local.locks import LOCK
from resources.storage.local.store import LocalStorage, open_local
from resources.storage.local.unpublished import TEMPORARY


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


def test_a_writer_that_ended_and_was_not_waited_for_is_dead(storage: LocalStorage) -> None:
    child = os.fork()
    if not child:
        storage.begin().create("half")
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert [Path(path).name.split(".")[-2] for path in storage.abandoned()] == [str(child)]
        assert storage.remove_abandoned() == 1
    finally:
        os.waitpid(child, 0)


def test_a_number_given_to_a_later_process_is_not_the_writer(storage: LocalStorage) -> None:
    folder = storage.root / TEMPORARY / f"{socket.gethostname()}.{os.getpid()}.{'0' * 16}"
    folder.mkdir(parents=True)
    assert storage.abandoned() == []
    os.utime(folder, (0, 0))
    assert storage.abandoned() == [f"{TEMPORARY}/{folder.name}"]


def test_temporary_folders_of_another_namespace_are_not_those_of_a_dead_process(
    storage: LocalStorage,
) -> None:
    mine, host, dead = birth(os.getpid()), socket.gethostname(), 2**22 + 1
    names = [f"{host}@{place}.{'0' * 16}" for place in (f"{mine.place}-1.{dead}", f"{mine.place}0-1.{dead}")]
    for name in names:
        (storage.root / TEMPORARY / name).mkdir(parents=True)
    assert storage.abandoned() == [f"{TEMPORARY}/{names[0]}"]
    os.utime(storage.root / TEMPORARY / names[1], (0, 0))
    assert storage.abandoned() == [f"{TEMPORARY}/{name}" for name in sorted(names)]


def test_who_holds_the_store_alone_removes_what_was_left_before_the_machine_was_started_anew(
    storage: LocalStorage,
) -> None:
    mine, host = birth(os.getpid()).place, socket.gethostname()
    boot, space = mine.rpartition("-")[::2]
    places = {"before": f"{host}@{'0' * len(boot)}-{space}", "elsewhere": f"elsewhere@{'0' * len(boot)}-{space}"}
    places |= {"beside": f"{host}@{mine}0", "own": f"{host}@{mine}"}
    ticks = birth(os.getpid()).ticks
    folders = {name: f"{place}-{ticks}.{os.getpid()}.{'0' * 16}" for name, place in places.items()}
    for name in folders.values():
        (storage.root / TEMPORARY / name).mkdir(parents=True)
    with storage.shared(this_process()):
        assert storage.abandoned() == []
    with storage.exclusive():
        assert storage.abandoned() == [f"{TEMPORARY}/{folders['before']}"]
        assert storage.remove_abandoned() == 1
    assert storage.abandoned() == []


def test_temporary_folders_of_other_hosts_go_when_nothing_was_written_for_a_day(storage: LocalStorage) -> None:
    names = [f"elsewhere.1.{digit * 16}" for digit in "012"]
    for name in names:
        (storage.root / TEMPORARY / name).mkdir(parents=True)
    (storage.root / TEMPORARY / names[1] / "0").write_bytes(b"still being written")
    for name in names[:2]:
        os.utime(storage.root / TEMPORARY / name, (0, 0))
    assert storage.abandoned() == [f"{TEMPORARY}/{names[0]}"]


def test_a_writer_of_another_host_lives_while_it_puts_its_files_in_place(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = storage.root / TEMPORARY / f"elsewhere.1.{'0' * 16}"
    folder.mkdir(parents=True)
    iterdir = Path.iterdir

    def with_one_that_goes(path: Path) -> list[Path]:
        return [*iterdir(path), *([path / "0"] if path == folder else [])]

    monkeypatch.setattr(Path, "iterdir", with_one_that_goes)
    assert storage.abandoned() == []
    os.utime(folder, (0, 0))
    assert storage.abandoned() == [f"{TEMPORARY}/{folder.name}"]


def test_a_record_that_cannot_be_looked_at_is_not_taken_away(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = storage.write("ledger/a/one.json", b"record")
    assert entry is not None
    look = Path.stat

    def fails_aside(path: Path, **given: Any) -> os.stat_result:
        if TEMPORARY in path.parts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return look(path, **given)

    monkeypatch.setattr(Path, "stat", fails_aside)
    with pytest.raises(OSError, match="Input/output error while removing"):
        storage.take_away("ledger/a/one.json", b"", entry.version)
    assert storage.read("ledger/a/one.json", 0, 9) == b"record"


def test_a_folder_that_the_machine_cannot_look_at_is_no_fault_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, number = os.stat, errno.EIO

    def fails(place: Any, **given: Any) -> os.stat_result:
        if str(place) == str(tmp_path):
            raise OSError(number, os.strerror(number), str(place))
        return look(place, **given)

    monkeypatch.setattr(os, "stat", fails)
    with pytest.raises(OSError, match="Input/output error while looking at"):
        open_local(str(tmp_path), tmp_path, {"sync": False})
    number = errno.EACCES
    with pytest.raises(ConfigError, match="is not a folder"):
        open_local(str(tmp_path), tmp_path, {"sync": False})


def _open_anew(root: Path) -> int:
    """Exit code of another process that tries to build on a store."""
    code = "import sys; from pathlib import Path; from resources.storage.local.store import LocalStorage\n"
    code += "with LocalStorage(Path(sys.argv[1])).exclusive(): pass"
    done = subprocess.run([sys.executable, "-c", code, str(root)], check=False, capture_output=True, text=True)
    assert not done.returncode or "is building on this store" in done.stderr
    return done.returncode


def test_a_removed_lock_file_lets_no_second_builder_in(storage: LocalStorage) -> None:
    with storage.exclusive():
        assert _open_anew(storage.root) == 1
        (storage.root / LOCK).unlink()
        assert _open_anew(storage.root) == 1
        assert _open_anew(storage.root) == 1
    assert _open_anew(storage.root) == 0


def test_a_lock_on_a_file_that_is_gone_is_taken_again(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another builder may remove the file between opening and locking it."""
    lock = fcntl.flock
    taken: list[object] = []

    def removed_first(file: Any, how: int) -> None:
        if not isinstance(file, int):
            taken.append(file)
            if len(taken) == 1:
                (storage.root / LOCK).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", removed_first)
    with storage.exclusive():
        assert len(taken) == 2
        assert (storage.root / LOCK).read_text().startswith(f"process {os.getpid()} on ")


@pytest.mark.parametrize("kind", [PermissionError, OSError])
def test_builders_and_writers_that_cannot_be_listed_are_not_none(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, kind: type[OSError]
) -> None:
    builder = this_process("settings")
    with storage.shared(builder):
        storage.begin().create("a")

        def fails(*_: object) -> Any:
            raise kind(errno.EIO, os.strerror(errno.EIO), "in a folder")

        for name in ("listdir", "scandir"):
            monkeypatch.setattr(os, name, fails)
        looks = (storage.at_work, storage.abandoned, lambda: list(locks.others(storage.root, "another")))
        for look in looks:
            with pytest.raises(OSError, match="Input/output error while listing"):
                look()
        monkeypatch.undo()


def test_a_full_disk_leaves_the_old_file_and_nothing_temporary(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.write("a/one", b"old")
    pending = storage.begin()
    for name in ("a/one", "a/two"):
        pending.create(name).write(b"new" * 10)
    pending.scratch().write(b"held in memory until it is closed")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            pending.prepare()
        pending.discard()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert names(storage) == {"a/one"}
    assert not list((storage.root / TEMPORARY).glob("*"))
    with storage.open("a/one") as file:
        assert file.read() == b"old"


def test_a_store_that_cannot_be_written_is_named_by_its_key(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    for first_write in ("open", "mkdir"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, first_write, refused)
            if first_write == "open":
                storage.root.mkdir()
            else:
                storage = LocalStorage(storage.root / "deeper")
            with pytest.raises(StorageError, match=r"storage\.root: .* cannot be written: Permission denied"):
                storage.exclusive().__enter__()


def test_new_folders_are_synced_in_their_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    LocalStorage(tmp_path / "store").write("a/b/c", b"x")
    store = tmp_path / "store"
    assert synced == [tmp_path, store, store / "a", store / "a/b"]


@pytest.mark.parametrize("closed", [False, True])
def test_files_are_synced_also_if_their_writer_closed_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    storage = LocalStorage(tmp_path / "store")
    pending = storage.begin()
    file = pending.create("a")
    file.write(b"content")
    if closed:
        file.close()
    pending.publish()
    assert (tmp_path / "store/a").stat().st_ino in synced


def test_a_list_of_a_folder_is_what_lies_below_it(storage: LocalStorage) -> None:
    for name in ("a/x", "a/deep/y", "ab/z"):
        storage.write(name, b"1")
    assert {entry.path for entry in storage.entries("a")} == {"a/x", "a/deep/y"}
    assert list(storage.entries("none")) == []
