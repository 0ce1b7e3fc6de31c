"""Commit records: written whole, read once, and worth nothing when damaged."""

import errno
import os
import re
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.hashing import content_digest
from resources.ledger.ledger import (
    FileRecord,
    Ledger,
    Record,
    encode_record,
    recipe_digest,
    record_path,
)
from resources.ledger.snapshots import Seen, decode_snapshot, encode_snapshot
from resources.storage.local import store
from resources.storage.local.store import LocalStorage


def record(partition: str | None, digest: str = "d", asset: str = "a") -> Record:
    return Record(
        asset=asset,
        partition=partition,
        recipe="r",
        digest=digest,
        inputs={"up/x": "1"},
        parameters={"k": [1, {"n": None}]},
        code_version="1",
        files=[FileRecord("a/x.npy", 7, "f", 3)],
        segments={"band-00": "s"},
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(LocalStorage(tmp_path, sync=False))


def test_what_is_written_is_read(ledger: Ledger) -> None:
    for key in ("one", "two", None):
        ledger.write(record(key))
    assert ledger.read("a", "one") == record("one")
    assert ledger.records("a") == {key: record(key) for key in ("one", "two", None)}
    assert ledger.read("a", "three") is None
    assert ledger.records("b") == {}
    assert ledger.assets() == {"a"}


def test_an_asset_with_a_slash_does_not_hold_its_neighbours(ledger: Ledger) -> None:
    ledger.write(record("x", asset="tokens"))
    ledger.write(record("x", asset="tokens/train"))
    assert set(ledger.records("tokens")) == {"x"}
    assert ledger.assets() == {"tokens", "tokens/train"}


def test_assets_are_known_before_and_after_a_look(ledger: Ledger) -> None:
    for asset in ("a", "b/c", "b/d"):
        ledger.write(record("one", asset=asset))
    assert ledger.assets() == {"a", "b/c", "b/d"}
    ledger.records("a")
    ledger.records("b/c")
    assert ledger.records("new") == {}
    for asset in ("new", "b/e"):
        ledger.write(record("one", asset=asset))
    assert ledger.assets() == {"a", "b/c", "b/d", "b/e", "new"}


def test_assets_that_were_listed_together_are_read_as_one_by_one(ledger: Ledger) -> None:
    for number in range(12):
        ledger.write(record(f"key-{number}", asset="many"))
    ledger.write(record(None, asset="one"))
    other = Ledger(ledger.storage)
    with other.listed(["many", "one", "none"]):
        found = {asset: other.records(asset) for asset in ("many", "one", "none")}
    assert found == {asset: Ledger(ledger.storage).records(asset) for asset in found}
    with other.listed(["one"]):
        pass
    ledger.write(record(None, digest="another", asset="one"))
    assert other.records("one")[None].digest == "another", "a listing counts only where it was made"


def test_changes_and_removals_are_seen_by_a_ledger_that_looked_before(ledger: Ledger) -> None:
    for number in range(30):
        ledger.write(record(f"p{number}"))
    assert len(ledger.records("a")) == 30
    other = Ledger(ledger.storage)
    other.write(record("p3", digest="changed"))
    other.forget("a", "p4")
    other.write(record("p30"))
    found = ledger.records("a")
    assert found["p3"].digest == "changed"
    assert "p4" not in found
    assert "p30" in found


def test_a_record_that_is_rewritten_without_another_time_is_read_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "settled", lambda _: False)
    for digest in ("d", "e"):
        ledger.write(record("one", digest))
        os.utime(ledger.storage.fetch(record_path("a", "one")), (5, 5))
        assert ledger.records("a") == {"one": record("one", digest)}
        assert Ledger(ledger.storage).records("a") == {"one": record("one", digest)}


