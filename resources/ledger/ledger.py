"""The ledger: one commit record per partition, the only truth about what exists and what it was made from.

A partition exists if and only if its record does. Records are small JSON files written last and atomically
(design: `docs/ledger.md`).
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock

from resources.errors import LeaseLostError, LedgerError
from resources.ledger.records import (
    ALL,
    DAMAGE,
    FOLDER,
    UNPARTITIONED,
    FileRecord,
    Record,
    absent_segment,
    decode_record,
    encode_record,
    folded,
    lease_name,
    partition_digest,
    partition_name,
    recipe_digest,
    record_path,
)
from resources.ledger.snapshots import SNAPSHOTS, Seen, decode_snapshot, encode_snapshot, snapshot_path
from resources.storage.holders import Process
from resources.storage.interface import Entry, Storage
from resources.storage.leases import Held

__all__ = [
    "ALL",
    "DAMAGE",
    "FOLDER",
    "SNAPSHOTS",
    "UNPARTITIONED",
    "FileRecord",
    "Ledger",
    "Record",
    "absent_segment",
    "assets_of",
    "decode_record",
    "encode_record",
    "folded",
    "lease_name",
    "partition_digest",
    "partition_name",
    "recipe_digest",
    "record_path",
]


REMOVED = b"removed\n"
"""Beginning of the content that replaces a removed record, in a store that can refuse a write but not a removal.

