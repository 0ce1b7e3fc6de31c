"""Files of replaced records are removed, unless the partition was made of the same again or is being made."""

from pathlib import Path

import pytest

from resources.ledger.ledger import Ledger, lease_name
from resources.ledger.obsolete import remove_obsolete
from resources.ledger.records import FileRecord, Record
from resources.storage.holders import Process
from resources.storage.leases import Held
from resources.storage.local.store import LocalStorage

KEY = ("asset", "key")
OLD, NEW = "asset/key.old", "asset/key.new"
ME, OTHER = (Process(1, "host", "2026-01-01T00:00:00+00:00", "", nonce * 16) for nonce in "01")


def record(*paths: str) -> Record:
    files = [FileRecord(path=path, bytes=1, digest="") for path in paths]
    return Record(
        asset="asset", partition="key", recipe="", digest="", inputs={}, parameters={}, code_version="1", files=files
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with one partition, whose record names the new file; the old one is there too."""
    ledger = Ledger(LocalStorage(tmp_path / "store", sync=False))
    for path in (OLD, NEW):
        ledger.storage.write(path, b"x")
    ledger.write(record(NEW))
    return ledger


def left(ledger: Ledger) -> set[str]:
    return set(ledger.storage.paths("asset"))


def test_what_a_record_names_no_more_is_removed(ledger: Ledger) -> None:
    assert remove_obsolete(ledger, {KEY: {OLD}}, ME) == 1
    assert left(ledger) == {NEW}
    ledger.forget(*KEY)
    assert remove_obsolete(ledger, {KEY: {NEW}}, ME) == 1
    assert left(ledger) == set()


def test_what_another_builder_has_committed_again_stays(ledger: Ledger) -> None:
    Ledger(ledger.storage).write(record(OLD))
    assert remove_obsolete(ledger, {KEY: {OLD, NEW}}, ME) == 1
    assert left(ledger) == {OLD}


def test_what_another_builder_writes_now_is_left_alone(ledger: Ledger) -> None:
    lease = ledger.storage.lease(lease_name(*KEY), OTHER)
    assert not isinstance(lease, Held)
    assert remove_obsolete(ledger, {KEY: {OLD}}, ME) == 0
    assert left(ledger) == {OLD, NEW}
    lease.release()
    assert remove_obsolete(ledger, {KEY: {OLD}}, ME) == 1


def test_what_a_damaged_record_may_name_stays(ledger: Ledger) -> None:
    ledger.storage.write("ledger/asset/key.json", b"{")
    assert remove_obsolete(ledger, {KEY: {OLD, NEW}}, ME) == 0
    assert left(ledger) == {OLD, NEW}
