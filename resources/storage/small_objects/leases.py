"""Leases as small objects of a store, for processes on any machine.

A lease is an object that only one process can create. Its holder writes it anew several times before it expires, and
removes it at the end. Who waits for it takes it over when it was not written for that time by the clock of who waits;
no clock of another machine is believed. A holder that was stopped for so long finds out before it writes, and what it
writes is refused then in any case: a record is replaced only while it is the one that its holder found.
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
"""Seconds for which a look at the sign of a builder is enough to begin; before it writes, a worker looks anew."""

_TIMES = 4  # How often a lease is renewed in the time after which it expires.


class Written(msgspec.Struct, frozen=True):
    """The content of a lease. nonce: another one for each lease. renewal: makes each writing another version.

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
    renewals: what renews leases that are taken.
    quick: the same objects, over requests that are soon given up, for renewals: one that gets no answer must not keep
        others waiting until they expire.
    """

    objects: Objects
    expiry: float
    now: Callable[[], float] = clock
    renewals: Renewals = RENEWALS
    quick: Objects | None = None

    def take(self, name: str, holder: Process, expired: str = "") -> "ObjectLease | Held":
        """Takes a lease, without waiting. name: of a partition. expired: version of a lease that has expired.

        A lease of the same builder is taken over at once: it begins a partition again only after the worker died. So is
        one of a process of this machine that has ended. `BuilderLostError` if others think the builder dead.
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
        """Returns whether nobody works under a lease any more, without a wait."""
        if lease is not None and lease.holder.nonce != holder.nonce and lease.holder.has_ended():
            # Its workers may outlive it for a moment: without its sign they write nothing.
            self.objects.delete(name_of(lease.holder))
            return True
        return lease is not None and lease.holder.nonce == holder.nonce

    def held(self) -> Iterator[tuple[str, str]]:
        """Yields the name of each lease, and who holds it, in words; a dead holder's too."""
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
        """Writes the lease anew; `LeaseLostError` if it was taken over."""
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
        # Who builds alone asks for no lease, so the lease does not show that the builder was given up.
        require_builder(self._leases.objects, self._written.holder, now=self._leases.now)
        self._require_renewed()

    def _require_renewed(self) -> None:
        # Nobody can have waited for the whole time to expire while half of it has not gone by.
        if self._version is None or self._leases.now() - self._begun > self._written.expiry / 2:
            self._renew(self._leases.objects)

    @override
    def release(self) -> None:
        self._leases.renewals.remove(self)
        with suppress(OSError, StorageError):  # What was committed stays so; a lease that is left expires by itself.
            self._require_renewed()
            with self._renewing:
                self._version = None
                self._leases.objects.delete(self._path)


class BuilderLease(Lease):
    """The lease of any partition of a store that cannot hold leases, of its one builder."""

    def __init__(self, objects: Objects, builder: Process) -> None:
        self._objects = objects
        self._builder = builder

    @override
    def require(self) -> None:
        require_builder(self._objects, self._builder)

    @override
    def release(self) -> None:
        return
