"""The storage interface: how the rest of the program reads and writes the files of a corpus.

The files of a partition are published together, when all of them are complete. A visible file is always complete.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, NamedTuple, Protocol

from resources.errors import LeaseLostError
from resources.storage.holders import Process
from resources.storage.leases import Held, Lease, SoleLease


class Entry(NamedTuple):
    """One stored file: path relative to the root, size, and a token that changes when it is rewritten."""

    path: str
    bytes: int
    version: str


class UnsettledEntry(Entry):
    """The entry of a file that may be rewritten, in the next seconds, and keep its token."""

    __slots__ = ()


class Unpublished(Protocol):
    """Files that are being written, and that nobody else can see yet."""

    def create(self, path: str) -> BinaryIO:
        """Opens a new file for reading, writing and seeking that will appear at `path`."""

    def scratch(self) -> BinaryIO:
        """Opens a temporary file that goes away with this object."""

    @property
    def replaces(self) -> bool:
        """Whether `publish` replaces files that an older record may name; that record must be removed before."""
        return True

    def stored(self, path: str) -> str:
        """Returns the path under which a created file is stored, once it is prepared."""
        return path

    def size(self, path: str) -> int | None:
        """Returns the stored size of a prepared file; None if the store has to be asked."""
        del path
        return None

    def replaced(self, path: str) -> bool | None:
        """Returns whether `publish` will replace a file by a prepared one.

        None if the store has to be asked, as by default.
        """
        del path
        return None

    def digest(self, path: str) -> str:
        """Returns the digest over the stored bytes of a created file (`StoredDigest`), once it is prepared.

        It is empty in a store that takes none, as by default.
        """
        del path
        return ""

    def prepare(self) -> None:
        """Makes every created file complete and durable where it can, unseen; only `publish` and `discard` follow.

        A full disk is noticed here, while the older files of the partition still exist. Does nothing by default.
        """
        return

    def publish(self) -> None:
        """Makes every created file durable and visible. Each appears whole or not at all."""

    def discard(self) -> None:
        """Removes everything that was not published; does nothing after `publish`."""


class Storage(Protocol):
    """A store of files. Paths are relative, with `/`, and never leave the root. Hashable and picklable."""

    def __hash__(self) -> int:
        return hash(self.place)

    @property
    def place(self) -> str:
        """The store as a person names it: a folder or an address."""

    @property
    def identity(self) -> str:
        """A name that only this store has: two servers may have places with the same address."""
        return self.place

    @property
    def readers(self) -> int:
        """How many threads should read small files at once, because each waits for the store."""
        return 1

    def open(self, path: str) -> BinaryIO:
        """Opens a stored file for reading and seeking; `FileNotFoundError` when there is none."""

    def sequential(self, path: str) -> BinaryIO:
        """Opens a stored file for reading it once from its beginning, which may be cheaper."""
        return self.open(path)

    def from_store(self, path: str) -> BinaryIO:
        """Opens a stored file from the store itself, not from a local copy."""
        return self.open(path)

    def is_fixed(self, path: str) -> bool:
        """Returns whether the content of a stored file can never change, because its path holds a version."""
        del path
        return False

    def at_hand(self, path: str, size: int | None = None) -> BinaryIO | None:
        """Opens the local copy of a fixed file without asking the store; None if there is none.

        size: bytes of the file, if known; a copy of another size does not count.
        """
        del path, size
        return None

    def forget_copy(self, path: str) -> bool:
        """Removes the local copy of a file; returns whether one may have been read."""
        del path
        return False

    def read(self, path: str, offset: int, size: int) -> bytes:
        """Returns `size` bytes of a stored file from `offset` on, or fewer at its end; reads only those bytes."""

    def small(self, path: str, size: int) -> bytes:
        """Returns the content of a small file of `size` bytes; one byte more if it is longer."""
        with self.at_hand(path, size) or self.open(path) as file:
            return file.read(size + 1)

    def fetch(self, path: str) -> str:
        """Returns a path on this machine with the file's content, for memory mapping."""

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Yields every file below the folder `prefix`, in no particular order; nothing when it does not exist."""

    def paths(self, prefix: str) -> Iterator[str]:
        """Yields the path of every file below a folder, which may be cheaper than their entries."""
        return (entry.path for entry in self.entries(prefix))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yields the names of the folders directly below a folder that hold files; empty ones may be among them."""
        below = (path.removeprefix(f"{prefix}/") for path in self.paths(prefix))
        yield from {path.partition("/")[0] for path in below if "/" in path}

    def stat(self, path: str) -> Entry | None:
        """Returns the entry of one file, or None."""

    def delete(self, path: str) -> None:
        """Removes a file; does nothing if there is none."""

    def write(self, path: str, content: bytes) -> Entry | None:
        """Writes a whole file atomically and durably; returns its entry, or None if nobody knows it."""

    def replace(self, path: str, content: bytes, version: str | None) -> Entry | None:
        """Writes a file as `write` does if its version is still the given one, None if there was no such file.

        If leases of the store can pass to another process unnoticed, it raises `LeaseLostError` for any other version.
        By default nothing is compared, since the lease is enough.
        """
        del version
        return self.write(path, content)

    def remove(self, path: str, content: bytes, version: str) -> Entry | None:
        """Removes a file if its version is still the given one; returns the entry of its replacement, if any.

        A store that can refuse a write, but not a removal, writes `content` in its place. `LeaseLostError` as in
        `replace`.
        """
        del content, version
        self.delete(path)
        return None

    def take_away(self, path: str, content: bytes, version: str) -> bool:
        """Removes a file like `remove`, although another process may be about to write it; returns whether it did.

        Does nothing if the version has changed.
        """
        entry = self.stat(path)
        if entry is None or entry.version != version:
            return False
        try:
            self.remove(path, content, version)
        except LeaseLostError:
            return False
        return True

    def begin(self) -> Unpublished:
        """Starts a set of files that become visible together."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Holds the store alone; may be nested. `HeldError` if another process holds or shares it."""

    def require_held(self) -> None:
        """Raises `BuilderLostError` if others took this process for dead, and so may work on the store it holds.

        A process that holds the store alone calls this before each commit and every few removals. By default a store is
        held until its process ends, and this does nothing.
        """
        return

    @property
    def shares(self) -> bool:
        """Whether several processes may build at the same time; if not, `shared` holds the store alone."""
        return False

    @contextmanager
    def shared(self, builder: Process) -> Iterator[Sequence[Process]]:
        """Joins the processes that build on this store; yields the present others. May be nested, also in `exclusive`.

        `HeldError` if another process holds the store alone, or builds with other settings.
        """
        del builder
        with self.exclusive():
            yield ()

    def lease(self, name: str, builder: Process, expired: str = "") -> Lease | Held:
        """Takes the lease of a partition, without waiting; the caller shares or holds the store.

        name: `asset/partition`. expired: the token of an expired lease, which is taken over. `BuilderLostError` if
        others took this builder for dead and went on without it.
        """
        del name, builder, expired
        return SoleLease()

    def at_work(self) -> list[str]:
        """Returns the processes that build on the store now, in words; as far as can be known without writing."""
        return []

    def leases(self) -> Iterator[tuple[str, str]]:
        """Yields the name of each lease whose process has not ended, and its holder in words."""
        return iter(())

    def abandoned(self) -> list[str]:
        """Returns the names of the unpublished files that killed writers left behind."""

    def remove_abandoned(self) -> int:
        """Removes the unpublished files that killed writers left behind; returns the number of those names."""
