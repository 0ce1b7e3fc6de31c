"""Which processes build on a store, as small objects in it, one for each; for processes on any machine.

Each writes down itself first and looks for others afterwards, so of two that may not both go on at least one sees the
other. No condition is needed for that.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import msgspec

from resources.errors import BuilderLostError, HeldError, StorageError
from resources.storage.conditional import Objects, replace
from resources.storage.holders import Process
from resources.storage.renewal import RENEWALS, clock

FOLDER = ".builders"
_NEVER = float("inf")
_ALONE: dict[tuple[int, Objects], bool] = {}
"""The stores that this process builds on, and whether it lets nobody else."""

_SEEN: dict[tuple[Objects, str], float] = {}
"""When this process last saw the sign of a builder, by store and nonce."""

EVERY = 5.0
"""Seconds between two signs of life of a builder, or a quarter of the time after which it is thought dead."""


class Written(msgspec.Struct, frozen=True):
    """What a process writes down while it builds. alone: whether it lets nobody else. sign: makes each another version.

    expiry: seconds without a sign after which it is thought dead.
    """

    process: Process
    alone: bool
    expiry: float
    sign: int = 0


class _Presence:
    """What this process wrote down."""

    def __init__(self, objects: Objects, written: Written, quick: Objects, *, conditional: bool) -> None:
        self._objects = objects
        self._quick = quick
        self._conditional = conditional
        self._written = written
        self._name = name_of(written.process)
        self._renewing = threading.Lock()
        self.due = self._next()
        self._version = objects.write(self._name, msgspec.json.encode(written))

    def _next(self) -> float:
        return clock() + min(EVERY, self._written.expiry / 4)

    def renew(self) -> None:
        """Gives a sign of life; `BuilderLostError`, once, if others think this process dead."""
        with self._renewing:
            if self.due == _NEVER:
                return
            due = self._next()
            written = msgspec.structs.replace(self._written, sign=self._written.sign + 1)
            try:
                self._version = self._replace(msgspec.json.encode(written))
            except BuilderLostError:
                self.due = _NEVER
                raise
            self._written, self.due = written, due

    def _replace(self, content: bytes) -> str:
        """Writes it anew only while it is there; a store without conditions may be asked too early."""
        if not self._conditional:
            require_builder(self._quick, self._written.process)
            return self._quick.write(self._name, content)
        version = replace(self._quick, self._name, content, self._version)
        if version is None:
            raise _lost(self._written.process)
        return version

    def end(self) -> None:
        """Removes it; if that fails, others think this process dead after its time."""
        with self._renewing, suppress(OSError, StorageError):
            self.due = _NEVER
            self._objects.delete(self._name)


def name_of(process: Process) -> str:
    """Returns the name of the object of a builder."""
    return f"{FOLDER}/{process.nonce}.json"


def require_builder(objects: Objects, builder: Process, recent: float = 0.0, now: Callable[[], float] = clock) -> None:
    """Raises `BuilderLostError` if others think a builder dead, which is so for good.

    recent: seconds for which a look of this process is enough, by a clock that goes on while it is stopped.
    """
    time, known = now(), (objects, builder.nonce)
    if time - _SEEN.get(known, -_NEVER) < recent:
        return
    if objects.read(name_of(builder)) is None:
        _SEEN.pop(known, None)
        raise _lost(builder)
    _SEEN[known] = time


def _lost(builder: Process) -> BuilderLostError:
    return BuilderLostError(
        f"{builder.words} gave no sign for so long that others went on without it; what it had committed is kept, "
        "and the next one goes on from there"
    )


@dataclass(frozen=True)
class ObjectBuilders:
    """The builders of a store.

    place: the store, for messages. expiry: seconds. may_share: whether several may build at all, since it holds
    conditions. quick: the same objects, over requests that are soon given up, for signs of life.
    """

    objects: Objects
    place: str
    expiry: float
    may_share: bool
    quick: Objects | None = None

    @contextmanager
    def join(self, builder: Process, *, alone: bool) -> Iterator[Sequence[Process]]:
        """Joins the builders, and yields the others; may be nested. `HeldError` if one of them keeps this one out.

        alone: nobody else may build meanwhile.
        """
        alone = alone or not self.may_share
        known = os.getpid(), self.objects
        if known in _ALONE:
            if alone and not _ALONE[known]:
                raise HeldError(f"{self.place}: this process shares the store with others; it cannot hold it alone")
            yield ()
            return
        _ALONE[known] = alone
        try:
            with self._present(builder, alone=alone) as others:
                yield others
        finally:
            del _ALONE[known]

    @contextmanager
    def _present(self, builder: Process, *, alone: bool) -> Iterator[Sequence[Process]]:
        me = Written(builder, alone, self.expiry)
        presence = _Presence(self.objects, me, self.quick or self.objects, conditional=self.may_share)
        RENEWALS.add(presence)
        try:
            others = list(_others(self.objects, builder))
            for other in others:
                if (reason := self._reason(me, other)) and _lives(self.objects, other):
                    raise HeldError(f"{self.place}: {other.process.words} is building on this store{reason}")
            yield [other.process for other in others]
        finally:
            RENEWALS.remove(presence)
            presence.end()

    def _reason(self, me: Written, other: Written) -> str:
        """Returns why two processes may not both go on; empty if they may."""
        rest = f"; wait until it is done (one that was killed is thought dead {other.expiry:g} s after its last sign)"
        if not self.may_share:
            return f", which ignores the conditions of writes and so cannot hold leases: only one may build{rest}"
        if me.alone or other.alone:
            return rest
        return f", with another configuration{rest}" if me.process.settings != other.process.settings else ""


def _others(objects: Objects, builder: Process) -> Iterator[Written]:
    for name in list(objects.names(FOLDER)):
        if name != name_of(builder) and (other := _read(objects, name)) is not None:
            if other.process.has_ended():
                objects.delete(name)
            else:
                yield other


def _read(objects: Objects, name: str) -> Written | None:
    found = objects.read(name)
    try:
        return None if found is None else msgspec.json.decode(found.content, type=Written)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _lives(
    objects: Objects,
    other: Written,
    now: Callable[[], float] = clock,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Waits for a sign of another builder; returns False, and removes what it wrote, if none comes for its time."""
    begun = now()
    while now() - begun < other.expiry:
        found = _read(objects, name_of(other.process))
        if found is None or found.sign != other.sign:
            return found is not None
        sleep(min(EVERY, other.expiry / 4) / 4)
    objects.delete(name_of(other.process))
    return False
