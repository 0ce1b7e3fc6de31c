"""Locks on a folder of this machine: which processes work on the store, and which one writes a partition.

All are locks of the system, which releases them when their process ends, even if it is killed. A stopped process keeps
them, so none expires.
"""

import errno
import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from typing_extensions import override

from resources.errors import HeldError, LeaseLostError, StorageError
from resources.storage.holders import Process, decode_process, this_process
from resources.storage.leases import Held, Lease
from resources.storage.local.files import paths_in
from resources.system_errors import at, placed
from resources.tidying import kept_if_not_removed

LOCK = ".lock"
BUILDERS = ".builders"
LEASES = ".leases"
SHARES = hasattr(fcntl, "F_OFD_SETLK")
"""Whether the system has locks that belong to an open file and not to a process, as Linux has."""

_FLOCK = "hhqqi0q"  # struct flock: type, whence, start, length, process
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}


@dataclass
class _Hold:
    """How this process holds a store: alone or shared, how often, and how to release it."""

    alone: bool
    times: int
    locks: ExitStack


_HELD: dict[Path, _Hold] = {}


def is_alone(root: Path) -> bool:
    """Returns whether this process holds a store alone."""
    return root in _HELD and _HELD[root].alone


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Holds a store alone; may be nested. `HeldError` names who holds or shares it."""
    with _held(root, alone=True):
        yield


@contextmanager
def shared(root: Path, builder: Process) -> Iterator[Sequence[Process]]:
    """Joins the builders of a store; yields the others. `HeldError` names who holds it, or has other settings."""
    with _held(root, alone=False) as outermost:
        if not outermost:
            yield others(root, builder.nonce)
            return
        with _registered(root, builder):
            found = others(root, builder.nonce)
            for other in found:
                if other.settings != builder.settings:
                    raise HeldError(f"{_is_building(root, other)}, with another configuration; wait until it is done")
            yield found


@contextmanager
def _held(root: Path, *, alone: bool) -> Iterator[bool]:
    """Holds locks on the folder and on `.lock`; yields whether this process did not hold them before.

    The lock on the folder holds even if somebody removes the file.
    """
    hold = _HELD.get(root)
    if hold is None:
        with ExitStack() as locks:
            _lock_folder(root, locks, alone=alone)
            _lock_file(root, locks, alone=alone)
            hold = _HELD[root] = _Hold(alone, 0, locks.pop_all())
    elif alone and not hold.alone:
        raise HeldError(f"{root}: this process shares the store with others; it cannot hold it alone")
    hold.times += 1
    try:
        yield hold.times == 1
    finally:
        hold.times -= 1
        if not hold.times:
            del _HELD[root]
            with suppress(OSError):  # The locks end even if closing a file fails.
                hold.locks.close()


def _lock_folder(root: Path, locks: ExitStack, *, alone: bool) -> None:
    """Locks the folder itself; does nothing where the file system has no such lock (NFS)."""
    with at("opening the folder", root):
        descriptor = os.open(root, os.O_RDONLY)
    locks.callback(_unlock, descriptor)
    try:
        fcntl.flock(descriptor, _how(alone))
    except BlockingIOError:
        raise _held_by(root) from None
    except OSError:
        return


def _lock_file(root: Path, locks: ExitStack, *, alone: bool) -> None:
    """Locks the file; a process that holds it alone writes so into it. A file removed meanwhile is no lock."""
    while True:
        try:
            file = locks.enter_context((root / LOCK).open("a+"))
        except OSError as error:
            raise not_writable(root, error) from None
        try:
            fcntl.flock(file, _how(alone))
        except BlockingIOError:
            raise _held_by(root) from None
        except OSError as error:
            raise _without_locks(root, error) from None
        with suppress(FileNotFoundError), at("looking at", root / LOCK):
            if os.path.samestat(os.fstat(file.fileno()), (root / LOCK).stat()):
                break
    if alone:
        with at("writing", root / LOCK):
            file.truncate(0)
            file.write(this_process().words)
            file.flush()


def _how(alone: bool) -> int:
    return (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB


def not_writable(root: Path, error: OSError) -> StorageError:
    """Returns what to raise when the first write to a store fails."""
    return StorageError(
        f"storage.root: {root} cannot be written: {error.strerror}; make it writable, or set storage.root"
    )


def _without_locks(root: Path, error: OSError) -> OSError | StorageError:
    if error.errno not in _NO_LOCKS:
        return placed(error, "locking", root / LOCK)
    return StorageError(f"{root}: this file system has no locks ({error.strerror}); put storage.root on one that has")


def _held_by(root: Path) -> HeldError:
    for builder in others(root, this_process().nonce):
        return HeldError(f"{_is_building(root, builder)}; wait until it is done")
    owner = "another process"
    with suppress(OSError, UnicodeDecodeError):
        owner = (root / LOCK).read_text()[:100].strip() or owner
    return HeldError(f"{root}: {owner} is building on this store; wait until it is done")


def _is_building(root: Path, builder: Process) -> str:
    return f"{root}: {builder.words} is building on this store"


@contextmanager
def _registered(root: Path, builder: Process) -> Iterator[None]:
    """Writes down that a process builds on a store, in a file that stays locked for as long."""
    path = root / BUILDERS / f"{builder.nonce}.json"
    with at("making the folder", path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    unnamed = path.with_suffix("")
    with at("writing", unnamed):
        descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        with at("writing", unnamed):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, msgspec.json.encode(builder))
        with at("renaming a written file to", path):
            unnamed.rename(path)  # The file is locked and complete when others see it.
        yield
    finally:
        with kept_if_not_removed(path, "it says that this process builds; the next builder removes it"):
            path.unlink(missing_ok=True)
        _unlock(descriptor)


def others(root: Path, mine: str) -> list[Process]:
    """Returns the processes that build on a store now, except that with the nonce; removes files of dead ones."""
    found = []
    for path in _written_down(root):
        content = _content(path) if path.stem != mine else b""
        if content is None:
            with kept_if_not_removed(path, "a builder that has ended left it"):
                path.unlink(missing_ok=True)  # No other process ever has the same nonce.
        elif builder := decode_process(content):
            found.append(builder)
    return found


def at_work(root: Path) -> list[Process]:
    """Returns the processes that build on a store now; removes nothing."""
    held = map(_content, _written_down(root))
    return [builder for content in held if content and (builder := decode_process(content)) is not None]


def _written_down(root: Path) -> list[Path]:
    return [path for path in paths_in(root / BUILDERS) if path.suffix == ".json"]


def _content(path: Path) -> bytes | None:
    """Returns the content of a file that its writer has locked; None if it is not locked."""
    try:
        with at("reading", path), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(FileNotFoundError), at("reading", path):
            return path.read_bytes()
    except FileNotFoundError:
        pass
    return None


def take_lease(root: Path, name: str, mine: str) -> Lease | Held:
    """Takes the lease of a partition of a store, without waiting.

    The lease is a lock on one byte, at a position given by a digest of the name, of an empty file: a file for each
    lease would take ten times as long because of the disk's journal.
    """
    place = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) >> 2
    path, lock = f"{root}/{LEASES}", struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
    while True:
        with at("locking", path), ExitStack() as opened:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            opened.callback(_unlock, descriptor)
            try:
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
            except (BlockingIOError, PermissionError):
                holders = [builder.words.rstrip(",") for builder in others(root, mine)]
                return Held(" or ".join(holders) or "another process")
            if os.fstat(descriptor).st_nlink:  # Else the file was removed, so other processes lock another one.
                opened.pop_all()
                return LocalLease(root, name, descriptor)


class LocalLease(Lease):
    """A lock of an open file, which ends when the file is closed."""

    def __init__(self, root: Path, name: str, descriptor: int) -> None:
        self._root = root
        self._name = name
        self._descriptor = descriptor

    @override
    def require(self) -> None:
        if not os.fstat(self._descriptor).st_nlink:
            raise LeaseLostError(f"{self._root}/{LEASES} was removed while {self._name} was being made")

    @override
    def release(self) -> None:
        _unlock(self._descriptor)


def _unlock(descriptor: int) -> None:
    """Closes a file, which ends its lock even if closing fails."""
    with suppress(OSError):
        os.close(descriptor)
