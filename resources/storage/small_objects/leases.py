"""Leases as small objects of a store, for processes on any machine.

A lease is an object that only one process can create. Its holder renews it several times before it expires, and removes
it at the end. A waiting process takes it over if it was not renewed for that time, measured by the waiting process's
own clock; clocks of other machines are never compared. A holder that was stopped for so long finds out before it
writes. Its write would be refused in any case: a record is replaced only if it is still the one that the holder found.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from typing_extensions import override

from resources.errors import LeaseLostError, StorageError
from resources.storage.holders import Process
from resources.storage.leases import Held, Lease
from resources.storage.small_objects.builders import name_of, require_builder
from resources.storage.small_objects.conditional import Objects, create, replace
from resources.storage.small_objects.renewal import RENEWALS, Renewals, clock

FOLDER = ".leases"
_RECENT = 1.0
"""Seconds for which an earlier check of a builder is enough to begin work; before it writes, a worker checks again."""

_TIMES = 4  # How often a lease is renewed before it would expire.


class Written(msgspec.Struct, frozen=True):
    """The content of a lease. nonce: unique to each lease. renewal: makes each version different.

    expiry: seconds after which it may be taken over if it is not renewed.
    """

    holder: Process
    expiry: float
    nonce: str
    renewal: int = 0


@dataclass(frozen=True)
class ObjectLeases:
    """The leases of a store.

    expiry: seconds.
    renewals: renews the leases that are taken.
    quick: the same objects with requests of short timeouts, for renewals: one without an answer must not delay others
        until they expire.
    """

    objects: Objects
    expiry: float
    now: Callable[[], float] = clock
    renewals: Renewals = RENEWALS
    quick: Objects | None = None

    def take(self, name: str, holder: Process, expired: str = "") -> "ObjectLease | Held":
        """Takes a lease, without waiting. name: of a partition. expired: version of a lease that has expired.

        A lease of the same builder is taken over at once, since it begins a partition again only after the worker died.
        So is a lease of an ended process of this machine. `BuilderLostError` if others took the builder for dead.
        """
        require_builder(self.objects, holder, _RECENT, self.now)
        path, begun = f"{FOLDER}/{name}.json", self.now()
        mine = Written(holder, self.expiry, secrets.token_hex(8))
        version = create(self.objects, path, msgspec.json.encode(mine))
        if version is None:
            found = self.objects.read(path)
            if found is None:
                return Held("another process")
            theirs = _decoded(found.content)
            if found.version != expired and not self._is_left(theirs, holder):
                return _held(theirs, found.version, self.expiry)
            version = replace(self.objects, path, msgspec.json.encode(mine), found.version)
            if version is None:
                return Held("another process")
        lease = ObjectLease(self, path, mine, version, begun)
        self.renewals.add(lease)
        return lease

    def _is_left(self, lease: "Written | None", holder: Process) -> bool:
        """Returns whether it is certain, without waiting, that no process works under a lease any more."""
        if lease is not None and lease.holder.nonce != holder.nonce and lease.holder.has_ended():
            # Its workers may outlive it for a moment, but write nothing without its sign of life.
            self.objects.delete(name_of(lease.holder))
            return True
        return lease is not None and lease.holder.nonce == holder.nonce

    def held(self) -> Iterator[tuple[str, str]]:
        """Yields the name of each lease, and its holder in words, also if the holder is dead."""
        for path in self.objects.names(FOLDER):
            if (found := self.objects.read(path)) is not None:
                name = path.removeprefix(f"{FOLDER}/").removesuffix(".json")
                yield name, _held(_decoded(found.content), found.version, self.expiry).who


def _decoded(content: bytes) -> Written | None:
    try:
        return msgspec.json.decode(content, type=Written)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _held(theirs: Written | None, version: str, expiry: float) -> Held:
    if theirs is None:
        return Held("another process", version, expiry)
    return Held(theirs.holder.words.rstrip(","), version, theirs.expiry)


class ObjectLease(Lease):
    """A lease that this process has, until it is released or another has taken it over."""

    def __init__(self, leases: ObjectLeases, path: str, written: Written, version: str, begun: float) -> None:
        """begun: when it was last written, or a little before."""
        self._leases = leases
        self._path = path
        self._written = written
        self._version: str | None = version
        self._begun = begun
        self._renewing = threading.Lock()

    @property
    def due(self) -> float:
        """When it has to be renewed next, by the clock of the leases; infinite if it is lost."""
        return float("inf") if self._version is None else self._begun + self._written.expiry / _TIMES

    def renew(self) -> None:
        """Renews the lease; `LeaseLostError` if it was taken over."""
        self._renew(self._leases.quick or self._leases.objects)

    def _renew(self, objects: Objects) -> None:
        with self._renewing:
            begun = self._leases.now()
            written = msgspec.structs.replace(self._written, renewal=self._written.renewal + 1)
            if self._version is not None:
                content = msgspec.json.encode(written)
                self._version = replace(objects, self._path, content, self._version, self._is_ours)
            if self._version is None:
                raise LeaseLostError(f"{self._path}: another builder has taken over this partition")
            self._written, self._begun = written, begun

    def _is_ours(self, content: bytes) -> bool:
        found = _decoded(content)
        return found is not None and found.nonce == self._written.nonce

    @override
    def require(self) -> None:
        # A process that holds the store alone takes no lease, so the lease does not show that others took the builder
        # for dead.
        require_builder(self._leases.objects, self._written.holder, now=self._leases.now)
        self._require_renewed()

    def _require_renewed(self) -> None:
        # Before half of the expiry has passed, no process can have waited for all of it.
        if self._version is None or self._leases.now() - self._begun > self._written.expiry / 2:
            self._renew(self._leases.objects)

    @override
    def release(self) -> None:
        self._leases.renewals.remove(self)
        with suppress(OSError, StorageError):  # What was committed stays; a remaining lease expires.
            self._require_renewed()
            with self._renewing:
                self._version = None
                self._leases.objects.delete(self._path)


class BuilderLease(Lease):
    """The lease of any partition for the only builder of a store that cannot hold leases."""

    def __init__(self, objects: Objects, builder: Process) -> None:
        self._objects = objects
        self._builder = builder

    @override
    def require(self) -> None:
        require_builder(self._objects, self._builder)

    @override
    def release(self) -> None:
        return
