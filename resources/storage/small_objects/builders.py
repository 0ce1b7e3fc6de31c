"""The processes that build on a store, from any machine: a small object in the store for each.

Each process first writes its own object and then looks for others. So of two processes that exclude each other, at
least one sees the other. That needs no conditional writes.
"""

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import msgspec

from resources.errors import BuilderLostError, HeldError, StorageError
from resources.storage.holders import Process
from resources.storage.owner_file import OWNER
from resources.storage.small_objects.conditional import Objects, replace
from resources.storage.small_objects.renewal import RENEWALS, clock

FOLDER = ".builders"
_NEVER = float("inf")
_ALONE: dict[tuple[int, Objects], bool] = {}
"""The stores that this process builds on, and whether it holds them alone."""

_SEEN: dict[tuple[Objects, str], float] = {}
"""When this process last saw a sign of life of a builder, by store and nonce."""

EVERY = 5.0
"""Most seconds between two signs of life of a builder; at most a quarter of its expiry."""


_ATTEMPTS, _PAUSES = 20, (0.02, 0.2)
"""How often a builder tries to join after the others have ended, and the seconds between two attempts.

These are random, so that two builders that began together do not collide for ever.
"""


class Written(msgspec.Struct, frozen=True):
    """The object of a process that builds.

    alone: whether it holds the store alone.
    expiry: seconds without a sign of life after which others take it for dead.
    sign: makes each version different; it starts at random, so that a process that leaves and returns is seen to live.
    """

    process: Process
    alone: bool
    expiry: float
    sign: int = 0


class _Presence:
    """The object of this process."""

    def __init__(self, objects: Objects, written: Written, quick: Objects, *, conditional: bool) -> None:
        self._objects = objects
        self._quick = quick
        self._conditional = conditional
        self._written = written
        self._first = written.sign
        self._name = name_of(written.process)
        self._renewing = threading.Lock()
        self.due = self._next()
        self._version = objects.write(self._name, msgspec.json.encode(written))

    def _next(self) -> float:
        return clock() + min(EVERY, self._written.expiry / 4)

    def renew(self) -> None:
        """Gives a sign of life; `BuilderLostError`, once, if others took this process for dead."""
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
        """Writes the object again, only if it still exists; a store without conditions may be asked too early."""
        if not self._conditional:
            require_builder(self._quick, self._written.process)
            return self._quick.write(self._name, content)
        version = replace(self._quick, self._name, content, self._version, self._is_later)
        if version is None:
            raise _lost(self._quick, self._written.process)
        return version

    def _is_later(self, content: bytes) -> bool:
        """Returns whether a sign is a renewal by this process, since the first was written without a condition."""
        found = _decoded(content)
        return found is not None and found.process == self._written.process and found.sign > self._first

    def end(self) -> None:
        """Removes the object; if that fails, others take this process for dead after its expiry."""
        with self._renewing, suppress(OSError, StorageError):
            self.due = _NEVER
            self._objects.delete(self._name)


def name_of(process: Process) -> str:
    """Returns the name of the object of a builder."""
    return f"{FOLDER}/{process.nonce}.json"


def require_builder(objects: Objects, builder: Process, recent: float = 0.0, now: Callable[[], float] = clock) -> None:
    """Raises `BuilderLostError` if others took a builder for dead, which is final.

    recent: seconds for which an earlier check is enough, by a clock that goes on while the process is stopped.
    """
    time, known = now(), (objects, builder.nonce)
    if time - _SEEN.get(known, -_NEVER) < recent:
        return
    if objects.read(name_of(builder)) is None:
        _SEEN.pop(known, None)
        raise _lost(objects, builder)
    _SEEN[known] = time


def _lost(objects: Objects, builder: Process) -> BuilderLostError:
    """Returns why a builder has to end: the store is gone, or others went on without it."""
    if objects.read(OWNER) is None:
        return BuilderLostError(
            f"the store was removed or emptied while {builder.words.rstrip(',')} built on it: it has no {OWNER} any "
            "more; a new build makes everything again"
        )
    return BuilderLostError(
        f"{builder.words} gave no sign for so long that others went on without it; what it had committed is kept, "
        "and the next one goes on from there"
    )


