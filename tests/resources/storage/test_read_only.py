"""A store that is opened to be read: each method of the interface reads, or is refused, and nothing is ever written."""

import errno
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources.errors import ReadOnlyError, StorageError
from resources.ledger.ledger import Ledger
from resources.storage.holders import this_process
from resources.storage.interface import Storage
from resources.storage.read_only import ReadOnlyStorage
from resources.storage.s3.client import traffic
from resources.storage.s3.store import S3Storage
from tests.resources.test_ledger import record

PATH, CONTENT = "ledger/a/one.json", b"the content"


def content(file: Any) -> bytes | None:
    """All of an opened file."""
    if file is None:
        return None
    with file:
        return bytes(file.read())


READS: dict[str, Callable[[Storage], Any]] = {
    "place": lambda store: store.place,
    "identity": lambda store: store.identity,
    "readers": lambda store: store.readers,
    "open": lambda store: content(store.open(PATH)),
    "sequential": lambda store: content(store.sequential(PATH)),
    "from_store": lambda store: content(store.from_store(PATH)),
    "is_fixed": lambda store: store.is_fixed(PATH),
    "at_hand": lambda store: content(store.at_hand(PATH, len(CONTENT))),
    "forget_copy": lambda store: store.forget_copy(PATH),
    "read": lambda store: store.read(PATH, 4, 7),
    "small": lambda store: store.small(PATH, len(CONTENT)),
    "fetch": lambda store: Path(store.fetch(PATH)).read_bytes(),
    "entries": lambda store: sorted(store.entries("")),
    "paths": lambda store: sorted(store.paths("ledger")),
    "folders": lambda store: sorted(store.folders("ledger")),
    "stat": lambda store: store.stat(PATH),
    "at_work": lambda store: store.at_work(),
    "leases": lambda store: sorted(store.leases()),
    "abandoned": lambda store: store.abandoned(),
}
"""What is read, by method; the store and the one that only reads it answer alike."""

REFUSED: dict[str, tuple[Callable[[Storage], Any], str]] = {
    "delete": (lambda store: store.delete(PATH), f"remove {PATH}"),
    "write": (lambda store: store.write(PATH, b"xx"), f"write {PATH} (2 bytes)"),
    "replace": (lambda store: store.replace(PATH, b"xx", "7"), f"replace version 7 of {PATH} (2 bytes)"),
    "remove": (lambda store: store.remove(PATH, b"", "7"), f"remove version 7 of {PATH}"),
    "take_away": (lambda store: store.take_away(PATH, b"", "7"), f"take away version 7 of {PATH}"),
    "begin": (lambda store: store.begin(), "begin files of a partition"),
    "exclusive": (lambda store: store.exclusive(), "be held alone"),
    "require_held": (lambda store: store.require_held(), "say whether it is held"),
    "shares": (lambda store: store.shares, "say whether builders may share it"),
    "shared": (lambda store: store.shared(this_process()), "be shared with process "),
    "lease": (lambda store: store.lease("a/one", this_process()), "lease a/one"),
    "remove_abandoned": (lambda store: store.remove_abandoned(), "remove what killed writers left"),
}
"""What is refused, by method, and what is said to have been asked."""


@pytest.fixture
def filled(storage: Storage) -> Storage:
    storage.write(PATH, CONTENT)
    return storage


def test_every_method_of_the_interface_reads_or_is_refused() -> None:
    methods = {name for name in vars(Storage) if not name.startswith("_")}
    assert READS.keys() | REFUSED.keys() == methods
    assert not READS.keys() & REFUSED.keys()
    assert {name for name in vars(ReadOnlyStorage) if not name.startswith("_")} == methods


@pytest.mark.parametrize("method", READS)
def test_what_reads_gives_what_the_store_gives(filled: Storage, method: str) -> None:
    assert READS[method](ReadOnlyStorage(filled)) == READS[method](filled)


@pytest.mark.parametrize("method", REFUSED)
def test_what_writes_is_refused_and_said(filled: Storage, method: str) -> None:
    ask, words = REFUSED[method]
    before = sorted(filled.entries(""))
    with pytest.raises(ReadOnlyError) as found:
        ask(ReadOnlyStorage(filled))
    assert found.value.asked.startswith(words)
    assert str(found.value) == f"{filled.place} is opened to be read only, and was asked to {found.value.asked}"
    assert sorted(filled.entries("")) == before


def test_reading_sends_no_request_that_writes(bucket: S3Storage) -> None:
    bucket.write(PATH, CONTENT)
    before = traffic().requests
    for ask in READS.values():
        ask(ReadOnlyStorage(bucket))
    sent = {name for name, count in traffic().requests.items() if count != before.get(name, 0)}
    assert sent == {"GetObject", "HeadObject", "ListObjectsV2", "ListMultipartUploads"}


def test_it_is_told_from_no_other_of_its_store_and_can_be_sent_to_a_worker(filled: Storage) -> None:
    store = ReadOnlyStorage(filled)
    sent = pickle.loads(pickle.dumps(store))
    assert sent == store
    assert hash(sent) == hash(store)
    assert content(sent.open(PATH)) == CONTENT


def test_the_refusal_is_one_of_the_store_and_of_the_system() -> None:
    error = ReadOnlyError("/store", "write a (1 bytes)")
    assert isinstance(error, StorageError)
    assert isinstance(error, OSError)
    assert error.errno == errno.EROFS
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.place, sent.asked) == (str(error), error.place, error.asked)


def test_a_ledger_reads_all_records_and_keeps_no_snapshot(storage: Storage) -> None:
    for number in range(20):
        Ledger(storage).write(record(f"part-{number:02}"))
    before = sorted(storage.entries(""))
    assert len(Ledger(ReadOnlyStorage(storage)).records("a")) == 20
    assert sorted(storage.entries("")) == before
    assert len(Ledger(storage).records("a")) == 20
    assert sorted(storage.entries("")) != before
