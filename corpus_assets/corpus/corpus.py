"""A corpus opened from its `corpus.yaml`: configuration, graph, store and ledger in one place."""

import os
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from corpus_assets.config import CorpusConfig, loaded_config
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.paths import with_absolute_paths
from corpus_assets.config.selection.sampling import with_sample
from corpus_assets.corpus.jobs import Jobs
from corpus_assets.corpus.opened import Records
from corpus_assets.filter.assets import require_after_filter
from corpus_assets.mix.assets import require_attributes
from corpus_assets.raw.folders import attribute_folders, raw_folders
from corpus_assets.raw.readers import RawFile, listed_members
from corpus_assets.stages import corpus_stages
from resources.engine import open_engine
from resources.engine.interface import Engine, R, T
from resources.errors import ConfigError, HeldError
from resources.ledger.ledger import Ledger, Record
from resources.ledger.obsolete import Key, remove_obsolete
from resources.planning.planner import Planner
from resources.shards.beside import with_beside
from resources.shards.listing import Listing, list_shards
from resources.stage.graph import Graph
from resources.stage.partition import Partition
from resources.stage.settings import Settings
from resources.storage import open_storage
from resources.storage.holders import Process, this_process
from resources.storage.interface import Storage
from resources.storage.ownership import Claimant, claim, owns, require_owner
from resources.storage.read_only import ReadOnlyStorage

CONFIG_VARIABLE = "CORPUS_CONFIG"
_PATIENCE, _PAUSES = 10.0, (0.05, 0.5)
"""Seconds for which a build tries again to join a store, and between two attempts.

Pauses are random, so that builders that began together do not collide for ever.
"""

_CLAIMING = 60.0
"""Seconds for which it tries again to hold a new store alone, as all builders that begin at once do."""


