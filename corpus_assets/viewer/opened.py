"""The corpus of the viewer: opened once, read only, and read again after a short while."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.current import Version, config_version
from corpus_assets.corpus.opened import Records
from corpus_assets.corpus.recorded import recorded_listing
from corpus_assets.corpus.store_notes import store_notes
from corpus_assets.orchestration.freshness.failures import failures
from corpus_assets.tracing.look import Look
from resources.errors import CorpusError, StorageError
from resources.formats.texts import document_texts
from resources.kernels.jit import load
from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.shards.listing import Listing
from resources.stage.partition import Partition

_LOG = logging.getLogger("corpus.viewer")

LIFETIME = 2.0
"""Seconds for which values from the ledger are kept; after a slow read, ten times its duration."""

QUICK = 0.1
"""Longest read that a page waits for; slower ones are repeated in the background while the old value is shown."""

V = TypeVar("V")


@dataclass
class _Kept(Generic[V]):
    """A value, when it was made (by the clock of `time.monotonic`, and of the wall), and how long that took."""

    value: V
    at: float
    when: datetime
    took: float
    renewing: bool = False

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.at > max(LIFETIME, 10 * self.took)


class Looks:
    """Expensive values, each kept under a name for a while. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept[Any]] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def get(self, name: str, make: Callable[[], V]) -> V:
        """Returns a value; it is made in this thread if there is none, or if that is quick."""
        return self._get(name, make).value

    def when(self, name: str) -> str:
        """Returns the time of day at which a value was made; empty if it never was."""
        kept = self._kept.get(name)
        return kept.when.strftime("%H:%M:%S") if kept else ""

    def _get(self, name: str, make: Callable[[], V]) -> _Kept[V]:
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
            kept = self._kept.get(name)
            if kept is not None and not kept.is_old:
                return kept
            if kept is not None and kept.took > QUICK:
                if not kept.renewing:
                    kept.renewing = True
                    Thread(target=self._renew, args=(name, make, kept), daemon=True).start()
                return kept
        with lock:
            kept = self._kept.get(name)
            return kept if kept is not None and not kept.is_old else self._make(name, make)

    def _make(self, name: str, make: Callable[[], V]) -> _Kept[V]:
        start = time.monotonic()
        value = make()
        end = time.monotonic()
        kept = self._kept[name] = _Kept(value, end, datetime.now().astimezone(), end - start)
        return kept

    def _renew(self, name: str, make: Callable[[], Any], old: _Kept[Any]) -> None:
        try:
            self._make(name, make)
        except Exception as error:
            _LOG.warning("%s: %s", name, error)
            old.renewing = False  # The next request tries again.


class View:
    """One corpus as its configuration file is now, and looks at its ledger."""

    def __init__(self, file: Path) -> None:
        self.corpus = Corpus.open(file, read_only=True)
        self.looks = Looks()
        self._unlisted = ""

    def records(self, asset: str) -> Records:
        """Returns the records of an asset, by partition."""
        return self.looks.get(f"records {asset}", lambda: self.corpus.records(asset))

    def present(self, asset: str) -> dict[str | None, Record]:
        """Returns the records of the partitions that an asset should have now, in order: all but orphans."""
        if asset not in self.corpus.graph.stages:
            return {}
        planner, records = self.planner(), self.records(asset)
        return {key: records[key] for key in planner.partitions(self.corpus.graph[asset]) if key in records}

    def notes(self) -> list[str]:
        """Returns warnings: raw files that cannot be listed, another owner of the store, builders, damaged records."""
        found = self.looks.get("notes", lambda: list(store_notes(self.corpus, self.planner().ledger)))
        return [self._unlisted, *found] if self._unlisted else found

    def failures(self, asset: str) -> dict[str | None, str]:
        """Returns why partitions of an asset failed the last time, where that still holds."""
        planner, now = self.planner(), datetime.now(UTC)
        found = self.looks.get(f"failures {asset}", lambda: failures(planner, self.corpus.graph[asset]))
        return {key: one.words(now) for key, one in found.items()}

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none."""
        record = self.records(asset).get(key)
        return None if record is None else self.handle(record)

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record. Whole files are not compared with the record: that would read all of them.

        Members of files of lines, which pages read, have digests of their own.
        """
        return Partition(self.corpus.storage, record, compared=False)

    def planner(self) -> Planner:
        """Returns a planner that has decided about every partition."""
        return self.looks.get("plan", self._planned)

    def look(self) -> Look:
        """Returns the look for tracing documents."""
        return Look(self.corpus, self.planner(), compared=False)

    def _planned(self) -> Planner:
        planner = self.corpus.planner(self._listing())
        planner.plan()
        return planner

    def _listing(self) -> Listing:
        """Returns the raw files that are there now; if their place does not answer, those that the last build saw."""
        try:
            found = self.corpus.listing()
        except StorageError as error:
            recorded = recorded_listing(self.corpus)
            if recorded is None:
                raise
            self._unlisted = (
                f"{error}; what is stored is shown, and raw files are taken to be as the last build saw them"
            )
            return recorded
        self._unlisted = ""
        return found


class Opened:
    """Opens the corpus of a configuration file, and opens it again when that file changes, or one that gives it too."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._files: tuple[Path, ...] = (file,)
        self._version: Version | None = None
        self._view: View | None = None

    def view(self) -> View:
        """Returns the corpus; `ConfigError` if its file is wrong now."""
        with self._lock:
            known = self._files
            version = config_version(known)
            if self._view is None or version != self._version:
                self._view = View(self._file)
                self._files = self._view.corpus.files
                self._version = version if self._files == known else None  # Others may have changed: looked at again.
            return self._view

    def warm(self) -> None:
        """Reads everything once in the background, so that the first page need not wait.

        numba is loaded before: two threads that load it at once would find it half loaded.
        """
        load()
        Thread(target=self._warm, daemon=True).start()

    def _warm(self) -> None:
        try:
            self.view().planner()
        except (CorpusError, OSError):
            return  # A page will report it.
        document_texts(b"")  # Its kernel takes seconds to load, which the first search would wait for.
