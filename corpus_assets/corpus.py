"""A corpus opened from its `corpus.yaml`: configuration, graph, store and ledger in one place."""

import os
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from corpus_assets.config import CorpusConfig, load_config
from corpus_assets.config.datasets import Files
from corpus_assets.config.paths import with_absolute_paths
from corpus_assets.config.sampling import with_sample
from corpus_assets.elsewhere import Elsewhere
from corpus_assets.filter.assets import require_after_filter
from corpus_assets.jobs import Jobs
from corpus_assets.mix.assets import require_attributes
from corpus_assets.raw.folders import raw_folders
from corpus_assets.raw.readers import RawFile, listed_members
from corpus_assets.restamping import restamp
from corpus_assets.stages import corpus_stages
from resources.engine import open_engine
from resources.engine.interface import Engine, R, T
from resources.errors import ConfigError, HeldError
from resources.ledger import Ledger, Record, partition_name
from resources.obsolete import Key, remove_obsolete
from resources.planning.planner import Decision, Planner, Status, held_back
from resources.shards import Listing, list_shards
from resources.stage.declaration import Stage
from resources.stage.graph import Graph
from resources.stage.job import Job, Outcome
from resources.stage.settings import Settings
from resources.storage import open_storage
from resources.storage.holders import Process, this_process
from resources.storage.ownership import Claimant, claim, owns, require_owner

CONFIG_VARIABLE = "CORPUS_CONFIG"
_PATIENCE, _PAUSES = 10.0, (0.05, 0.5)
"""Seconds for which a build asks again for a store that it may not join, and between two attempts.

Pauses differ by chance, or builders that begin in one moment would for ever meet again.
"""

_CLAIMING = 60.0
"""Seconds for which it asks again to hold a new store alone: of many builders that begin at once, all want to."""


class Corpus:
    """Everything that planning and building need; knows nothing of Dagster.

    folder: where relative paths and modules of the user's own are. file: the configuration. home: its folder, another
    one only for a sample, where logs and Dagster's runs are kept.
    """

    def __init__(self, config: CorpusConfig, folder: Path, file: Path | None = None) -> None:
        self.config = config
        self.folder = folder
        self.file = file or folder / "corpus.yaml"
        self.home = self.file.parent
        self.settings = Settings(with_sample(with_absolute_paths(config, folder).model_dump(), config.sample))
        stages = corpus_stages(config, folder)
        if config.sources:
            require_attributes(config.mix.leave_out, stages)
            require_after_filter(config.mix.leave_out, stages)
        self.graph = Graph(stages)
        self.settings.require_own_keys(self.graph)
        self.storage = open_storage(self.settings.values["storage"], folder)
        self.ledger = Ledger(self.storage)

    @classmethod
    def open(cls, path: str | Path | None = None, changes: Sequence[str] = ()) -> "Corpus":
        """Opens the corpus of a configuration file: the given one, else `$CORPUS_CONFIG`, else `./corpus.yaml`.

        changes: `KEY=VALUE` each, to ask what they would cost; nothing may be built with any.
        """
        file = _config_file(path)
        config = load_config(file, changes)
        of = config.sample.of if config.sample else None
        return cls(config, Path(of).parent if of else file.parent, file)

    @cached_property
    def engine(self) -> Engine:
        """The configured engine; its workers start with the first job and stay."""
        return open_engine(self.settings.values["engine"], self.folder)

    def close(self) -> None:
        """Stops the workers, if the engine was ever opened."""
        if "engine" in self.__dict__:
            self.engine.close()

    def listing(self) -> Listing:
        """Returns the raw files that are there now."""
        return list_shards(
            raw_folders(self.settings), lambda label, opener: listed_members(RawFile(label, opener, None))
        )

    def planner(self, listing: Listing | None = None) -> Planner:
        """Returns a planner for the state of the corpus as it is now."""
        return Planner(self.graph, self.settings, listing or self.listing(), self.storage, self.ledger)

    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields what a function makes of each item, in order. Outside a build no worker is started for it."""
        return map(function, items)

    def jobs(self, planner: Planner) -> Jobs:
        """Returns what makes the jobs of partitions, as a planner sees them."""
        return Jobs(planner, self.builder, self.config.engine.memory, self.engine)

    @cached_property
    def builder(self) -> Process:
        """This process, as it names itself to others that work on the store."""
        return this_process(self.settings.digest(self.graph))

    @cached_property
    def claimant(self) -> Claimant:
        """This corpus, as a store knows whose it is."""
        files = {dataset.name: dataset.input for dataset in self.config.datasets}
        own = {name: given.location for name, given in files.items() if isinstance(given, Files)}
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

        What nobody else may do meanwhile is done first, alone. Errors: as `exclusive`; `HeldError` too if another
        builder has other settings.
        """
        with ExitStack() as held:
            others = self._join(held)
            require_owner(self.storage, self.claimant)
            yield others

    def _join(self, held: ExitStack) -> Sequence[Process]:
        """Joins the builders. Others that begin in the same moment hold the store alone first, which is waited for."""
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

    def step(self, stage: Stage, keys: Iterable[str | None] | None = None, *, force: bool = False) -> "Step":
        """Returns the partitions of a stage that have to be computed, of all its partitions or of the given keys."""
        return Step(self, self.planner(), stage, keys, force)


