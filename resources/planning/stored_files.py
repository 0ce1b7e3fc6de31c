"""The sizes of the files in the store, from one listing per folder."""

from resources.ledger import Record
from resources.planning.changes import damage
from resources.storage.interface import Storage


class StoredFiles:
    """The files below those folders of the store that records name; a folder is listed when it is first needed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._sizes: dict[str, int] = {}
        self._listed: set[str] = set()

    def damage(self, record: Record) -> str:
        """Returns in words what the listing shows to be wrong with the files of a record; empty if nothing is."""
        for file in record.files:
            self._list(file.path.split("/", 1)[0])
        return damage(record, self._sizes)

    def committed(self, record: Record) -> None:
        """Notes the files of a record that was committed after the listing."""
        for file in record.files:
            self._list(file.path.split("/", 1)[0])
            self._sizes[file.path] = file.bytes

    def _list(self, top: str) -> None:
        """Lists a folder of the root, or the one file of that name."""
        if top in self._listed:
            return
        self._listed.add(top)
        file = self._storage.stat(top) if "." in top else None
        for entry in [*self._storage.entries(top), *([file] if file else [])]:
            self._sizes[entry.path] = entry.bytes
