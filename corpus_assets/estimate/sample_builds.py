"""Builds samples of a corpus in a temporary folder, and measures their results and costs."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from typing_extensions import override

from corpus_assets import dataset_names
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.config.selection.sampling import Sample
from corpus_assets.config.storage import StorageSection
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress, Report
from corpus_assets.orchestration.building.summary import Summary, summary
from corpus_assets.orchestration.home.folder import FOLDER, HOME_VARIABLE
from corpus_assets.orchestration.home.postgres import VARIABLE as POSTGRES
from corpus_assets.raw.losses import NOT_SAMPLED
from corpus_assets.raw.sampling import LEFT_OUT_BYTES
from resources.engine.interface import Engine, R, T
from resources.errors import CorpusError
from resources.hashing import keyed_hash
from resources.ledger.records import Record
from resources.planning.planner import Planner
from resources.shards.listing import Listing, Shard
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Job, Outcome

SOURCES = ""
"""The name under which the texts of all sources together are counted; those of a dataset's own files have its name."""

_TRAIN_TEXTS = "mixed_pass2"


@dataclass(frozen=True)
class Stats:
    """The cost of a stage in one build, and the bytes that it wrote. cpu, seconds: of all its partitions together."""

    partitions: int = 0
    cpu: float = 0.0
    seconds: float = 0.0
    bytes: int = 0
    rows: int = 0

    @classmethod
    def of(cls, records: Iterable[Record]) -> Stats:
        """Returns the sums over the records of partitions."""
        found = [(record.statistics, sum(file.bytes for file in record.files)) for record in records]
        return cls(
            len(found),
            sum(numbers.get("cpu_seconds", 0.0) for numbers, _ in found),
            sum(numbers.get("seconds", 0.0) for numbers, _ in found),
            sum(size for _, size in found),
            sum(numbers.get("rows_out") or 0 for numbers, _ in found),
        )


@dataclass(frozen=True)
class Read:
    """Rows and bytes of text of one source: in the sample, and in all of the raw files that it read."""

    rows: int = 0
    text: int = 0
    all_rows: int = 0
    all_text: int = 0


@dataclass(frozen=True)
class Measured:
    """One sample build.

    read: by source, or dataset with files of its own.
    train_text: bytes of the train texts, repeats included.
    driver: CPU seconds of the process that drives the build.
    wall: seconds.
    ledger: bytes of the commit records.
    """

    stages: Mapping[str, Stats]
    read: Mapping[str, Read]
    train_text: int
    summary: Summary
    driver: float
    wall: float
    ledger: int


@dataclass(frozen=True)
class Place:
    """Where samples are built: a temporary folder, with an engine that outlives each build."""

    folder: Path
    engine: Engine


class Lasting(Engine):
    """An engine that keeps its workers when a build ends, so that they load everything once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.workers = engine.workers
        self.workers_per_machine = engine.workers_per_machine

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        return self._engine.run(jobs)

    @override
    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        return self._engine.spread(function, items)

    @override
    def close(self) -> None:
        """Leaves the workers to the next build."""


class Part(Corpus):
    """A sample of a corpus, of some of its raw files."""

    def __init__(self, whole: Corpus, sample: Sample, place: Place, name: str, keys: frozenset[str]) -> None:
        root = str(place.folder / name / "corpus")
        storage = StorageSection(kind="local", root=root, sync=whole.config.storage.sync)
        changes = {"name": "estimate", "sample": sample, "storage": storage, "notices": []}
        config = whole.config.model_copy(update=changes)
        super().__init__(config, whole.folder, place.folder / name / "corpus.yaml")
        self._keys = keys
        self.__dict__["engine"] = place.engine

    @override
    def listing(self) -> Listing:
        found = super().listing()
        return replace(found, shards=tuple(shard for shard in found.shards if shard.key in self._keys))


class _Silent(Progress):
    @override
    def stage(self, stage: Stage, due: int) -> None:
        return

    @override
    def outcome(self, outcome: Outcome) -> None:
        return


def some_files(listing: Listing, sampled: Iterable[str], most: int, seed: int = 0) -> frozenset[str]:
    """Returns the keys of raw files that stand for all: of each source some, chosen by keyed hash; all of benchmarks.

    sampled: names of sources and of datasets with files of their own. most: bytes of all their files together, of which
    each has its share; at least one file of each is taken.
    """
    names = set(sampled)
    whole = sum(shard.bytes for shard in listing.shards if shard.source in names)
    chosen = {shard.key for shard in listing.shards if shard.source not in names}
    for name in names:
        files = [shard for shard in listing.shards if shard.source == name]
        share = most * sum(shard.bytes for shard in files) / max(1, whole)
        chosen.update(shard.key for shard in _first(files, share, seed))
    return frozenset(chosen)


def _first(files: Sequence[Shard], most: float, seed: int) -> Iterator[Shard]:
    taken = 0
    for shard in sorted(files, key=lambda one: keyed_hash("estimate", seed, one.source, one.path_digest())):
        if taken and taken + shard.bytes > most:
            return
        taken += shard.bytes
        yield shard


@contextmanager
def own_home(folder: Path) -> Iterator[None]:
    """Keeps Dagster's runs in a folder, whatever the environment says, apart from those of the corpus."""
    before = {name: os.environ.pop(name) for name in (HOME_VARIABLE, POSTGRES) if name in os.environ}
    os.environ[HOME_VARIABLE] = str(folder / FOLDER)
    try:
        yield
    finally:
        del os.environ[HOME_VARIABLE]
        os.environ.update(before)