The rest is different each time, so that a late writer does not take another's content for its own.
"""

_GAVE_WAY = REMOVED + b"for "
"""The same for a record that the commit of another partition removed: the holder of the lease may go on."""

_MANY = 4
"""Number of records from which on they are read by several threads."""


class Ledger:
    """Reads and writes commit records; it remembers those it has read, so that reading them again costs one listing.

    snapshots: False to read every record itself, as `corpus verify --deep` does.
    """

    def __init__(self, storage: Storage, *, snapshots: bool = True) -> None:
        self.storage = storage
        self._snapshots = snapshots
        self._seen: dict[str, dict[str, Seen]] = {}
        self._states: dict[str, tuple[str, dict[str | None, Record]]] = {}
        self._listed: dict[str, list[Entry]] = {}
        self._below: dict[str, set[str]] = {}
        self._looking = Lock()  # An engine may run jobs as threads of one process.
        self.unreadable: dict[str, str] = {}

    def read(self, asset: str, partition: str | None) -> Record | None:
        """Returns the record of one partition, or None when there is none; `LedgerError` when it is damaged."""
        path = record_path(asset, partition)
        self.unreadable.pop(path, None)
        try:
            with self.storage.open(path) as file:
                content = file.read()
            if content.startswith(REMOVED):
                return None
            record = decode_record(content)
        except FileNotFoundError:
            return None
        except DAMAGE as error:
            raise self._damaged(path, str(error)) from None
        if (record.asset, record.partition) != (asset, partition):
            raise self._damaged(path, f"it is the record of {partition_name(record.asset, record.partition)}")
        return record

    def known(self, asset: str, partition: str | None) -> Record | None:
        """Returns the record of one partition, or None if there is none or it cannot be read."""
        with suppress(LedgerError):
            return self.read(asset, partition)
        return None

    def _damaged(self, path: str, why: str) -> LedgerError:
        self.unreadable[path] = why
        return LedgerError(f"{path}: not a commit record ({why}); the next build makes the partition again")

    def write(self, record: Record) -> Entry | None:
        """Commits a partition: from now on it exists. Returns the entry of the record."""
        return self.storage.write(record_path(record.asset, record.partition), encode_record(record))

    def replace(self, record: Record, version: str | None) -> Entry | None:
        """Commits a partition in the place of the record of this version, of none for None; see `Storage.replace`."""
        return self.storage.replace(record_path(record.asset, record.partition), encode_record(record), version)

    def version(self, asset: str, partition: str | None) -> str | None:
        """Returns the version of a record as this ledger last saw it; None if it has seen none."""
        seen = self._seen.get(asset, {}).get(partition or UNPARTITIONED)
        return None if seen is None else seen.version

    def forget(self, asset: str, partition: str | None) -> None:
        """Removes the record: the partition no longer exists, even if its files are still there."""
        self.storage.delete(record_path(asset, partition))

    def remove(self, asset: str, partition: str | None, version: str | None) -> str | None:
        """Removes the record of this version (nothing for None); returns the version of what is in its place then.

        `LeaseLostError` if another builder has committed the partition meanwhile; see `Storage.remove`.
        """
        if version is None:
            return None
        path, left = record_path(asset, partition), REMOVED + secrets.token_hex(8).encode()
        try:
            entry = self.storage.remove(path, left, version)
        except LeaseLostError:
            if (given := self._given_way(path)) is None:
                raise
            entry = self.storage.remove(path, left, given)
        return entry and entry.version

    def give_way(self, asset: str, partition: str | None, version: str, to: str) -> bool:
        """Removes the record of this version, without the lease of its partition; returns whether it did.

        to: the partition whose files replace those of this one.
        """
        left = _GAVE_WAY + f"{to} {secrets.token_hex(8)}".encode()
        return self.storage.take_away(record_path(asset, partition), left, version)

    def _given_way(self, path: str) -> str | None:
        """Returns the version of the content that replaced a removed record; None if something else is there."""
        entry = self.storage.stat(path)
        with suppress(FileNotFoundError), self.storage.open(path) as file:
            return entry and entry.version if file.read().startswith(_GAVE_WAY) else None
        return None

    @contextmanager
    def leased(self, asset: str, partition: str | None, builder: Process) -> Iterator[Entry | None]:
        """Takes the lease of a partition; yields its record's entry.

        None if another process has the lease, or has written the record since it was last seen.
        """
        lease = self.storage.lease(lease_name(asset, partition), builder)
        if isinstance(lease, Held):
            yield None
            return
        try:
            entry = self.storage.stat(record_path(asset, partition))
            yield entry if entry is not None and self.version(asset, partition) in (None, entry.version) else None
        finally:
            lease.release()

    def forget_damaged(self, asset: str, partition: str | None, builder: Process) -> None:
        """Removes the record of a damaged partition, unless another builder is rebuilding it or has done so."""
        with suppress(LeaseLostError), self.leased(asset, partition, builder) as unchanged:
            if unchanged:
                self.remove(asset, partition, unchanged.version)

    def records(self, asset: str, state: str | None = None) -> dict[str | None, Record]:
        """Returns every record of an asset, by partition. Reads only those that changed since the last call.

        A damaged record counts as missing (the next build makes the partition); `unreadable` has the reason. state: a
        name for the present state of the records, from a process that holds the store; the same name means that nothing
        needs to be read.
        """
        if state is None:
            return self._records(asset)
        known = self._states.get(asset)
        if known is None or known[0] != state:
            known = self._states[asset] = state, self._records(asset)
        return known[1]

    def _records(self, asset: str) -> dict[str | None, Record]:
        with self._looking:
            return self._look(asset)

    @contextmanager
    def listed(self, assets: Iterable[str]) -> Iterator[None]:
        """Lists assets and reads their snapshots for the first look at each in this context, several at once."""
        names = list(assets)
        try:
            with ThreadPoolExecutor(self.storage.readers) as threads:
                self._listed = dict(zip(names, threads.map(self._listed_one, names), strict=True))
            yield
        finally:
            self._listed = {}

    def _listed_one(self, asset: str) -> list[Entry]:
        if entries := self._list(asset):
            self._known(asset)
        return entries

    def _look(self, asset: str) -> dict[str | None, Record]:
        listed = self._listed.pop(asset, None)
        entries = {_partition_of(entry.path): entry for entry in (self._list(asset) if listed is None else listed)}
        if not entries and asset not in self._seen:
            self._seen[asset] = {}  # Without records, a snapshot is out of date.
            return {}
        known = self._known(asset)
        changed = {key for key, entry in entries.items() if not _unchanged(entry, known.get(key))}
        gone = known.keys() - entries.keys()
        for key, record in self._read_many(asset, changed):
            known.pop(key, None)
            if record is not None:
                known[key] = Seen.at(entries[key], record)
        for key in gone:
            del known[key]
        self._save(asset, len(changed) + len(gone))
        return {None if key == UNPARTITIONED else key: seen.record for key, seen in known.items()}

    def _read_many(self, asset: str, keys: Collection[str]) -> Iterator[tuple[str, Record | None]]:
        """Yields records by the name of their file, None for a damaged one; several at once where that pays."""

        def read(key: str) -> Record | None:
            with suppress(LedgerError):
                return self.read(asset, None if key == UNPARTITIONED else key)
            return None

        if self.storage.readers == 1 or len(keys) < _MANY:
            yield from ((key, read(key)) for key in keys)
            return
        with ThreadPoolExecutor(self.storage.readers) as threads:
            yield from zip(keys, threads.map(read, keys), strict=True)

    def _save(self, asset: str, changed: int) -> None:
        """Writes the snapshot if much of it has changed.

        A failure is ignored: reading must work on a store that is not writable.
        """
        known = self._seen[asset]
        if self._snapshots and _is_much(changed, len(known)):
            with suppress(OSError):
                self.storage.write(snapshot_path(asset), encode_snapshot(known))

    def committed(self, record: Record, entry: Entry | None) -> None:
        """Notes a record that a worker has written or found, so that it need not be read.

        entry: of its file; if None, the next look reads it.
        """
        if entry is not None:
            with self._looking:
                self._known(record.asset)[record.partition or UNPARTITIONED] = Seen.at(entry, record)

    def adopt(self, asset: str, records: Mapping[str | None, Record], changed: int) -> None:
        """Notes all records of an asset with one listing.

        The caller wrote them and holds the store alone. changed: how many of them are new; a few are left to the next
        look.
        """
        if _is_much(changed, len(records)):
            for entry in self._list(asset):
                key = _partition_of(entry.path)
                if (record := records.get(None if key == UNPARTITIONED else key)) is not None:
                    self.committed(record, entry)
            self.save(asset, changed)

    def save(self, asset: str, changed: int) -> None:
        """Writes the snapshot of an asset if much of it has changed. changed: number of its new records."""
        with self._looking:
            if asset in self._seen:
                self._save(asset, changed)

    def assets(self) -> set[str]:
        """Returns the names of all assets that have records, whether or not the graph still knows them."""
        tops = [top for top in self.storage.folders(FOLDER) if not top.startswith(".")]
        return {name for top in tops for name in self._below.get(top) or assets_of(self.storage.paths(_folder(top)))}

    def _known(self, asset: str) -> dict[str, Seen]:
        if asset not in self._seen:
            self._seen[asset] = self._snapshot(asset) if self._snapshots else {}
        return self._seen[asset]

    def _snapshot(self, asset: str) -> dict[str, Seen]:
        """Returns what a snapshot says; nothing if it cannot be read or is damaged."""
        with suppress(OSError, *DAMAGE), self.storage.open(snapshot_path(asset)) as file:
            return decode_snapshot(file.read())
        return {}

    def _list(self, asset: str) -> list[Entry]:
        depth = asset.count("/") + 2
        entries = list(self.storage.entries(_folder(asset)))
        self._below[asset] = assets_of(entry.path for entry in entries)
        return [entry for entry in entries if entry.path.count("/") == depth]


def _is_much(changed: int, records: int) -> bool:
    """Returns whether so many records have changed that a new snapshot saves more than it costs."""
    return changed > max(8, records // 20)


def _folder(asset: str) -> str:
    return f"{FOLDER}/{asset}"


def assets_of(paths: Iterable[str]) -> set[str]:
    """Returns the names of the assets whose records have some paths."""
    return {path[len(FOLDER) + 1 :].rpartition("/")[0] for path in paths}


def _partition_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _unchanged(entry: Entry, seen: Seen | None) -> bool:
    return seen is not None and (seen.bytes, seen.version) == (entry.bytes, entry.version)