@dataclass(frozen=True)
class ObjectBuilders:
    """The builders of a store.

    place: the store, for messages.
    expiry: seconds.
    may_share: whether several may build at all, since the store supports conditional writes.
    quick: the same objects with requests of short timeouts, for signs of life.
    """

    objects: Objects
    place: str
    expiry: float
    may_share: bool
    quick: Objects | None = None

    @contextmanager
    def join(self, builder: Process, *, alone: bool) -> Iterator[Sequence[Process]]:
        """Joins the builders, and yields the others; may be nested.

        `HeldError` if one of them excludes this one. alone: no other process may build meanwhile.
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
        with ExitStack() as held:
            others = self._enter(Written(builder, alone, self.expiry), held)
            seen = clock()
            yield [other.process for other in others]
            with suppress(OSError, StorageError):  # The build is done; this only tidies up.
                _remove_silent(self.objects, others, clock() - seen)

    def _enter(self, me: Written, held: ExitStack) -> list[Written]:
        """Writes this process down; returns the others. `HeldError` if a living one excludes this one.

        While it waits to learn whether others live, it is not written down. Otherwise several processes that begin
        together and want the store alone for a moment would all exclude each other.
        """
        for _ in range(_ATTEMPTS):
            with ExitStack() as attempt:
                attempt.enter_context(self._written_down(msgspec.structs.replace(me, sign=secrets.randbits(32))))
                others = list(_others(self.objects, me.process))
                keep_out = [other for other in others if self._reason(me, other)]
                if not keep_out:
                    held.push(attempt.pop_all())
                    return others
            if living := _living(self.objects, keep_out, lambda other: bool(self._reason(me, other))):
                raise self._held(me, living)
            time.sleep(random.uniform(*_PAUSES))
        raise self._held(me, keep_out[0])

    @contextmanager
    def _written_down(self, me: Written) -> Iterator[None]:
        presence = _Presence(self.objects, me, self.quick or self.objects, conditional=self.may_share)
        RENEWALS.add(presence)
        try:
            yield
        finally:
            RENEWALS.remove(presence)
            presence.end()

    def _held(self, me: Written, other: Written) -> HeldError:
        return HeldError(f"{self.place}: {other.process.words} is building on this store{self._reason(me, other)}")

    def _reason(self, me: Written, other: Written) -> str:
        """Returns why two processes exclude each other; empty if they do not."""
        rest = f"; wait until it is done (one that was killed is thought dead {other.expiry:g} s after its last sign)"
        if not self.may_share:
            return f", which ignores the conditions of writes and so cannot hold leases: only one may build{rest}"
        if me.alone or other.alone:
            return rest
        return f", with another configuration{rest}" if me.process.settings != other.process.settings else ""


def written_down(objects: Objects) -> Iterator[Process]:
    """Yields the processes that wrote themselves down, except those that have ended on this machine.

    One that was killed on another machine stays until it expires and another builder comes.
    """
    found = (_read(objects, name) for name in list(objects.names(FOLDER)))
    return (one.process for one in found if one is not None and not one.process.has_ended())


def _others(objects: Objects, builder: Process) -> Iterator[Written]:
    for name in list(objects.names(FOLDER)):
        if name != name_of(builder) and (other := _read(objects, name)) is not None:
            if other.process.has_ended():
                objects.delete(name)
            else:
                yield other


def _read(objects: Objects, name: str) -> Written | None:
    found = objects.read(name)
    return None if found is None else _decoded(found.content)


def _decoded(content: bytes) -> Written | None:
    try:
        return msgspec.json.decode(content, type=Written)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _living(
    objects: Objects,
    others: Sequence[Written],
    keeps_out: Callable[[Written], bool],
    now: Callable[[], float] = clock,
    sleep: Callable[[float], None] = time.sleep,
) -> Written | None:
    """Waits for a sign of life of any of some builders, at most for the expiry of each; returns the first one.

    Removes the objects of those that give none. None if all are dead, have ended, or no longer exclude this one: a
    builder that held the store alone for a moment may share it now.
    """
    begun, silent = now(), list(others)
    while silent:
        waited = now() - begun  # Before reading: this process may be stopped between the two.
        for other in list(silent):
            found = _read(objects, name_of(other.process))
            if found is not None and found.sign != other.sign and keeps_out(found):
                return found
            if found == other and waited >= other.expiry:
                objects.delete(name_of(other.process))
            if found is None or not keeps_out(found) or waited >= other.expiry:
                silent.remove(other)
        if silent:
            sleep(min(EVERY, *(other.expiry / 4 for other in silent)) / 4)
    return None


def _remove_silent(objects: Objects, others: Sequence[Written], waited: float) -> None:
    """Removes the objects of builders that gave no sign of life within their expiry."""
    for other in others:
        found = _read(objects, name_of(other.process)) if waited >= other.expiry else None
        if found is not None and found.sign == other.sign:
            objects.delete(name_of(other.process))
