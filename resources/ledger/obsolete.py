"""Removes the files of replaced records while other builders may commit the same partitions."""

from collections.abc import Collection, Mapping
from contextlib import suppress

from resources.errors import LeaseLostError, LedgerError
from resources.ledger.ledger import Ledger, lease_name
from resources.storage.holders import Process
from resources.storage.leases import Held, Lease
from resources.tidying import kept_if_not_removed

Key = tuple[str, str | None]


def remove_obsolete(ledger: Ledger, replaced: Mapping[Key, Collection[str]], builder: Process) -> int:
    """Removes files that records of these partitions (asset, key) named; returns how many.

    A partition may be rebuilt meanwhile with its earlier files. So its record is read under its lease, and files that
    it names are kept. Files of a partition that another process is writing, or whose record is damaged, are left for
    `corpus clean`.
    """
    removed = 0
    for key, paths in replaced.items():
        if paths:
            with kept_if_not_removed(min(paths), "no record names it any more; `corpus clean` removes it"):
                removed += _remove(ledger, key, paths, builder)
    return removed


def _remove(ledger: Ledger, key: Key, paths: Collection[str], builder: Process) -> int:
    lease = ledger.storage.lease(lease_name(*key), builder)
    if isinstance(lease, Held):
        return 0
    try:
        return _remove_unnamed(ledger, key, paths, lease)
    finally:
        lease.release()


def _remove_unnamed(ledger: Ledger, key: Key, paths: Collection[str], lease: Lease) -> int:
    removed = 0
    with suppress(LedgerError, LeaseLostError):
        record = ledger.read(*key)
        named = {file.path for file in record.files} if record else set[str]()
        for path in sorted({*paths} - named):
            lease.require()
            ledger.storage.delete(path)
            removed += 1
    return removed
