"""The results and costs of a whole build, stage by stage, from a few sample builds and earlier builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.extrapolation import (
    Duplicates,
    Found,
    Guess,
    Point,
    duplicates,
    extrapolated,
    in_proportion,
    total,
)
from corpus_assets.estimate.sample_builds import SOURCES, Measured, Stats
from corpus_assets.estimate.sizes import Samples, Sizes
from resources.engine.memory import most_of
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Partitioning, Stage

_ENOUGH: Final = 0.25
"""Share of a stage that must be built for its records to say more than samples do."""

_DUPLICATES, _DUPLICATE = "duplicates", "duplicate"
_READS_RAW: Final = ("raw_source", "normalized_documents", "document_keys", "examples")


@dataclass(frozen=True)
class StageEstimate:
    """One stage of the whole build. cpu, seconds: of all partitions together. due: share that is not fresh now.

    recorded: whether the numbers are those of partitions that are built already. alone: its one partition is computed
    while nothing else runs.
    """

    asset: str
    partitions: int
    cpu: Guess
    seconds: Guess
    bytes: Guess
    rows: Guess
    alone: bool
    due: float
    recorded: bool = False


@dataclass(frozen=True)
class Estimate:
    """The whole build. Seconds are CPU seconds but for `wall`.

    range: how many times as many documents as in the samples are kept, with as many and as few duplicates as may be.
    expected: the same with those that are expected.
    documents: rows of all sources.
    text: bytes of their texts.
    start: of the workers, which load libraries and kernels.
    driver: of the process that drives the build.
    stored: bytes of all files and commit records.
    memory: bytes that the workers of a machine may use.
    """

    documents: Guess
    text: Guess
    kept: Guess
    duplicates: Duplicates
    range: tuple[float, float]
    expected: float
    tokens: Mapping[str, Guess]
    stages: Sequence[StageEstimate]
    start: float
    driver: float
    wall: Guess
    stored: Guess
    memory: int
    workers: int

    @property
    def cpu(self) -> Guess:
        """All CPU seconds."""
        work = total(one.cpu for one in self.stages)
        return work + Guess(self.start + self.driver, self.start + self.driver)

    @property
    def due_cpu(self) -> float:
        """CPU seconds of partitions that are not fresh, without the start."""
        return sum(one.cpu.value * one.due for one in self.stages)


def estimated(corpus: Corpus, planner: Planner, samples: Samples) -> Estimate:
    """Returns the estimate of the whole build of a corpus. planner: of the whole."""
    sizes = Sizes(corpus, samples)
    found = duplicates(_dropped([samples.small], sizes), _dropped(samples.blocks, sizes))
    kept = [Point(sizes.text(one, SOURCES), one.summary.kept or 0) for one in samples.blocks]
    change = _kept_change(samples.blocks, found)
    stages = [_stage(corpus, planner, stage, sizes, change) for stage in corpus.graph]
    workers = corpus.engine.workers_per_machine
    start = _start(stages, samples, corpus.engine.workers)
    parts = sum(one.partitions for one in stages)
    driver = samples.small.driver / max(1, _partitions(samples.small)) * parts
    per_record = samples.small.ledger / max(1, _partitions(samples.small))
    return Estimate(
        documents=_rows(samples, sizes),
        text=Guess(sizes.whole(SOURCES)),
        kept=in_proportion(kept, sizes.whole(SOURCES)).times(change),
        duplicates=found,
        range=(_kept_change(samples.blocks, found, found.most), _kept_change(samples.blocks, found, found.least)),
        expected=change,
        tokens=_tokens(corpus, samples, sizes, change),
        stages=stages,
        start=start,
        driver=driver + max(0.0, samples.cold.driver - samples.small.driver),
        wall=_wall(stages, corpus.engine.workers, samples),
        stored=total(one.bytes for one in stages) + Guess(per_record * parts, per_record * parts),
        memory=most_of(corpus.config.engine.memory, workers, corpus.engine.own_memory),
        workers=workers,
    )


def _stage(corpus: Corpus, planner: Planner, stage: Stage, sizes: Sizes, change: float) -> StageEstimate:
    partitions, alone = len(planner.partitions(stage)), stage.partitioning is Partitioning.NONE
    weights = {key: _weight(planner, key) for key in planner.partitions(stage)}
    decisions = planner.decisions(stage).items()
    fresh = [key for key, one in decisions if one.status is Status.FRESH]
    share = sum(weights[key] for key in fresh) / max(1, sum(weights.values()))
    if share >= _ENOUGH:
        known = Stats.of(planner.records(stage.name)[key] for key in fresh)
        found = [Guess(value / share) for value in (known.cpu, known.seconds, known.bytes, known.rows)]
    else:
        more = _more(planner, stage, sizes)
        after = change if stage.name in _after_duplicates(corpus) else 1.0
        found = [_guess(stage, value, sizes, more).times(after) for value in _VALUES]
    cpu, seconds, stored, rows = found
    return StageEstimate(
        stage.name, partitions, cpu, seconds, stored, rows, alone, due=1 - share, recorded=share >= _ENOUGH
    )


_VALUES: Final[tuple[Callable[[Stats], float], ...]] = (
    lambda one: one.cpu,
    lambda one: one.seconds,
    lambda one: one.bytes,
    lambda one: one.rows,
)


def _weight(planner: Planner, key: str | None) -> int:
    shard = planner.shard(key)
    return 1 if shard is None else max(1, shard.bytes)


def _after_duplicates(corpus: Corpus) -> set[str]:
    """Returns the stages that see fewer documents, the more duplicates there are."""
    if _DUPLICATES not in corpus.graph.stages:
        return set()
    return {stage.name for stage in corpus.graph.select([f"{_DUPLICATES}+"])} - {_DUPLICATES}


def _more(planner: Planner, stage: Stage, sizes: Sizes) -> float:
    """Returns how many times as many files, or bytes of them, the whole has as the samples."""
    if stage.partitioning is not Partitioning.SHARD:
        return 1.0
    if stage.name.endswith(_READS_RAW):
        files = [shard for key in planner.partitions(stage) if (shard := planner.shard(key)) is not None]
        read = sum(shard.bytes / sizes.factor(shard.source) for shard in files)
        return sum(shard.bytes for shard in files) / max(1.0, read)
    return len(planner.partitions(stage)) / max(1, sizes.samples.small.stages[stage.name].partitions)


def _guess(stage: Stage, value: Callable[[Stats], float], sizes: Sizes, more: float) -> Guess:
    samples = sizes.samples

    def point(measured: Measured) -> Point:
        return Point(sizes.at(measured, stage), value(measured.stages[stage.name]))

    return extrapolated(point(samples.small), [point(one) for one in samples.blocks], sizes.whole_at(stage), more)


def _rows(samples: Samples, sizes: Sizes) -> Guess:
    read = samples.cold.read.items()
    return Guess(sum(one.all_rows * sizes.factor(source) for source, one in read if sizes.is_of(source, SOURCES)))


def _dropped(measured: Sequence[Measured], sizes: Sizes) -> Found:
    documents = sum(one.summary.documents for one in measured)
    found = sum(one.summary.dropped.get(_DUPLICATE, 0) for one in measured)
    return Found(sum(map(sizes.share, measured)) / len(measured), documents, found)


def _kept_change(blocks: Sequence[Measured], found: Duplicates, share: float | None = None) -> float:
    """Returns how many times as many of the documents are kept as in the samples. share: of duplicates in the whole."""
    kept = sum(one.summary.kept or 0 for one in blocks) / max(1, sum(one.summary.documents for one in blocks))
    more = (found.expected if share is None else share) - found.found
    return max(0.0, kept - more) / kept if kept else 1.0


def _tokens(corpus: Corpus, samples: Samples, sizes: Sizes, change: float) -> dict[str, Guess]:
    """Returns the tokens of each dataset."""
    own = {one["name"] for one in corpus.settings.inputs()}
    counted = [{one.name: one.tokens for one in block.summary.datasets} for block in samples.blocks]
    found = {}
    for name in (dataset.name for dataset in corpus.config.datasets if not isinstance(dataset, TextExport)):
        read = name if name in own else SOURCES
        points = [
            Point(sizes.text(block, read), tokens.get(name, 0))
            for block, tokens in zip(samples.blocks, counted, strict=True)
        ]
        found[name] = in_proportion(points, sizes.whole(read)).times(1.0 if name in own else change)
    return found


def _partitions(measured: Measured) -> int:
    return max(1, sum(one.partitions for one in measured.stages.values()))


def _start(stages: Sequence[StageEstimate], samples: Samples, workers: int) -> float:
    """Returns what all workers take to load libraries and kernels: what a new one took beyond the next."""
    cold, warm = samples.cold.stages, samples.small.stages
    return sum(
        max(0.0, cold[one.asset].cpu - warm[one.asset].cpu) * _at_once(one.alone, one.partitions, workers)
        for one in stages
        if not one.recorded
    )


def _wall(stages: Sequence[StageEstimate], workers: int, samples: Samples) -> Guess:
    """Returns the seconds of the whole build: its work on all workers, the driver beside it, and the start."""
    small, sharing = samples.small, max(1, workers)
    work = total(one.seconds.times(1 / _at_once(one.alone, one.partitions, sharing)) for one in stages)
    known = sum(one.seconds for one in small.stages.values())
    beside = max(0.0, small.wall - known) * sum(one.partitions for one in stages) / _partitions(small)
    start = max(0.0, samples.cold.wall - small.wall)
    return work + Guess(beside + start, beside + start)


def _at_once(alone: bool, partitions: int, workers: int) -> int:
    return 1 if alone else max(1, min(workers, partitions))
