"""Answers of endpoints, kept on this machine so that a rerun asks nothing twice.

They are in one SQLite file, which several processes may use at the same time. An answer is kept as soon as it is there,
and survives a kill at any moment. A damaged answer counts as none.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resources.errors import StorageError
from resources.hashing import content_digest, hash_parts

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT, digest TEXT) WITHOUT ROWID"
_KNOWN = "SELECT answer, digest FROM answers WHERE key = ?"
_WAIT = 120.0
FILE = "answers.sqlite"


def answer_key(*parts: str) -> bytes:
    """Returns the key of an answer: the SHA-256 of everything that it may depend on (model, prompt, text)."""
    return hashlib.sha256(hash_parts(*parts)).digest()


class Answers:
    """The answers in a folder; threads may share it. `StorageError` names the file if it cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._one_at_a_time = threading.Lock()
        with self._named():
            folder.mkdir(parents=True, exist_ok=True)
            self._kept = sqlite3.connect(self._file, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            self._kept.execute("PRAGMA journal_mode=WAL")
            self._kept.execute(_TABLE)

    def known(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Returns the kept answers by key."""
        found = {}
        with self._named():
            for key in keys:
                row = self._kept.execute(_KNOWN, (key,)).fetchone()
                if row and row[1] == content_digest(str(row[0]).encode()):
                    found[key] = str(row[0])
        return found

    def keep(self, key: bytes, answer: str) -> None:
        """Keeps an answer."""
        row = (key, answer, content_digest(answer.encode()))
        with self._named():
            self._kept.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    @contextmanager
    def _named(self) -> Iterator[None]:
        with self._one_at_a_time:
            try:
                yield
            except (sqlite3.Error, OSError) as error:
                raise StorageError(f"{self._file}: answers cannot be kept here: {error}") from None
