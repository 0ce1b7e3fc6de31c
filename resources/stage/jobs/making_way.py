"""Removes the records of other partitions that name a file which a commit is about to write.

Most files have unique names. Some names are made for readers and not for the partition: numbered files of a trainer, or
files of a stage that had another number of partitions or another name. If a partition were committed over such a file,
the other record would be wrong.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from resources.errors import StorageError
from resources.ledger.ledger import Ledger, Record, partition_name, record_path
from resources.storage.interface import Storage

Key = tuple[str, str | None]
_TRIES = 8


def make_way(storage: Storage, look: str, committed: Key, paths: Collection[str], own: Record | None) -> list[Record]:
    """Removes the records of other partitions that name these paths; returns them.

    Called before the files are published.

    look: a name for the plan that is carried out; its first state is read once.
    paths: those of the partition's new files that replace files.
    own: the present record of the partition; no other record names its files.
    """
    wanted = set(paths) - {file.path for file in (own.files if own else ())}
    if not wanted:
        return []
    hashes = _hashes(wanted)
    found = []
    for asset, named in _named(storage, look).items():
        if np.isin(hashes, named).any():
            ledger = Ledger(storage)
            keys = [key for key, record in ledger.records(asset).items() if _names(record, wanted)]
            found += [(asset, key) for key in keys if (asset, key) != committed]
    removed = (_removed(Ledger(storage), key, wanted, partition_name(*committed)) for key in found)
    return [record for record in removed if record is not None]


@lru_cache(maxsize=1)
def _named(storage: Storage, look: str) -> dict[str, NDArray[np.uint64]]:
    """Returns hashes of all paths that records name, by asset; 8 bytes each, so that a worker can hold them.

    Later commits may be absent: partitions of one plan share no path, whoever builds them.
    """
    del look
    found = {}
    for asset in sorted(Ledger(storage).assets()):
        records = Ledger(storage).records(asset).values()
        found[asset] = _hashes(file.path for record in records for file in record.files)
    return found


def _hashes(paths: Iterable[str]) -> NDArray[np.uint64]:
    return np.fromiter((xxhash.xxh3_64_intdigest(path.encode()) for path in paths), np.uint64)


def _names(record: Record, paths: Collection[str]) -> bool:
    return any(file.path in paths for file in record.files)


def _removed(ledger: Ledger, key: Key, paths: Collection[str], by: str) -> Record | None:
    """Removes the record of a partition if it names one of these paths; returns it, or None.

    Another builder may hold its lease and be rebuilding the partition; its new record will name none of these paths.
    """
    for _ in range(_TRIES):
        entry = ledger.storage.stat(record_path(*key))
        record = ledger.known(*key)
        if entry is None or record is None or not _names(record, paths):
            return None
        if ledger.give_way(*key, entry.version, by):
            return record
    raise StorageError(f"{record_path(*key)}: names files of {by}, and is written again and again; build again")
