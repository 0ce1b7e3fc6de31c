"""The ledger: one commit record per partition, the only truth about what exists and what it was made from.

A partition exists if and only if its record does. Records are small JSON files written last and atomically
(design: `docs/architecture.md`, "The ledger").
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

import msgspec

from resources.errors import LedgerError
from resources.hashing import content_digest
from resources.storage.interface import Entry, Storage

FOLDER = "ledger"
SNAPSHOTS = "ledger/.snapshots"
UNPARTITIONED = "_"


class FileRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of a partition. `digest` is over the uncompressed content, so the codec does not matter.

    A `derived` file holds what the partition's other files say anyway, to spare readers the work: it is no part of the
    content digest, and a reader does without it in partitions that were made before it was invented.
    """

    path: str
    bytes: int
    digest: str
    rows: int | None = None
    derived: bool = False


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The commit record of one partition.

    `recipe` is the digest of everything the content depends on; `digest` is that of the content itself. `segments`
    holds the digests of named pieces of the content (a band, a chunk) that downstream partitions may read alone.
    `counters` are numbers that a stage or a gate reads, each with a digest in `segments`; `statistics` are numbers for
    people, which no stage reads. `seen` is the size and modification token of a raw file when it was digested; the plan
    compares them with the file.
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
    counters: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    statistics: dict[str, Any] = {}
    created: str = ""
    versions: dict[str, str] = {}

    def digest_of(self, segment: str | None) -> str:
        """Returns the digest of a segment (empty when there is none of that name), or of the whole for None."""
        return self.digest if segment is None else self.segments.get(segment, "")

    def with_seen(self, seen: dict[str, Any]) -> "Record":
        """Returns the record with another size and modification token of its raw file."""
        return msgspec.structs.replace(self, seen=seen)

    @property
    def numbers(self) -> dict[str, Any]:
        """The statistics and, over them, the counters."""
        return {**self.statistics, **self.counters}

    def counters_of(self, name: str) -> Any:
        """Returns the counters under a name; `LedgerError` when there are none.

        Records of version 0.1 have them among the statistics.
        """
        nothing: dict[str, Any] | None = {} if name in self.segments else None
        found = self.counters.get(name, self.statistics.get(name, nothing))
        if found is None:
            raise LedgerError(f"{partition_name(self.asset, self.partition)} has no counters {name!r}; build it again")
        return found


def partition_name(asset: str, partition: str | None) -> str:
    """Returns a partition as messages and recipes name it: `asset/partition`, or the asset alone."""
    return asset if partition is None else f"{asset}/{partition}"


def absent_segment(record: Record, segment: str | None) -> str:
    """Returns in words that a record has no segment of a name, and which it has; empty if it has it, or for None."""
    if segment is None or segment in record.segments:
        return ""
    names = sorted(record.segments)
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    held = ", ".join(map(repr, names[:10])) + more if names else "none"
    return f"segment {segment!r} of {partition_name(record.asset, record.partition)}, whose segments are: {held}"


