"""The promises of the storage interface, kept by every store."""

import io
import pickle
import random

import numpy as np
import pytest

from resources.errors import StorageError
from resources.storage.holders import this_process
from resources.storage.interface import Storage

LARGE = random.Random(7).randbytes(21 << 20)
"""More than two parts of the default size, and no round number of them."""


def put(storage: Storage, **files: bytes) -> dict[str, str]:
    """Publishes files together; returns where each is stored."""
    unpublished = storage.begin()
    try:
        for path, content in files.items():
            unpublished.create(path).write(content)
        unpublished.prepare()
        stored = {path: unpublished.stored(path) for path in files}
        unpublished.publish()
        return stored
    finally:
        unpublished.discard()


def test_files_appear_with_their_content(storage: Storage) -> None:
    stored = put(storage, **{"a/one": b"content", "a/two": b"", "splits/three": b"plain"})
    assert {entry.path: entry.bytes for entry in storage.entries("")} == {
        stored["a/one"]: 7,
        stored["a/two"]: 0,
        "splits/three": 5,
    }
    assert set(storage.paths("a")) == {stored["a/one"], stored["a/two"]}
    for path, content in (("a/one", b"content"), ("a/two", b""), ("splits/three", b"plain")):
        with storage.open(stored[path]) as file:
            assert file.read() == content
        entry = storage.stat(stored[path])
        assert entry is not None and entry.bytes == len(content)
        with open(storage.fetch(stored[path]), "rb") as file:  # noqa: PTH123
            assert file.read() == content


def test_who_builds_is_seen_by_who_only_looks(storage: Storage) -> None:
    assert storage.at_work() == []
    builder = this_process()
    with storage.shared(builder):
        (words,) = storage.at_work()
        assert words.startswith(builder.words.rstrip(","))
    assert storage.at_work() == []


def test_what_is_discarded_was_never_there(storage: Storage) -> None:
    unpublished = storage.begin()
    unpublished.create("a/one").write(b"x")
    unpublished.scratch().write(b"y")
    unpublished.discard()
    assert list(storage.entries("")) == []


def test_a_file_that_its_writer_closed_is_published(storage: Storage) -> None:
    unpublished = storage.begin()
    with unpublished.create("a/one") as file:
        file.write(b"xxxx")
        file.seek(1)
        file.write(b"yy")
    unpublished.prepare()
    path = unpublished.stored("a/one")
    assert unpublished.size("a/one") in (None, 4)
    unpublished.publish()
    assert storage.read(path, 0, 9) == b"xyyx"


def test_a_large_file_is_read_in_every_way(storage: Storage) -> None:
    path = put(storage, **{"a/large.gz": LARGE})["a/large.gz"]
    with storage.open(path) as file:
        assert file.read() == LARGE
    with storage.open(path) as file:
        assert b"".join(iter(lambda: file.read(777_777), b"")) == LARGE
    assert storage.read(path, 9 << 20, 5) == LARGE[9 << 20 :][:5]
    assert storage.read(path, len(LARGE) - 3, 10) == LARGE[-3:]
    assert storage.read(path, len(LARGE), 10) == storage.read(path, 2 * len(LARGE), 10) == b""


def test_places_are_sought_as_in_a_file(storage: Storage) -> None:
    path = put(storage, **{"a/large.gz": LARGE})["a/large.gz"]
    chance, same = random.Random(1), io.BytesIO(LARGE)
    with storage.open(path) as file:
        for _ in range(60):
            whence = chance.choice([0, 1, 2])
            offset = chance.randrange(len(LARGE)) if whence == 0 else -chance.randrange(min(1 << 16, same.tell() + 1))
            assert file.seek(offset, whence) == same.seek(offset, whence)
            size = chance.choice([0, 1, 100, 1 << 18])
            assert file.read(size) == same.read(size)
            assert file.tell() == same.tell()


@pytest.mark.parametrize("rows", [3, 400_000])
def test_an_array_is_mapped(storage: Storage, rows: int) -> None:
    array, content = np.arange(rows), io.BytesIO()
    np.save(content, array)
    path = put(storage, **{"a/rows.npy": content.getvalue()})["a/rows.npy"]
    for _ in range(2):
        assert np.array_equal(np.load(storage.fetch(path), mmap_mode="r"), array)
        assert storage.read(path, 0, 6) == b"\x93NUMPY"
        with storage.open(path) as file:
            assert file.read() == content.getvalue()


def test_what_is_absent_is_said(storage: Storage) -> None:
    storage.delete("a/none.npy")
    assert storage.stat("a/none.npy") is None
    assert list(storage.entries("a")) == []
    with pytest.raises(FileNotFoundError):
        storage.open("a/none.npy")
    with pytest.raises(FileNotFoundError):
        storage.read("a/none.npy", 0, 1)
    with pytest.raises(FileNotFoundError), open(storage.fetch("a/none.npy"), "rb"):  # noqa: PTH123
        pass


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/hosts", "a/.."])
def test_paths_stay_below_the_root(storage: Storage, path: str) -> None:
    for use in (storage.open, storage.stat, storage.delete, storage.begin().create):
        with pytest.raises(StorageError, match="relative"):
            use(path)


def test_a_written_file_replaces_the_older_at_once(storage: Storage) -> None:
    storage.write("owner.json", b"one")
    before = storage.stat("owner.json")
    storage.write("owner.json", b"another")
    after = storage.stat("owner.json")
    assert before is not None and after is not None
    assert (before.bytes, after.bytes) == (3, 7)
    assert before.version != after.version
    storage.delete("owner.json")
    assert storage.stat("owner.json") is None


def test_a_listing_of_many_files_is_whole(storage: Storage) -> None:
    names = {f"many/{number:04d} +%é.json" for number in range(1005)}
    for name in names:
        storage.write(name, b"{}")
    storage.write("many-others/x", b"")
    assert {entry.path for entry in storage.entries("many")} == names
    assert {entry.bytes for entry in storage.entries("many")} == {2}


def test_the_folders_of_a_folder_are_named(storage: Storage) -> None:
    assert set(storage.folders("ledger")) == set()
    for path in ("ledger/one/a.json", "ledger/one/b.json", "ledger/two +é/deep/c.json", "ledger/file", "other/x/y"):
        storage.write(path, b"{}")
    assert set(storage.folders("ledger")) == {"one", "two +é"}


def test_a_store_is_sent_to_workers(storage: Storage) -> None:
    storage.write("owner.json", b"one")
    sent = pickle.loads(pickle.dumps(storage))
    assert sent == storage and hash(sent) == hash(storage)
    assert sent.read("owner.json", 0, 3) == b"one"


def test_one_builder_at_a_time(storage: Storage) -> None:
    with storage.exclusive(), storage.exclusive():
        pass
    with storage.exclusive():
        pass