def test_a_second_look_reads_one_snapshot_and_no_record(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(100):
        ledger.write(record(f"p{number}"))
    ledger.records("a")
    opened: list[str] = []
    plain = LocalStorage.open

    def counting(storage: LocalStorage, path: str) -> BinaryIO:
        opened.append(path)
        return plain(storage, path)

    monkeypatch.setattr(LocalStorage, "open", counting)
    again = Ledger(ledger.storage)
    assert len(again.records("a")) == 100
    assert len(again.records("a")) == 100
    assert opened == ["ledger/.snapshots/a.json"]


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[1]", b'{"x": {"bytes": 1}}', b"\xff\xfe"])
def test_a_damaged_snapshot_is_read_anew(ledger: Ledger, content: bytes) -> None:
    for number in range(20):
        ledger.write(record(f"p{number}"))
    ledger.records("a")
    (snapshot,) = [entry.path for entry in ledger.storage.entries("ledger/.snapshots")]
    ledger.storage.write(snapshot, content)
    assert len(Ledger(ledger.storage).records("a")) == 20


def test_a_record_in_another_partitions_place_is_none(ledger: Ledger) -> None:
    ledger.write(record("one"))
    with ledger.storage.open(record_path("a", "one")) as file:
        ledger.storage.write(record_path("a", "two"), file.read())
    assert set(ledger.records("a")) == {"one"}
    with pytest.raises(LedgerError, match="it is the record of a/one"):
        ledger.read("a", "two")
    assert record_path("a", "two") in ledger.unreadable
    ledger.write(record("two"))
    assert set(ledger.records("a")) == {"one", "two"}
    assert not ledger.unreadable


@given(content=st.binary(max_size=60))
def test_no_bytes_in_a_record_are_a_crash(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    ledger = Ledger(LocalStorage(tmp_path_factory.getbasetemp() / "fuzz", sync=False))
    ledger.storage.write(record_path("a", "one"), content)
    assert ledger.records("a") == {}


def flipped(content: bytes, place: int, mask: int) -> bytes:
    """The content with one byte changed."""
    changed = bytearray(content)
    changed[place % len(changed)] ^= mask
    return bytes(changed)


FLIPS = {"place": st.integers(0, 10_000), "mask": st.integers(1, 255)}


@given(**FLIPS)
def test_no_flipped_byte_of_a_record_is_believed(
    tmp_path_factory: pytest.TempPathFactory, place: int, mask: int
) -> None:
    storage = LocalStorage(tmp_path_factory.getbasetemp() / "flips", sync=False)
    path = record_path("a", "one")
    storage.write(path, flipped(encode_record(record("one")), place, mask))
    ledger = Ledger(storage, snapshots=False)
    assert ledger.records("a") == {}
    assert set(ledger.unreadable) == {path}


def test_a_record_without_its_files_is_damaged(ledger: Ledger) -> None:
    for content in (encode_record(record("one")), msgspec.json.format(msgspec.json.encode(record("one")), indent=1)):
        emptied = re.sub(rb'"files": \[.*?\],\n "segments"', b'"files": [],\n "segments"', content, flags=re.DOTALL)
        assert emptied != content
        ledger.storage.write(record_path("a", "one"), emptied)
        assert ledger.records("a") == {}


@given(**FLIPS)
def test_a_flipped_byte_of_a_snapshot_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, place: int, mask: int
) -> None:
    storage = LocalStorage(tmp_path_factory.getbasetemp() / "snapshots", sync=False)
    path = "ledger/.snapshots/a.json"
    if storage.stat(path) is None:
        for number in range(20):
            Ledger(storage).write(record(f"p{number}"))
    expected = Ledger(storage).records("a")
    with storage.open(path) as file:
        content = file.read()
    storage.write(path, flipped(content, place, mask))
    assert Ledger(storage).records("a") == expected


def test_a_snapshot_of_another_shape_is_made_anew(ledger: Ledger) -> None:
    for number in range(20):
        ledger.write(record(f"p{number}"))
    expected = ledger.records("a")
    path = "ledger/.snapshots/a.json"
    entries = {entry.path: entry for entry in ledger.storage.entries("ledger/a")}
    rows = {
        key: {"bytes": entry.bytes, "version": entry.version, "record": record(key, digest="other")}
        for key in expected
        if (entry := entries[record_path("a", key)])
    }
    body = msgspec.json.encode(rows)
    other = content_digest(body).encode() + b"\n" + body
    ledger.storage.write(path, other)
    assert Ledger(ledger.storage).records("a") == expected
    with ledger.storage.open(path) as file:
        assert file.read() != other


def test_a_snapshot_holds_once_what_records_have_in_common() -> None:
    known = {f"p{number}": Seen(number, "v", record(f"p{number}")) for number in range(20)}
    known["q"] = Seen(1, "v", msgspec.structs.replace(record("q"), parameters={"k": [2, {"n": None}]}))
    content = encode_snapshot(known)
    assert content.count(b'"k":') == 2
    found = decode_snapshot(content)
    assert found == known
    assert found["p1"].record.parameters is found["p2"].record.parameters


def test_a_snapshot_that_cannot_be_opened_is_forgiven(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        ledger.write(record(f"p{number}"))
    opening = LocalStorage.open

    def refuse(storage: LocalStorage, path: str) -> BinaryIO:
        if ".snapshots" in path:
            raise OSError(errno.EIO, "Input/output error")
        return opening(storage, path)

    monkeypatch.setattr(LocalStorage, "open", refuse)
    assert len(ledger.records("a")) == 20


def test_a_recipe_depends_on_every_part_and_on_the_order_of_inputs() -> None:
    base = recipe_digest("a", "1", {"x": 1, "y": 2}, {"u": "1", "v": "2"})
    assert recipe_digest("a", "1", {"y": 2, "x": 1}, {"u": "1", "v": "2"}) == base
    others = [
        recipe_digest("b", "1", {"x": 1, "y": 2}, {"u": "1", "v": "2"}),
        recipe_digest("a", "2", {"x": 1, "y": 2}, {"u": "1", "v": "2"}),
        recipe_digest("a", "1", {"x": 1, "y": "2"}, {"u": "1", "v": "2"}),
        recipe_digest("a", "1", {"x": 1, "y": 2}, {"u": "1", "v": "3"}),
        recipe_digest("a", "1", {"x": 1, "y": 2}, {"v": "2", "u": "1"}),
    ]
    assert len({base, *others}) == 6