def recipe_digest(asset: str, code_version: str, parameters: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """Returns the digest of (asset, code version, parameters, content digests of the inputs).

    Equal recipes mean equal content. The order of the parameters does not matter; the order of the inputs does, since
    they are read in it.
    """
    body = msgspec.json.encode([asset, code_version, parameters, list(inputs.items())], order="deterministic")
    return content_digest(body)


def partition_digest(files: Iterable[FileRecord], segments: Mapping[str, str]) -> str:
    """Returns the content digest of a whole partition: its files in order without the derived, and its segments."""
    lines = [f"{file.digest} {file.rows}" for file in files if not file.derived]
    lines += [f"{name}={digest}" for name, digest in sorted(segments.items())]
    return content_digest(*(line.encode() for line in lines))


def record_path(asset: str, partition: str | None) -> str:
    """Returns the path of the record of a partition."""
    return f"{FOLDER}/{asset}/{partition or UNPARTITIONED}.json"


def with_present_names(record: Record, formerly: Mapping[str, str]) -> Record:
    """Returns a record with the present names of its asset and inputs, and the recipe that follows from them.

    A recipe that does not match the record's own values is kept as it is: the partition is stale.
    """
    inputs = {_present_name(name, formerly): digest for name, digest in record.inputs.items()}
    asset = formerly.get(record.asset, record.asset)
    if asset == record.asset and inputs.keys() == record.inputs.keys():
        return record
    recipe = record.recipe
    if recipe == recipe_digest(record.asset, record.code_version, record.parameters, record.inputs):
        recipe = recipe_digest(asset, record.code_version, record.parameters, inputs)
    return msgspec.structs.replace(record, asset=asset, inputs=inputs, recipe=recipe)


def _present_name(name: str, formerly: Mapping[str, str]) -> str:
    """Returns the present name of an input, which is an asset or one partition of it."""
    if name in formerly:
        return formerly[name]
    asset, _, partition = name.rpartition("/")
    return f"{formerly[asset]}/{partition}" if asset in formerly else name


class _Seen(msgspec.Struct):
    bytes: int
    version: str
    record: Record


class _Unchecked(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record of version 0.1, which has no check."""


_RECORD = msgspec.json.Decoder(Record)
_UNCHECKED = msgspec.json.Decoder(_Unchecked)
_SNAPSHOT = msgspec.json.Decoder(dict[str, _Seen])
_CHECK = re.compile(rb',\n "check": "([0-9a-f]{32})"\n}')
_CHECK_BYTES = len(b',\n "check": ""\n}') + 32


class _DamageError(ValueError):
    """The bytes of a record or snapshot are not those that were written."""


DAMAGE = (_DamageError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def encode_record(record: Record) -> bytes:
    """Returns a record as JSON, whose last value `check` is the digest of all bytes before it."""
    head = msgspec.json.format(msgspec.json.encode(record), indent=1).removesuffix(b"\n}")
    return head + b',\n "check": "' + content_digest(head).encode() + b'"\n}'


def decode_record(content: bytes) -> Record:
    """Returns the record of a file; raises one of `DAMAGE` if it is not what was written.

    Records of version 0.1 have no check. Such a record has no unknown key (so that a damaged name of the check is not
    taken for none), and its two digests are those of its own values.
    """
    tail = _CHECK.fullmatch(content[-_CHECK_BYTES:])
    if tail is None:
        _UNCHECKED.decode(content)
        return _consistent(_RECORD.decode(content))
    if content_digest(content[:-_CHECK_BYTES]) != tail[1].decode():
        raise _DamageError("its check does not match")
    return _RECORD.decode(content)


def _consistent(record: Record) -> Record:
    if record.recipe != recipe_digest(record.asset, record.code_version, record.parameters, record.inputs):
        raise _DamageError("its recipe is not that of its values")
    if record.digest != partition_digest(record.files, record.segments):
        raise _DamageError("its digest is not that of its files")
    return record


def _encode_snapshot(known: Mapping[str, _Seen]) -> bytes:
    """Returns a snapshot: the digest of the JSON that follows it."""
    body = msgspec.json.encode(known)
    return content_digest(body).encode() + b"\n" + body


def _decode_snapshot(content: bytes) -> dict[str, _Seen]:
    check, _, body = content.partition(b"\n")
    if content_digest(body).encode() != check:
        raise _DamageError("its check does not match")
    return _SNAPSHOT.decode(body)


class Ledger:
    """Reads and writes commit records; it remembers those it has read, so that reading them again costs one listing.

    formerly: present name of each asset that had another one. Records under the old name count as the asset's own;
    `take_over` moves them. snapshots: False to read every record itself, as `corpus verify --deep` does.
    """

    def __init__(self, storage: Storage, formerly: Mapping[str, str] | None = None, *, snapshots: bool = True) -> None:
        self.storage = storage
        self._snapshots = snapshots
        self._formerly = dict(formerly or {})
        self._old_names = {new: old for old, new in self._formerly.items()}
        self._seen: dict[str, dict[str, _Seen]] = {}
        self._looking = Lock()  # An engine may run jobs as threads of one process.
        self.unreadable: dict[str, str] = {}

    def read(self, asset: str, partition: str | None) -> Record | None:
        """Returns the record of one partition, or None when there is none; `LedgerError` when it is damaged."""
        record = self._read(asset, partition)
        if record is None and (old := self._old_names.get(asset)):
            record = self._read(old, partition)
        return None if record is None else with_present_names(record, self._formerly)

    def _read(self, asset: str, partition: str | None) -> Record | None:
        path = record_path(asset, partition)
        self.unreadable.pop(path, None)
        try:
            with self.storage.open(path) as file:
                record = decode_record(file.read())
        except FileNotFoundError:
            return None
        except DAMAGE as error:
            raise self._damaged(path, str(error)) from None
        if (record.asset, record.partition) != (asset, partition):
            raise self._damaged(path, f"it is the record of {partition_name(record.asset, record.partition)}")
        return record

    def _damaged(self, path: str, why: str) -> LedgerError:
        self.unreadable[path] = why
        return LedgerError(f"{path}: not a commit record ({why}); the next build makes the partition again")

    def write(self, record: Record) -> None:
        """Commits a partition: from now on it exists."""
        self.storage.write(record_path(record.asset, record.partition), encode_record(record))

    def forget(self, asset: str, partition: str | None) -> None:
        """Removes the record: the partition no longer exists, even if its files are still there."""
        self.storage.delete(record_path(asset, partition))

    def records(self, asset: str) -> dict[str | None, Record]:
        """Returns every record of an asset, by partition. Reads only those that changed since the last call.

        A damaged record counts as missing (the next build makes the partition); `unreadable` has the reason.
        """
        found = self._records(asset)
        if old := self._old_names.get(asset):
            found = {**self._records(old), **found}
        return {key: with_present_names(record, self._formerly) for key, record in found.items()}

    def _records(self, asset: str) -> dict[str | None, Record]:
        with self._looking:
            return self._look(asset)

    def _look(self, asset: str) -> dict[str | None, Record]:
        entries = {_partition_of(entry.path): entry for entry in self._list(asset)}
        if not entries and asset not in self._seen:
            return {}
        known = self._known(asset)
        changed = {key for key, entry in entries.items() if not _unchanged(entry, known.get(key))}
        gone = known.keys() - entries.keys()
        for key in changed:
            known.pop(key, None)
            with suppress(LedgerError):
                record = self._read(asset, None if key == UNPARTITIONED else key)
                if record is not None:
                    known[key] = _Seen(entries[key].bytes, entries[key].version, record)
        for key in gone:
            del known[key]
        if self._snapshots and len(changed) + len(gone) > max(8, len(known) // 20):
            # The snapshot only saves time; reading must work on a store that cannot be written.
            with suppress(OSError):
                self.storage.write(_snapshot_path(asset), _encode_snapshot(known))
        return {None if key == UNPARTITIONED else key: seen.record for key, seen in known.items()}

    def take_over(self) -> int:
        """Moves records from old names of assets to the present ones; returns how many there were.

        The caller holds the store. The new record is written before the old one is removed, and both are gone before
        a partition is made again.
        """
        moved = 0
        for old, new in self._formerly.items():
            records = self._records(old)
            present = self._records(new) if records else {}
            for key, record in records.items():
                if key not in present:
                    self.write(with_present_names(record, self._formerly))
                self.forget(old, key)
                moved += 1
            if records:
                self.storage.delete(_snapshot_path(old))
        return moved

    def assets(self) -> set[str]:
        """Returns the names of all assets that have records, whether or not the graph still knows them."""
        paths = (entry.path for entry in self.storage.entries(FOLDER))
        found = {path[len(FOLDER) + 1 :].rpartition("/")[0] for path in paths if not path.startswith(f"{FOLDER}/.")}
        return {self._formerly.get(name, name) for name in found}

    def _known(self, asset: str) -> dict[str, _Seen]:
        if asset not in self._seen:
            self._seen[asset] = self._snapshot(asset) if self._snapshots else {}
        return self._seen[asset]

    def _snapshot(self, asset: str) -> dict[str, _Seen]:
        """Returns what a snapshot says; nothing if it cannot be read, is damaged, or is of version 0.1."""
        with suppress(OSError, *DAMAGE), self.storage.open(_snapshot_path(asset)) as file:
            return _decode_snapshot(file.read())
        return {}

    def _list(self, asset: str) -> list[Entry]:
        depth = asset.count("/") + 2
        return [entry for entry in self.storage.entries(f"{FOLDER}/{asset}") if entry.path.count("/") == depth]


def _snapshot_path(asset: str) -> str:
    return f"{SNAPSHOTS}/{asset.replace('/', '.')}.json"


def _partition_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _unchanged(entry: Entry, seen: _Seen | None) -> bool:
    return seen is not None and (seen.bytes, seen.version) == (entry.bytes, entry.version)
