"""The sizes of the files in the store, from one listing per folder."""

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from resources.ledger.ledger import Record
from resources.storage.interface import Storage


class StoredFiles:
    """The files below those folders of the store that records name; a folder is listed when it is first needed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._sizes: dict[str, int] = {}
        self._listed: set[str] = set()

    def damage(self, record: Record) -> str:
        """Returns in words what is wrong with the files of a record according to the listing; empty if nothing is."""
        for file in record.files:
            size = self._sizes.get(file.path)
            if size is None and (size := self._size_in_listing(file.path)) is None:
                return f"file missing: {file.path}"
            if size != file.bytes:
                return f"file {file.path} has {size} bytes, its record says {file.bytes}"
        return ""

    def below(self, tops: Collection[str]) -> Iterator[str]:
        """Returns the files in folders of the root as they were listed, and those that were committed since."""
        for top in tops:
            self._size_in_listing(top)
        return (path for path in self._sizes if path.partition("/")[0] in tops)

    def committed(self, record: Record) -> None:
        """Notes the files of a record that was committed after the listing."""
        for file in record.files:
            self._size_in_listing(file.path)
            self._sizes[file.path] = file.bytes

    def look(self, records: Iterable[Record]) -> None:
        """Lists the folders that records name, several at once."""
        tops = {file.path.partition("/")[0] for record in records for file in record.files} - self._listed
        with ThreadPoolExecutor(self._storage.readers) as threads:
            for _ in threads.map(self._list, tops):
                pass
        self._listed |= tops

    def _size_in_listing(self, path: str) -> int | None:
        """Returns the size of a file after its folder of the root was listed; None if there is no such file."""
        top = path.partition("/")[0]
        if top not in self._listed:
            self._list(top)
            self._listed.add(top)
        return self._sizes.get(path)

    def _list(self, top: str) -> None:
        """Lists a folder of the root, or the one file of that name."""
        self._sizes.update((path, size) for path, size, _ in self._storage.entries(top))
        if "." in top and (file := self._storage.stat(top)):
            self._sizes[top] = file.bytes
