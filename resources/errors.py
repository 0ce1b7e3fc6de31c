"""One exception class per kind of fault. A message says what was received, what is valid, and where."""

import errno
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from typing_extensions import override

MadeT = TypeVar("MadeT")


class CorpusError(Exception):
    """Base of every error this project raises on purpose; the message is meant for a person."""


class ConfigError(CorpusError):
    """`corpus.yaml` cannot be used: unknown key, wrong type, or a combination that makes no sense."""


def each(calls: Iterable[Callable[[], MadeT]]) -> list[MadeT]:
    """Returns what each call gives; if calls raise `ConfigError`, raises one with what all of them say, a line each."""
    found, said = [], []
    for call in calls:
        try:
            found.append(call())
        except ConfigError as fault:
            said.append(str(fault))
    if said:
        raise ConfigError("\n".join(dict.fromkeys(said)))
    return found


class NotBuiltError(ConfigError):
    """A partition is needed that is not built. asset, partition: which one; `*` is the asset as a whole."""

    def __init__(self, asset: str, partition: str | None, message: str) -> None:
        super().__init__(message)
        self.asset, self.partition = asset, partition

    def __reduce__(self) -> tuple[type["NotBuiltError"], tuple[str, str | None, str]]:
        return (type(self), (self.asset, self.partition, str(self)))


class BadFileError(CorpusError):
    """A raw file as a whole cannot be read (cut, corrupt, wrong codec, wrong schema).

    It fails only its own shard. `where` is the file, with line or member if known.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem

    def __reduce__(self) -> tuple[type["BadFileError"], tuple[str, str]]:
        return (type(self), (self.where, self.problem))


class LedgerError(CorpusError):
    """The ledger and the files it describes contradict each other, or an input partition does not exist."""


class DamagedFileError(LedgerError):
    """A stored file does not hold what its record says; its partition must be made again.

    asset, partition: whose file it is. path: the file.
    """

    def __init__(self, asset: str, partition: str | None, path: str, problem: str) -> None:
        name = asset if partition is None else f"{asset}/{partition}"
        super().__init__(f"{name}: {path}: {problem}")
        self.asset = asset
        self.partition = partition
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type["DamagedFileError"], tuple[str, str | None, str, str]]:
        return (type(self), (self.asset, self.partition, self.path, self.problem))


class AlignmentError(LedgerError):
    """A file of attributes does not fit its documents row by row.

    path: the file of attributes. row: counted from 0.
    """

    def __init__(self, path: str, row: int, problem: str) -> None:
        super().__init__(f"{path} row {row}: {problem}")
        self.path = path
        self.row = row
        self.problem = problem

    def __reduce__(self) -> tuple[type["AlignmentError"], tuple[str, int, str]]:
        return (type(self), (self.path, self.row, self.problem))


class StorageError(CorpusError):
    """The store refused an operation, or was asked for something outside its root."""


class HeldError(StorageError):
    """Another process holds the store, or shares it in a way that keeps this one out."""


class LeaseLostError(StorageError):
    """Another process has taken over the partition that this one was writing."""


class BuilderLostError(StorageError):
    """Other processes took this builder for dead and went on without it; its build has to end."""


class StoreAccessError(StorageError, OSError):
    """The store does not answer, refuses access, or breaks off; this says nothing about what it holds.

    It is an `OSError` with a number, so that no reader takes it for damaged content.
    """

    def __init__(self, problem: str, number: int = errno.EIO) -> None:
        OSError.__init__(self, number, problem)
        self.problem = problem
        self.number = number

    def __str__(self) -> str:
        return self.problem

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.problem, self.number))


class ReadOnlyError(StoreAccessError):
    """A store opened for reading only was asked to change. place: the store. asked: the operation, in words."""

    def __init__(self, place: str, asked: str) -> None:
        super().__init__(f"{place} is opened to be read only, and was asked to {asked}", errno.EROFS)
        self.place, self.asked = place, asked

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.place, self.asked))


class DamagedCopyError(StorageError):
    """A copy of a stored file on this machine was damaged and is removed; the store has the file as it was recorded."""


class EngineError(CorpusError):
    """The engine cannot do its work: a machine of a cluster is unfit for it."""


class EndpointError(CorpusError):
    """An endpoint that a tagger asks is not there, refuses, is too slow, or answers something else than was asked.

    where: its address and model. reason: the problem in a few words that are equal for equal problems, for counts.
    """

    def __init__(self, where: str, problem: str, reason: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where, self.problem, self.reason = where, problem, reason

    def __reduce__(self) -> tuple[type["EndpointError"], tuple[str, str, str]]:
        return (type(self), (self.where, self.problem, self.reason))


class JobTimeoutError(BaseException):
    """A job took longer than allowed. Not an `Exception`, so that no handler of a stage takes it for a bad row."""


_OF_THE_FILE = {
    *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENXIO),
    errno.ENAMETOOLONG,
}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_OF_THE_MACHINE = {
    *(errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.ENOBUFS),
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE, errno.ETIMEDOUT, errno.ENODEV, errno.ENOLCK),
}


def file_fault(where: str, error: OSError) -> CorpusError:
    """Returns an operating-system error as a fault of the raw file, or of the machine at that moment.

    Libraries raise OSError without a number for damaged content. A shard may be skipped only for a fault of its
    file; a fault of the machine (too many open files, an I/O error) must never turn into an empty shard.
    """
    if is_of_the_file(error):
        return BadFileError(where, f"cannot be read: {error.strerror or error}")
    return StorageError(f"{where}: cannot be read now: {error.strerror}")


def is_full(error: BaseException) -> bool:
    """Returns whether there was no room for what was to be written: on the disk, in a quota, or in one file."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_of_the_file(error: OSError) -> bool:
    """Returns whether an operating-system error says something about the file, and not about the machine."""
    return error.errno is None or error.errno in _OF_THE_FILE


def require_of_the_file(where: str, error: OSError) -> None:
    """Raises `StorageError` for an operating-system error that says something about the machine."""
    if not is_of_the_file(error):
        raise file_fault(where, error) from None


def raise_machine_fault(where: str, error: BaseException) -> None:
    """Raises `StorageError` if an error of a library that got some content is one of the machine, and not of that.

    Content may give almost any number: a date is too large for the system (EOVERFLOW), a text is no path (EINVAL).
    where: what the library worked at.
    """
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_THE_MACHINE):
        said = f": {error}" if str(error) else ""
        raise StorageError(f"{where}: the machine failed: {type(error).__name__}{said}") from error


def is_of_the_machine(error: BaseException) -> bool:
    """Returns whether an error over a stored file says nothing about its content: the machine or the store failed.

    Libraries raise OSError without a number for damaged content; a file that is not there is a fault of the content.
    """
    if isinstance(error, OSError):
        return error.errno is not None and not isinstance(error, FileNotFoundError)
    return isinstance(error, (StorageError, MemoryError))
