"""The storage interface: where the corpus lives, as the rest of the program uses it.

A partition is published in one go: files become visible only when all of them are complete. Nothing that is visible
is ever half-written.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple, Protocol


class Entry(NamedTuple):
    """One stored file: path relative to the root, size, and a token that changes when it is rewritten."""

    path: str
    bytes: int
    version: str


class Unpublished(Protocol):
    """Files being written that nobody can see yet."""

    def create(self, path: str) -> BinaryIO:
        """Open a new file for reading, writing and seeking that will appear at `path`."""

    def scratch(self) -> BinaryIO:
        """Open a temporary file that goes away with this object."""

    def publish(self) -> None:
        """Make every created file durable and visible. Each appears whole or not at all."""

    def discard(self) -> None:
        """Remove everything that was not published; harmless after `publish`."""


class Storage(Protocol):
    """Where a corpus lives. Paths are relative, with `/`, and never leave the root. Hashable and picklable."""

    def __hash__(self) -> int:
        return hash(self.place)

    @property
    def place(self) -> str:
        """The store as a person would name it: a folder, an address."""

    def open(self, path: str) -> BinaryIO:
        """Open a stored file for reading and seeking; `FileNotFoundError` when there is none."""

    def read(self, path: str, offset: int, size: int) -> bytes:
        """Return `size` bytes of a stored file from `offset` on, or fewer at its end; no other part is read."""

    def fetch(self, path: str) -> str:
        """Return a path on this machine with the file's content, for memory mapping."""

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Yield every file below the folder `prefix`, in no particular order; nothing when it does not exist."""

    def stat(self, path: str) -> Entry | None:
        """Return the entry of one file, or None."""

    def delete(self, path: str) -> None:
        """Remove a file; one that is already gone is fine."""

    def write(self, path: str, content: bytes) -> None:
        """Write a whole file atomically and durably."""

    def begin(self) -> Unpublished:
        """Start a set of files that become visible together."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep every other process from building on this store; may be nested. `StorageError` if one does."""

    def abandoned(self) -> list[str]:
        """Return the names of what killed writers left behind: it was never visible."""

    def remove_abandoned(self) -> int:
        """Remove what killed writers left behind; return how many things went."""