def build_sample(whole: Corpus, sample: Sample, place: Place, name: str, keys: frozenset[str]) -> Measured:
    """Builds a sample of some raw files, and measures it. name: of its folder. `CorpusError` if anything fails."""
    return build_part(Part(whole, sample, place, name, keys))


def build_part(corpus: Part, names: Sequence[str] | None = None) -> Measured:
    """Builds a sample, and measures it. names: of the assets that are built; by default all."""
    stages = list(corpus.graph) if names is None else corpus.graph.select(names)
    started, cpu = time.monotonic(), cpu_seconds()
    report = build(corpus, stages, _Silent())
    wall, driver = time.monotonic() - started, cpu_seconds() - cpu
    _require_built(report)
    return replace(measured_store(corpus, corpus.planner()), driver=driver, wall=wall)


def measured_store(corpus: Corpus, planner: Planner) -> Measured:
    """Returns what the records of a corpus that is built say, which is nothing of the driver and of wall time."""
    records = {stage.name: list(planner.records(stage.name).values()) for stage in corpus.graph}
    return Measured(
        stages={asset: Stats.of(found) for asset, found in records.items()},
        read=_read(planner),
        train_text=sum(record.statistics.get("text_bytes", 0) for record in records.get(_TRAIN_TEXTS, ())),
        summary=summary(planner),
        driver=0.0,
        wall=0.0,
        ledger=sum(entry.bytes for entry in corpus.storage.entries("ledger")),
    )


def _require_built(report: Report) -> None:
    problems = [*report.failed, *report.failed_checks, *report.held_back]
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise CorpusError(f"a sample cannot be built, so nothing can be estimated: {problems[0]}{more}")


def read_shards(planner: Planner) -> Iterator[tuple[Shard, Record]]:
    """Yields the raw files whose texts are stored, with the record of those."""
    own = [entry["name"] for entry in planner.settings.inputs()]
    given = [entry["name"] for entry in planner.settings.values["datasets"] if reads_tokens(entry)]
    streams = map(dataset_names.token_stream, map(dataset_names.own_stream, given))
    assets = ["normalized_documents", *map(dataset_names.examples, own), *streams]
    for asset in (name for name in assets if name in planner.graph.stages):
        for key, record in planner.records(asset).items():
            shard = planner.shard(key)
            if shard is not None:
                yield shard, record


def _read(planner: Planner) -> dict[str, Read]:
    found: dict[str, Read] = {}
    for shard, record in read_shards(planner):
        found[shard.source] = _added(found.get(shard.source, Read()), record)
    return found


def _added(before: Read, record: Record) -> Read:
    numbers = record.statistics
    # Documents whose ids were given have no text, and are measured in ids.
    rows, text = numbers.get("rows_in", 0), numbers.get("text_bytes") or numbers.get("tokens", 0)
    return Read(
        before.rows + rows - numbers.get("dropped", {}).get(NOT_SAMPLED, 0),
        before.text + text,
        before.all_rows + rows,
        before.all_text + text + numbers.get(LEFT_OUT_BYTES, 0),
    )


def cpu_seconds() -> float:
    """Returns the CPU seconds of this process so far, without those of workers."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