def _config_file(path: str | Path | None) -> Path:
    """Returns the given configuration file, else that of the variable, else that of the working folder.

    `ConfigError` if it is not there and nobody named it on the command line.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    file = Path(path or named or "corpus.yaml").absolute()
    if not path and not os.path.lexists(file):
        why = f"${CONFIG_VARIABLE} names it" if named else f"neither --config nor ${CONFIG_VARIABLE} names another one"
        raise ConfigError(f"{file}: there is no such file, and {why}")
    return file


class Step:
    """Partitions of one stage to compute.

    due: those to compute. fresh: those that need nothing. blocked: those whose inputs do not exist, with the reason.
    unknown: keys that the stage does not have. damaged: partitions (asset, key) with a damaged file that a job met;
    their records are gone, or they were made again.
    """

    def __init__(
        self, corpus: Corpus, planner: Planner, stage: Stage, keys: Iterable[str | None] | None, force: bool
    ) -> None:
        self.stage = stage
        self.outcomes: list[Outcome] = []
        self.damaged: list[tuple[str, str | None]] = []
        self._corpus = corpus
        self._planner = planner
        decisions = planner.decisions(stage)
        wanted = list(decisions) if keys is None else list(keys)
        self.unknown = [key for key in wanted if key not in decisions]
        chosen = [decisions[key] for key in wanted if key in decisions]
        self.fresh = [decision for decision in chosen if decision.status is Status.FRESH and not force]
        due = [decision for decision in chosen if decision.status is not Status.FRESH or force]
        self.blocked = {decision.partition: why for decision in due if (why := self._missing_input(decision))}
        self.due = [decision for decision in due if decision.partition not in self.blocked]

    def _missing_input(self, decision: Decision) -> str | None:
        """Returns in words which input has no record, or is held back by a gate; None if all can be read.

        A stale input can be read: it still has content.
        """
        for edge in self.stage.inputs:
            records = self._planner.records(edge.asset)
            for key in self._planner.keys_read(edge, decision.partition):
                if key not in records:
                    return f"{partition_name(edge.asset, key)} does not exist yet"
            if fault := self._planner.gate(self._corpus.graph[edge.asset]):
                return held_back(edge.asset, fault)
        return None

    def run(self, on_outcome: Callable[[Outcome], None] | None = None) -> list[Outcome]:
        """Computes and commits all due partitions; calls `on_outcome` with each outcome when it is there.

        Partitions that other builders hold are waited for. A partition whose input has a damaged file is computed after
        that input was made again, whose outcome is given to `on_outcome` too. If that does not help, it has failed.
        """
        report = on_outcome or (lambda _: None)
        with self._corpus.building():
            try:
                due = self.due
                while held := self._run(due, report):
                    if not self._mend(held, report):
                        for outcome in held:
                            self._settle(outcome, report)
                        break
                    again = {outcome.partition for outcome in held}
                    due = [decision for decision in due if decision.partition in again]
                restamp(self._planner, self.fresh, self._corpus.builder)
            finally:
                self._remove_obsolete()
        return self.outcomes

    def _run(self, due: Sequence[Decision], report: Callable[[Outcome], None]) -> list[Outcome]:
        """Runs jobs and settles their outcomes; returns those that failed over a damaged input, met for the first time.

        Damaged partitions have no record any more then.
        """
        met, held = set(self.damaged), []
        for outcome in self._outcomes(due):
            if outcome.damaged is None or outcome.damaged in met:
                self._settle(outcome, report)
            else:
                held.append(outcome)
            if outcome.damaged is not None and outcome.damaged not in self.damaged:
                self.damaged.append(outcome.damaged)
        # Not before: the other jobs would only be told that their input does not exist.
        for asset, key in self.damaged if held else ():
            if (asset, key) not in met:
                self._corpus.ledger.forget_damaged(asset, key, self._corpus.builder)
        return held

    def _outcomes(self, due: Iterable[Decision]) -> Iterator[Outcome]:
        """Runs jobs until all partitions are settled, also those that other builders held or made otherwise."""
        elsewhere = Elsewhere(self._planner)
        decisions = {decision.partition: decision for decision in due}
        keys = list(decisions)
        while keys or len(elsewhere):
            for outcome in self._corpus.engine.run(self._jobs([decisions[key] for key in keys], elsewhere)):
                if not elsewhere.takes(outcome):
                    yield outcome
            elsewhere.wait()
            keys = [key for _, key in elsewhere.due()]
        self._corpus.ledger.save(self.stage.name, len(decisions))

    def _settle(self, outcome: Outcome, report: Callable[[Outcome], None]) -> None:
        self.outcomes.append(outcome)
        report(outcome)

    def _mend(self, held: Sequence[Outcome], report: Callable[[Outcome], None]) -> bool:
        """Makes the damaged partitions again over which jobs failed; returns whether all of them exist again."""
        for asset, key in dict.fromkeys(outcome.damaged for outcome in held if outcome.damaged):
            step = self._corpus.step(self._corpus.graph[asset], [key])
            step.run(report)
            if step.failures() or key not in step.records():
                return False
            for record in step.records().values():
                self._planner.committed(record)
        return True

    def _remove_obsolete(self) -> None:
        """Removes the files of replaced records that no record names any more."""
        before = self._planner.records(self.stage.name)
        replaced: dict[Key, set[str]] = {}
        for outcome in self.outcomes:
            for other in outcome.gave_way:
                paths = {file.path for file in other.files}
                replaced.setdefault((other.asset, other.partition), set()).update(paths)
            if outcome.record is not None and (old := before.get(outcome.partition)) is not None:
                named = {file.path for file in outcome.record.files}
                if obsolete := {file.path for file in old.files} - named:
                    replaced.setdefault((outcome.asset, outcome.partition), set()).update(obsolete)
        self._corpus.remove_obsolete(replaced)

    def failures(self) -> list[str]:
        """Returns one line for every partition that failed, is blocked or does not exist."""
        failed = [f"{o.name}: {o.error}" for o in self.outcomes if o.error is not None]
        waiting = [f"{partition_name(self.stage.name, key)}: {why}" for key, why in self.blocked.items()]
        unknown = [f"{partition_name(self.stage.name, key)}: no such partition now" for key in self.unknown]
        return failed + waiting + unknown

    def records(self) -> dict[str | None, Record]:
        """Returns the records of the partitions this step was asked for, newly computed or found fresh."""
        new = {o.partition: o.record for o in self.outcomes if o.record is not None}
        known = self._planner.records(self.stage.name)
        return {d.partition: known[d.partition] for d in self.fresh} | new

    def _jobs(self, due: Iterable[Decision], elsewhere: Elsewhere | None = None) -> Iterator[Job]:
        jobs, name = self._corpus.jobs(self._planner), self.stage.name
        for decision in due:
            expired = elsewhere.expired((name, decision.partition)) if elsewhere else ""
            yield jobs.job(self.stage, decision.partition, expired)
