"""A store of one's own: the whole corpus in one SQLite file."""

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from resources import Entry, Storage, StorageError, Unpublished

SCHEMA = """
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, content BLOB NOT NULL, version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS builder (only INTEGER PRIMARY KEY CHECK (only = 1), process INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class SQLiteStorage(Storage):
    """Files are rows of a table; a partition becomes visible in one transaction."""

    database: str

    @property
    def place(self) -> str:
        """The database."""
        return f"sqlite://{self.database}"

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed at the end."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            connection.executescript(SCHEMA) if not self._has_tables(connection) else None
            yield connection

    @staticmethod
    def _has_tables(connection: sqlite3.Connection) -> bool:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name = 'builder'").fetchone()
        return found is not None

    def _one(self, query: str, *values: Any) -> Any:
        with self.connection() as connection:
            return connection.execute(query, values).fetchone()

    def open(self, path: str) -> BinaryIO:
        """The content, in memory."""
        found = self._one("SELECT content FROM files WHERE path = ?", path)
        if found is None:
            raise FileNotFoundError(path)
        return BytesIO(found[0])

    def read(self, path: str, offset: int, size: int) -> bytes:
        """A piece of the content, cut out by the database."""
        found = self._one("SELECT substr(content, ?, ?) FROM files WHERE path = ?", offset + 1, size, path)
        if found is None:
            raise FileNotFoundError(path)
        return bytes(found[0])

    def fetch(self, path: str) -> str:
        """A file beside the database, named by its content."""
        entry = self.stat(path)
        if entry is None:
            raise FileNotFoundError(path)
        copy = Path(f"{self.database}.cache", entry.version)
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=copy.parent, delete=False) as file, self.open(path) as content:
                file.write(content.read())
            Path(file.name).replace(copy)
        return str(copy)

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Every row below a folder."""
        below = f"{prefix.rstrip('/')}/" if prefix else ""
        with self.connection() as connection:
            query = "SELECT path, length(content), version FROM files WHERE substr(path, 1, ?) = ?"
            yield from map(Entry._make, connection.execute(query, (len(below), below)).fetchall())

    def stat(self, path: str) -> Entry | None:
        """One row."""
        found = self._one("SELECT path, length(content), version FROM files WHERE path = ?", path)
        return None if found is None else Entry(*found)

    def delete(self, path: str) -> None:
        """Remove a row."""
        self._one("DELETE FROM files WHERE path = ?", path)

    def write(self, path: str, content: bytes) -> None:
        """One row, at once."""
        self.put({path: content})

    def put(self, files: Mapping[str, bytes]) -> None:
        """Many rows in one transaction."""
        rows = [(path, content, hashlib.sha256(content).hexdigest()) for path, content in files.items()]
        with self.connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", rows)

    def begin(self) -> Unpublished:
        """Files in memory until they are published."""
        return _Unpublished(self)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A row that only one process may insert."""
        with self.connection() as connection:
            cursor = connection.execute("INSERT OR IGNORE INTO builder VALUES (1, ?)", (os.getpid(),))
            outermost = cursor.rowcount == 1
            (holder,) = connection.execute("SELECT process FROM builder").fetchone()
        if holder != os.getpid():
            raise StorageError(f"{self.place}: process {holder} is building on this store")
        try:
            yield
        finally:
            if outermost:
                self._one("DELETE FROM builder")

    def abandoned(self) -> list[str]:
        """None: what is not published is in memory."""
        return []

    def remove_abandoned(self) -> int:
        """Nothing to remove."""
        return 0


class _Unpublished(Unpublished):
    def __init__(self, storage: SQLiteStorage) -> None:
        self._storage = storage
        self._files: dict[str, BytesIO] = {}

    def create(self, path: str) -> BinaryIO:
        self._files[path] = BytesIO()
        return self._files[path]

    def scratch(self) -> BinaryIO:
        return tempfile.TemporaryFile()

    def publish(self) -> None:
        self._storage.put({path: file.getvalue() for path, file in self._files.items()})
        self._files.clear()

    def discard(self) -> None:
        self._files.clear()


def open_sqlite(root: str, folder: Path, section: Mapping[str, Any]) -> SQLiteStorage:
    """The store that `storage.kind: my_store:open_sqlite` stands for."""
    return SQLiteStorage(str(folder / f"{root}.{section['options']['suffix']}"))
