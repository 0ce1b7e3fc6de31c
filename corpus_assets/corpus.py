"""A corpus opened from its `corpus.yaml`: configuration, graph, store and ledger in one place."""

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from corpus_assets.config import CorpusConfig, load_config
from corpus_assets.config_section import Section
from corpus_assets.raw.readers import RawFile, listed_members
from corpus_assets.stages import corpus_stages
from resources.engine import Engine, LocalEngine
from resources.errors import ConfigError
from resources.execute import Job, Outcome
from resources.graph import Graph, Partitioning, Reads, Stage
from resources.ledger import Ledger, Record
from resources.outside import is_template
from resources.plan import HELD_BACK, Decision, Planner, Status
from resources.settings import Settings
from resources.sources import Listing, Shard, SourceFolder, list_shards
from resources.storage import LocalStorage

CONFIG_VARIABLE = "CORPUS_CONFIG"
_PATHS = ("location", "path", "merges", "encoder", "config", "chat_template")
S = TypeVar("S")


class Corpus:
    """Everything that planning and building need; knows nothing of Dagster."""

    def __init__(self, config: CorpusConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.settings = Settings(_with_absolute_paths(config, folder).model_dump())
        self.graph = Graph([*corpus_stages(config), *_own_stages(config, folder)])
        self.storage = LocalStorage(folder / config.storage.root, config.storage.sync)
        self.ledger = Ledger(self.storage)

    @classmethod
    def open(cls, path: str | Path | None = None) -> "Corpus":
        """Open by configuration file: the given one, else `$CORPUS_CONFIG`, else `corpus.yaml` here."""
        file = Path(path or os.environ.get(CONFIG_VARIABLE) or "corpus.yaml").absolute()
        return cls(load_config(file), file.parent)

    @cached_property
    def engine(self) -> Engine:
        """The configured engine; its workers start with the first job and stay."""
        workers = self.config.engine.workers
        return LocalEngine(_cores() if workers == "auto" else workers)

    def listing(self) -> Listing:
        """The raw files that are there now."""
        folders = [_folder(source, "source", f"sources.{source['name']}") for source in self.settings.values["sources"]]
        for files in self.settings.inputs():
            folders.append(_folder(files, "dataset", f"datasets.{files['name']}.input"))
        return list_shards(folders, lambda label, opener: listed_members(RawFile(label, opener, None)))

    def planner(self, listing: Listing | None = None) -> Planner:
        """A look at the state of the corpus as it is now."""
        return Planner(self.graph, self.settings, listing or self.listing(), self.storage, self.ledger)

    def pending(self, stage: Stage, keys: Iterable[str | None] | None = None, *, force: bool = False) -> "Pending":
        """What has to be computed of a stage (or of some of its partitions)."""
        return Pending(self, self.planner(), stage, keys, force)


class Pending:
    """The lazy result of one step: partitions to compute, which whoever drives it gets one by one.

    Partitions found fresh are in `fresh`; those whose inputs do not exist are in `blocked`, with the reason.
    """

    def __init__(
        self, corpus: Corpus, planner: Planner, stage: Stage, keys: Iterable[str | None] | None, force: bool
    ) -> None:
        self.stage = stage
        self.outcomes: list[Outcome] = []
        self._corpus = corpus
        self._planner = planner
        self._by_key = planner.listing.by_key()
        decisions = planner.decisions(stage)
        wanted = list(decisions) if keys is None else list(keys)
        self.unknown = [key for key in wanted if key not in decisions]
        chosen = [decisions[key] for key in wanted if key in decisions]
        self.fresh = [decision for decision in chosen if decision.status is Status.FRESH and not force]
        due = [decision for decision in chosen if decision.status is not Status.FRESH or force]
        self.blocked = {decision.partition: why for decision in due if (why := self._missing_input(decision))}
        self.due = [decision for decision in due if decision.partition not in self.blocked]

    def _missing_input(self, decision: Decision) -> str | None:
        """An input without a record, or held back by its gate. (A stale one still has content.)"""
        for edge in self.stage.inputs:
            records = self._planner.records(edge.asset)
            for key in self._input_keys(edge.asset, edge.mapping, decision.partition):
                if key not in records:
                    return f"{edge.asset}/{key} does not exist yet" if key else f"{edge.asset} does not exist yet"
            if fault := self._planner.gate(self._corpus.graph[edge.asset]):
                return f"{edge.asset} {HELD_BACK} {fault}"
        return None

    def _input_keys(self, asset: str, mapping: Reads, key: str | None) -> Sequence[str | None]:
        upstream = self._corpus.graph[asset]
        if upstream.partitioning is Partitioning.NONE:
            return [None]
        return [key] if mapping is Reads.SAME else list(self._planner.decisions(upstream))

    def drive(self, seen: Callable[[Outcome], None] | None = None) -> list[Outcome]:
        """Compute and commit everything to do; `seen` is called with each outcome as it comes."""
        with self._corpus.storage.exclusive():
            for outcome in self._corpus.engine.run(self._jobs()):
                self.outcomes.append(outcome)
                if seen is not None:
                    seen(outcome)
            self._restamp()
        return self.outcomes

    def failures(self) -> list[str]:
        """What went wrong, a line each."""
        failed = [f"{o.name}: {o.error}" for o in self.outcomes if o.error is not None]
        name = self.stage.name
        waiting = [f"{name}/{key}: {why}" if key else f"{name}: {why}" for key, why in self.blocked.items()]
        return failed + waiting + [f"{name}/{key}: no such partition now" for key in self.unknown]

    def records(self) -> dict[str | None, Record]:
        """Records of the partitions this step was asked for, newly computed or found fresh."""
        new = {o.partition: o.record for o in self.outcomes if o.record is not None}
        known = self._planner.records(self.stage.name)
        return {d.partition: known[d.partition] for d in self.fresh} | new

    def _jobs(self) -> Iterator[Job]:
        # A whole-corpus partition is computed alone: nobody shares the memory with it.
        sharing = 1 if self.stage.partitioning is Partitioning.NONE else max(1, self._corpus.engine.workers)
        memory = self._corpus.config.engine.memory // sharing
        for decision in self.due:
            shard = self._by_key.get(decision.partition or "")
            yield Job(
                stage=self.stage,
                partition=decision.partition,
                shards=self._shards(shard),
                parameters=self._corpus.settings.parameters(self.stage, shard),
                places=self.stage.places(self._corpus.settings.values) if self.stage.places else {},
                expected=self._expected(decision.partition),
                storage=self._corpus.storage,
                memory=memory,
            )

    def _shards(self, shard: Shard | None) -> tuple[Shard, ...]:
        """The raw files a job may look at: its own, or all of them where the whole corpus is one partition."""
        if self.stage.partitioning is Partitioning.NONE:
            return self._planner.listing.shards
        return () if shard is None else (shard,)

    def _expected(self, key: str | None) -> dict[str, tuple[str | None, ...]]:
        return {edge.asset: tuple(self._input_keys(edge.asset, edge.mapping, key)) for edge in self.stage.inputs}

    def _restamp(self) -> None:
        """A raw file that was touched but not changed: its record takes the new time, and nothing else happens."""
        for decision in self.fresh:
            shard = self._by_key.get(decision.partition or "")
            if decision.touched and shard is not None:
                record = self._planner.records(self.stage.name)[decision.partition]
                record.statistics["modified"] = shard.modified
                self._corpus.ledger.write(record)


def _with_absolute_paths(config: CorpusConfig, folder: Path) -> CorpusConfig:
    """Locations resolved against the folder of corpus.yaml."""
    sources = [_absolute(source, folder) for source in config.sources]
    datasets = [
        _absolute(dataset, folder).model_copy(
            update={
                "input": _absolute(dataset.input, folder),
                "tokenizer": _absolute(dataset.tokenizer, folder),
            }
        )
        for dataset in config.datasets
    ]
    tokenizer = _absolute(config.tokenizer, folder)
    return config.model_copy(update={"sources": sources, "datasets": datasets, "tokenizer": tokenizer})


def _absolute(section: S, folder: Path) -> S:
    """A section with its paths resolved; anything else as it is."""
    if not isinstance(section, Section):
        return section
    found = {name: getattr(section, name, None) for name in _PATHS}
    paths = {name: value for name, value in found.items() if value and not is_template(value)}
    return section.model_copy(update={name: str(folder / value) for name, value in paths.items()})


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(files: Mapping[str, Any], what: str, key: str) -> SourceFolder:
    return SourceFolder(files["name"], files["location"], _globs(files["glob"]), files["format"], key, what)


def _globs(glob: str | list[str]) -> tuple[str, ...]:
    return (glob,) if isinstance(glob, str) else tuple(glob)


def _own_stages(config: CorpusConfig, folder: Path) -> Iterator[Stage]:
    """Stages of the user's own modules, each of which has a list STAGES; a module may lie beside corpus.yaml."""
    if config.stages and str(folder) not in sys.path:
        sys.path.append(str(folder))
    for name in config.stages:
        try:
            module = importlib.import_module(name)
        except Exception as error:
            raise ConfigError(f"stages: module {name!r} cannot be imported: {type(error).__name__}: {error}") from error
        stages = getattr(module, "STAGES", None)
        if not isinstance(stages, list | tuple) or not all(isinstance(stage, Stage) for stage in stages):
            raise ConfigError(f"stages: module {name!r} needs a list STAGES of resources.graph.Stage")
        yield from stages