class Corpus:
    """Everything that planning and building need; knows nothing of Dagster.

    folder: where relative paths and modules of the user's own are.
    file: the configuration. files: all that give it: those that it extends, and the whole of a sample.
    home: its folder, another one only for a sample, where logs and Dagster's runs are kept.
    changes: `KEY=VALUE` by which the configuration differs from the file; records of what is built name them.
    read_only: whether writes to the store are refused (`ReadOnlyError`).
    """

    def __init__(
        self,
        config: CorpusConfig,
        folder: Path,
        file: Path | None = None,
        changes: Sequence[str] = (),
        *,
        read_only: bool = False,
    ) -> None:
        self.config = config
        self.folder = folder
        self.file = file or folder / "corpus.yaml"
        self.files: tuple[Path, ...] = (self.file,)
        self.home = self.file.parent
        self.changes = tuple(changes)
        self.settings = Settings(with_sample(with_absolute_paths(config, folder).model_dump(), config.sample))
        stages = corpus_stages(config, folder)
        if config.sources:
            require_attributes(config.mix.leave_out, stages)
            require_after_filter(config.mix.leave_out, stages)
        self.graph = Graph(stages)
        self.settings.require_own_keys(self.graph)
        storage = open_storage(self.settings.values["storage"], folder)
        self.storage: Storage = ReadOnlyStorage(storage) if read_only else storage
        self.ledger = Ledger(self.storage)

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        changes: Sequence[str] = (),
        *,
        sources: Sequence[Mapping[str, Any]] = (),
        read_only: bool = False,
    ) -> "Corpus":
        """Opens the corpus of a configuration file: the given one, else `$CORPUS_CONFIG`, else `./corpus.yaml`.

        changes: `KEY=VALUE` each, over what the file says. sources: sections of further sources. read_only: True to
        write nothing to the store, not even snapshots that only save time.
        """
        file = config_file(path)
        found = loaded_config(file, changes, sources)
        of = found.config.sample.of if found.config.sample else None
        corpus = cls(found.config, Path(of).parent if of else file.parent, file, changes, read_only=read_only)
        corpus.files = found.files
        return corpus

    @cached_property
    def engine(self) -> Engine:
        """The configured engine; its workers start with the first job and stay."""
        return open_engine(self.settings.values["engine"], self.folder)

    def close(self) -> None:
        """Stops the workers, if the engine was ever opened."""
        if "engine" in self.__dict__:
            self.engine.close()

    def records(self, asset: str) -> Records:
        """Returns the present records of an asset, including those of partitions that the corpus no longer has."""
        return self.ledger.records(asset)

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none."""
        record = self.ledger.read(asset, key)
        return None if record is None else self.handle(record)

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record."""
        return Partition(self.storage, record)

    def listing(self) -> Listing:
        """Returns the raw files that are there now."""
        found = list_shards(
            raw_folders(self.settings), lambda label, opener: listed_members(RawFile(label, opener, None))
        )
        return with_beside(found, attribute_folders(self.settings))

    def planner(self, listing: Listing | None = None) -> Planner:
        """Returns a planner for the state of the corpus as it is now."""
        return Planner(self.graph, self.settings, listing or self.listing(), self.storage, self.ledger)

    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order. Outside a build no worker is started for it."""
        return map(function, items)

    def jobs(self, planner: Planner) -> Jobs:
        """Returns the maker of jobs for a planner."""
        return Jobs(planner, self.builder, self.config.engine.memory, self.engine, self.changes)

    @cached_property
    def builder(self) -> Process:
        """The description of this process for others that work on the store."""
        return this_process(self.settings.digest(self.graph))

    @cached_property
    def claimant(self) -> Claimant:
        """The description of this corpus as the owner of a store."""
        files = {dataset.name: dataset.input for dataset in self.config.datasets}
        own = {name: given.location for name, given in files.items() if isinstance(given, OwnFiles)}
        places = {source.name: source.location for source in self.config.sources} or own
        return Claimant(self.config.name, self.file, places)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the store alone.

        `HeldError` if another process works on it; `StorageError` if the store belongs to another configuration.
        """
        with self.storage.exclusive():
            claim(self.storage, self.claimant)
            yield

    @contextmanager
    def building(self) -> Iterator[Sequence[Process]]:
        """Joins the processes that build on the store, and yields the others, if the store can be shared.

        Work that needs the store alone is done first. Errors: as in `exclusive`; also `HeldError` if another builder
        has other settings.
        """
        with ExitStack() as held:
            others = self._join(held)
            require_owner(self.storage, self.claimant)
            self.storage.remove_abandoned()
            yield others

    def _join(self, held: ExitStack) -> Sequence[Process]:
        """Joins the builders. Waits for others that begin at the same moment and hold the store alone first."""
        until, claimed = time.monotonic() + _CLAIMING, False
        while True:
            try:
                if not owns(self.storage, self.claimant):
                    with self.exclusive():
                        pass
                if not claimed:
                    until, claimed = time.monotonic() + _PATIENCE, True
                return held.enter_context(self.storage.shared(self.builder))
            except HeldError:
                if time.monotonic() > until:
                    raise
                time.sleep(random.uniform(*_PAUSES))

    def owned_files(self) -> set[str]:
        """Returns the paths of all files that a record names."""
        records = (record for asset in self.ledger.assets() for record in self.ledger.records(asset).values())
        return {file.path for record in records for file in record.files}

    def remove_obsolete(self, replaced: Mapping[Key, Collection[str]]) -> int:
        """Removes the files of replaced records, by asset and key, that no record names any more; returns how many."""
        if not replaced:
            return 0
        owned = self.owned_files()
        obsolete = {key: set(paths) - owned for key, paths in replaced.items()}
        return remove_obsolete(self.ledger, obsolete, self.builder)


def config_file(path: str | Path | None) -> Path:
    """Returns the given configuration file, else that of the variable, else that of the working folder.

    `ConfigError` if it is missing and was not named on the command line.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    file = Path(path or named or "corpus.yaml").absolute()
    if not path and not os.path.lexists(file):
        why = f"${CONFIG_VARIABLE} names it" if named else f"neither --config nor ${CONFIG_VARIABLE} names another one"
        raise ConfigError(f"{file}: there is no such file, and {why}")
    return file
