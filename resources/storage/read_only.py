"""A store for readers: operations that would write are refused, and the error names the operation.

Every method of `Storage` is defined here and none is inherited. So a method that is added to `Storage` fails the type
check until this class reads or refuses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from resources.errors import ReadOnlyError
from resources.storage.holders import Process
from resources.storage.interface import Entry, Storage


@dataclass(frozen=True)
class ReadOnlyStorage:
    """A store that is only read.

    Local copies of its files are made and removed as usual. Operations that write raise `ReadOnlyError`, which is an
    `OSError`, so that a ledger goes on without writing snapshots.
    """

    storage: Storage

    @property
    def place(self) -> str:
        """The place of the store."""
        return self.storage.place

    @property
    def identity(self) -> str:
        """The identity of the store."""
        return self.storage.identity

    @property
    def readers(self) -> int:
        """The threads that read small files of the store."""
        return self.storage.readers

    def open(self, path: str) -> BinaryIO:
        """Reads, as `Storage.open`."""
        return self.storage.open(path)

    def sequential(self, path: str) -> BinaryIO:
        """Reads, as `Storage.sequential`."""
        return self.storage.sequential(path)

    def from_store(self, path: str) -> BinaryIO:
        """Reads, as `Storage.from_store`."""
        return self.storage.from_store(path)

    def is_fixed(self, path: str) -> bool:
        """Reads, as `Storage.is_fixed`."""
        return self.storage.is_fixed(path)

    def at_hand(self, path: str, size: int | None = None) -> BinaryIO | None:
        """Reads, as `Storage.at_hand`."""
        return self.storage.at_hand(path, size)

    def forget_copy(self, path: str) -> bool:
        """Removes a copy of this machine, as `Storage.forget_copy`; the store is as it was."""
        return self.storage.forget_copy(path)

    def read(self, path: str, offset: int, size: int) -> bytes:
        """Reads, as `Storage.read`."""
        return self.storage.read(path, offset, size)

    def small(self, path: str, size: int) -> bytes:
        """Reads, as `Storage.small`."""
        return self.storage.small(path, size)

    def fetch(self, path: str) -> str:
        """Reads, as `Storage.fetch`."""
        return self.storage.fetch(path)

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Reads, as `Storage.entries`."""
        return self.storage.entries(prefix)

    def paths(self, prefix: str) -> Iterator[str]:
        """Reads, as `Storage.paths`."""
        return self.storage.paths(prefix)

    def folders(self, prefix: str) -> Iterator[str]:
        """Reads, as `Storage.folders`."""
        return self.storage.folders(prefix)

    def stat(self, path: str) -> Entry | None:
        """Reads, as `Storage.stat`."""
        return self.storage.stat(path)

    def at_work(self) -> list[str]:
        """Reads, as `Storage.at_work`."""
        return self.storage.at_work()

    def leases(self) -> Iterator[tuple[str, str]]:
        """Reads, as `Storage.leases`."""
        return self.storage.leases()

    def abandoned(self) -> list[str]:
        """Reads, as `Storage.abandoned`."""
        return self.storage.abandoned()

    def delete(self, path: str) -> NoReturn:
        """Refuses."""
        self._refuse(f"remove {path}")

    def write(self, path: str, content: bytes) -> NoReturn:
        """Refuses."""
        self._refuse(f"write {path} ({len(content):,} bytes)")

    def replace(self, path: str, content: bytes, version: str | None) -> NoReturn:
        """Refuses."""
        self._refuse(f"replace version {version} of {path} ({len(content):,} bytes)")

    def remove(self, path: str, content: bytes, version: str) -> NoReturn:
        """Refuses."""
        del content
        self._refuse(f"remove version {version} of {path}")

    def take_away(self, path: str, content: bytes, version: str) -> NoReturn:
        """Refuses."""
        del content
        self._refuse(f"take away version {version} of {path}")

    def begin(self) -> NoReturn:
        """Refuses."""
        self._refuse("begin files of a partition")

    def exclusive(self) -> NoReturn:
        """Refuses."""
        self._refuse("be held alone")

    def require_held(self) -> NoReturn:
        """Refuses: who asks is about to write."""
        self._refuse("say whether it is held")

    @property
    def shares(self) -> NoReturn:
        """Refuses: only a builder asks, and a store in a bucket tries it out by writing."""
        self._refuse("say whether builders may share it")

    def shared(self, builder: Process) -> NoReturn:
        """Refuses."""
        self._refuse(f"be shared with {builder.words.rstrip(',')}")

    def lease(self, name: str, builder: Process, expired: str = "") -> NoReturn:
        """Refuses."""
        del builder, expired
        self._refuse(f"lease {name}")

    def remove_abandoned(self) -> NoReturn:
        """Refuses."""
        self._refuse("remove what killed writers left")

    def _refuse(self, asked: str) -> NoReturn:
        raise ReadOnlyError(self.storage.place, asked)
