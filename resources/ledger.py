"""The ledger: one commit record per partition, the only truth about what exists and what it was made from.

A partition exists if and only if its record does. Records are small JSON files written last and atomically
(design: `docs/architecture.md`, "The ledger").
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from resources.errors import LedgerError
from resources.hashing import content_digest
from resources.storage import Entry, Storage

FOLDER = "ledger"
SNAPSHOTS = "ledger/.snapshots"
UNPARTITIONED = "_"

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


class FileRecord(msgspec.Struct, frozen=True):
    """One file of a partition. `digest` is over the uncompressed content, so the codec does not matter."""

    path: str
    bytes: int
    digest: str
    rows: int | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The commit record of one partition.

    `recipe` is the digest of everything the content depends on; `digest` is that of the content itself. `segments`
    names parts of the content (a band, a chunk) that downstream partitions may read alone. `statistics` are numbers
    about the content and the run; nothing downstream depends on them.
    """

    asset: str
    partition: str | None
    recipe: str
    digest: str
    inputs: dict[str, str]
    parameters: dict[str, Any]
    code_version: str
    files: list[FileRecord]
    segments: dict[str, str] = {}
    statistics: dict[str, Any] = {}
    created: str = ""
    versions: dict[str, str] = {}

    def part_digest(self, segment: str | None) -> str:
        """Digest of one named segment (empty when there is none of that name), or of the whole for None."""
        return self.digest if segment is None else self.segments.get(segment, "")


def recipe_digest(asset: str, code_version: str, parameters: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """Digest of (asset, code version, parameters, content digests of the inputs): equal recipe, equal content.

    The order of the parameters does not matter; that of the inputs does, since it is the order they are read in.
    """
    body = msgspec.json.encode([asset, code_version, parameters, list(inputs.items())], order="deterministic")
    return content_digest(body)


def record_path(asset: str, partition: str | None) -> str:
    """Where the record of a partition lies."""
    return f"{FOLDER}/{asset}/{partition or UNPARTITIONED}.json"


class _Seen(msgspec.Struct):
    bytes: int
    version: str
    record: Record


_RECORD = msgspec.json.Decoder(Record)
_SNAPSHOT = msgspec.json.Decoder(dict[str, _Seen])
_DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Ledger:
    """Reads and writes commit records; remembers what it read, so that a look costs one listing."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._seen: dict[str, dict[str, _Seen]] = {}
        self.unreadable: dict[str, str] = {}

    def read(self, asset: str, partition: str | None) -> Record | None:
        """The record of one partition, or None when it does not exist; `LedgerError` when it is damaged."""
        path = record_path(asset, partition)
        self.unreadable.pop(path, None)
        try:
            with self.storage.open(path) as file:
                record = _RECORD.decode(file.read())
        except FileNotFoundError:
            return None
        except _DAMAGE as error:
            raise self._damaged(path, str(error)) from None
        if (record.asset, record.partition) != (asset, partition):
            raise self._damaged(path, f"it is that of {record.asset}/{record.partition}")
        return record

    def _damaged(self, path: str, why: str) -> LedgerError:
        self.unreadable[path] = why
        return LedgerError(f"{path}: not a commit record ({why}); the next build makes the partition anew")

    def write(self, record: Record) -> None:
        """Commit: from here on the partition exists."""
        body = msgspec.json.format(msgspec.json.encode(record), indent=1)
        self.storage.write(record_path(record.asset, record.partition), body)

    def forget(self, asset: str, partition: str | None) -> None:
        """Remove the record; the partition no longer exists, whatever files are still there."""
        self.storage.delete(record_path(asset, partition))

    def records(self, asset: str) -> dict[str | None, Record]:
        """Every record of an asset, by partition. Reads only those that changed since the last look.

        A damaged record counts as none (the partition is rebuilt) and is kept in `unreadable` with the reason.
        """
        known = self._known(asset)
        entries = {_partition_of(entry.path): entry for entry in self._list(asset)}
        changed = {key for key, entry in entries.items() if not _unchanged(entry, known.get(key))}
        gone = known.keys() - entries.keys()
        for key in changed:
            known.pop(key, None)
            with suppress(LedgerError):
                record = self.read(asset, None if key == UNPARTITIONED else key)
                if record is not None:
                    known[key] = _Seen(entries[key].bytes, entries[key].version, record)
        for key in gone:
            del known[key]
        if len(changed) + len(gone) > max(8, len(known) // 20):
            # The snapshot only saves time; a look must work on a store that cannot be written.
            with suppress(OSError):
                self.storage.write(_snapshot_path(asset), msgspec.json.encode(known))
        return {None if key == UNPARTITIONED else key: seen.record for key, seen in known.items()}

    def assets(self) -> set[str]:
        """Names of all assets that have records, whether or not the graph still knows them."""
        found = (entry.path for entry in self.storage.entries(FOLDER))
        return {path[len(FOLDER) + 1 :].rpartition("/")[0] for path in found if not path.startswith(SNAPSHOTS)}

    def _known(self, asset: str) -> dict[str, _Seen]:
        if asset not in self._seen:
            self._seen[asset] = {}
            with (
                suppress(FileNotFoundError, *_DAMAGE),
                self.storage.open(_snapshot_path(asset)) as file,
            ):
                self._seen[asset] = _SNAPSHOT.decode(file.read())
        return self._seen[asset]

    def _list(self, asset: str) -> list[Entry]:
        depth = asset.count("/") + 2
        return [entry for entry in self.storage.entries(f"{FOLDER}/{asset}") if entry.path.count("/") == depth]


def _snapshot_path(asset: str) -> str:
    return f"{SNAPSHOTS}/{asset.replace('/', '.')}.json"


def _partition_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _unchanged(entry: Entry, seen: _Seen | None) -> bool:
    return seen is not None and (seen.bytes, seen.version) == (entry.bytes, entry.version)
