"""Snapshots: all records of an asset in one file, so that a plan opens one file and not one per partition.

They only save time: a snapshot's copy of a record counts only while the record's file is unchanged.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from resources.hashing import content_digest
from resources.ledger.packed_digests import PackedDigests, pack
from resources.ledger.records import FOLDER, DamageError, FileRecord, Record
from resources.storage.interface import Entry, UnsettledEntry

SNAPSHOTS = f"{FOLDER}/.snapshots"
_NO_SIZE = -1


class Seen(msgspec.Struct, gc=False):
    """A record, with size and version of its file when it was read."""

    bytes: int
    version: str
    record: Record

    @classmethod
    def at(cls, entry: Entry, record: Record) -> "Seen":
        """Returns a record with the entry of its file; without a size, to be read again, if it may change unseen."""
        return cls(_NO_SIZE if isinstance(entry, UnsettledEntry) else entry.bytes, entry.version, record)


class _Common(msgspec.Struct, array_like=True, gc=False):
    """The part that nearly all records of an asset have in common; stored and held in memory once."""

    asset: str
    code_version: str
    parameters: dict[str, Any]
    versions: dict[str, str]


Digests = dict[str, str] | tuple[int, bytes]
"""Digests by name; or, packed, the position of their names in the snapshot, and 16 bytes for each digest."""


class _Own(msgspec.Struct, array_like=True, gc=False):
    """The rest of a record; common: position of the `_Common` that belongs to it."""

    bytes: int
    version: str
    common: int
    partition: str | None
    recipe: str
    digest: str
    inputs: Digests
    files: list[FileRecord]
    segments: Digests
    counters: dict[str, Any]
    seen: dict[str, Any]
    statistics: dict[str, Any]
    created: str


class _Snapshot(msgspec.Struct, array_like=True):
    common: list[_Common]
    own: dict[str, _Own]
    names: list[tuple[str, ...]]


_CHECK = 32
_SNAPSHOT = msgspec.json.Decoder(_Snapshot)


def snapshot_path(asset: str) -> str:
    """Returns the path of the snapshot of an asset."""
    return f"{SNAPSHOTS}/{asset.replace('/', '.')}.json"


def encode_snapshot(known: Mapping[str, Seen]) -> bytes:
    """Returns a snapshot: the digest of the JSON that follows it."""
    places: dict[bytes, int] = {}
    common: list[_Common] = []
    own: dict[str, _Own] = {}
    names: dict[tuple[str, ...], int] = {}
    for key, seen in known.items():
        record = seen.record
        shared = _Common(record.asset, record.code_version, record.parameters, record.versions)
        place = places.setdefault(msgspec.json.encode(shared), len(common))
        if place == len(common):
            common.append(shared)
        own[key] = _own(seen, place, names)
    body = msgspec.json.encode(_Snapshot(common, own, list(names)))
    return content_digest(body).encode() + b"\n" + body


def _own(seen: Seen, place: int, names: dict[tuple[str, ...], int]) -> _Own:
    record = seen.record
    return _Own(
        bytes=seen.bytes,
        version=seen.version,
        common=place,
        partition=record.partition,
        recipe=record.recipe,
        digest=record.digest,
        inputs=_stored(record.inputs, names),
        files=record.files,
        segments=_stored(record.segments, names),
        counters=record.counters,
        seen=record.seen,
        statistics=record.statistics,
        created=record.created,
    )


def _stored(digests: Mapping[str, str], names: dict[tuple[str, ...], int]) -> Digests:
    """Returns digests as a snapshot has them; names: positions of names, to which those of these are added."""
    if isinstance(digests, PackedDigests):
        return names.setdefault(digests.names, len(names)), digests.packed
    return dict(digests)


def decode_snapshot(content: bytes) -> dict[str, Seen]:
    """Returns what a snapshot holds; raises one of `DAMAGE` if it is not what was written."""
    check, body = content[:_CHECK], memoryview(content)[_CHECK + 1 :]  # Copying it would double the memory.
    if content_digest(body).encode() != check:
        raise DamageError("its check does not match")
    found = _SNAPSHOT.decode(body)
    try:
        return {key: _seen(own, found.common[own.common], found.names) for key, own in found.own.items()}
    except (IndexError, ValueError):
        raise DamageError("a record lacks its half") from None


def _digests(stored: Digests, names: list[tuple[str, ...]]) -> Mapping[str, str]:
    return pack(stored) if isinstance(stored, dict) else PackedDigests(names[stored[0]], stored[1])


def _seen(own: _Own, common: _Common, names: list[tuple[str, ...]]) -> Seen:
    record = Record(
        asset=common.asset,
        partition=own.partition,
        recipe=own.recipe,
        digest=own.digest,
        inputs=_digests(own.inputs, names),
        parameters=common.parameters,
        code_version=common.code_version,
        files=own.files,
        segments=_digests(own.segments, names),
        counters=own.counters,
        seen=own.seen,
        statistics=own.statistics,
        created=own.created,
        versions=common.versions,
    )
    return Seen(own.bytes, own.version, record)
