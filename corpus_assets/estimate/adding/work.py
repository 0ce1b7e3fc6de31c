"""What is computed again if a source is added, and how long that takes: by the plan, records and a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from corpus_assets.dedup.assets import STAGES as DEDUP
from corpus_assets.estimate.adding.copies import Copies
from corpus_assets.estimate.extrapolation import Point, line
from corpus_assets.estimate.sample_builds import Measured, Stats
from corpus_assets.orchestration.building.forecasting.forecast import Texts, function_of
from corpus_assets.orchestration.building.forecasting.usual_costs import FIXED, PER_PARTITION
from resources.formats.attributes import FLAGS
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Input, Partitioning, Reads, Stage

_DUPLICATES: Final = "duplicates"
_BEFORE: Final = frozenset(stage.name for stage in DEDUP)
_BY_CONTENT: Final = ("components", "_seen", "_alike")
"""Ends of names of assets that give a shard something new only if the source has copies of its documents."""

_SELDOM: Final = frozenset({"boilerplate_ngrams"})
"""Assets of the whole corpus that mostly come out as before: a benchmark's n-grams that are in very many documents."""

_OLD_ONES_STAY: Final = ("source", "first")
"""Rules of `dedup.keep` by which a document of a later source is never kept instead of an earlier one."""


@dataclass(frozen=True)
class Added:
    """The source as a sample shows it. name: of it. documents, text: of its raw files, the latter in bytes.

    kept: share of its text that is no copy. part: share of its documents that were looked up.
    """

    name: str
    documents: float
    text: float
    kept: float
    part: float
    copies: Copies
    small: Measured
    large: Measured


@dataclass(frozen=True)
class StageWork:
    """What a stage does. new: partitions of the source. again: others that are surely computed again.

    perhaps: others that may come out as before. likely: how many of them are expected not to. seconds: of work, as
    expected, at least and at most, on all workers together. at_once: workers that share it.
    """

    asset: str
    partitions: int
    new: int
    again: int
    perhaps: int
    likely: float
    seconds: float
    least: float
    most: float
    at_once: float


class Work:
    """Finds what stages do. planner: of the corpus with the source."""

    def __init__(self, planner: Planner, added: Added, workers: int) -> None:
        self._planner = planner
        self._added = added
        self._workers = max(1, workers)
        self._texts = Texts(planner)
        self._chances: dict[str, dict[str | None, float]] = {}
        old = self._old_text()
        self._growth = {True: 1 + added.text / old, False: 1 + added.text * added.kept / old}
        self._touched = _touched(planner, added)

    def _old_text(self) -> float:
        raw = self._texts.raw.copy()
        del raw[self._added.name]
        return max(1.0, self._texts.of(raw))

    def of(self, stage: Stage) -> StageWork | None:
        """Returns what a stage does; None if all of it is fresh."""
        if self._planner.all_fresh(stage):
            return None
        due = self.chances(stage)
        decisions = self._planner.decisions(stage)
        not_fresh = [key for key, one in decisions.items() if one.status is not Status.FRESH]
        new = [key for key in not_fresh if self._is_new(key)]
        open_ones = [key for key in not_fresh if not self._is_new(key)]
        certain = stage.name in _SELDOM
        sure = [key for key in open_ones if certain or due[key] >= 1]
        perhaps = [key for key in open_ones if not certain and due[key] < 1]
        likely = sum(due[key] for key in perhaps)
        seconds = {key: self._seconds(stage, key) for key in (*new, *open_ones)}
        least = sum(seconds[key] for key in (*new, *sure))
        most = least + sum(seconds[key] for key in perhaps)
        expected = least + sum(due[key] * seconds[key] for key in perhaps)
        largest = max(seconds.values(), default=0.0)
        even = expected / largest if largest > 0 else 1.0
        alone = stage.partitioning is Partitioning.NONE
        at_once = 1.0 if alone else max(1.0, min(self._workers, len(new) + len(sure) + likely, even))
        counts = (len(decisions), len(new), len(sure), len(perhaps), likely)
        return StageWork(stage.name, *counts, expected, least, most, at_once)

    def chances(self, stage: Stage) -> dict[str | None, float]:
        """Returns for every partition how likely its content changes."""
        if stage.name not in self._chances:
            self._chances[stage.name] = {
                key: self._chance(stage, key, one.status) for key, one in self._planner.decisions(stage).items()
            }
        return self._chances[stage.name]

    def _chance(self, stage: Stage, key: str | None, status: Status) -> float:
        if status is not Status.FRESH and stage.name in _SELDOM:
            return 0.0
        if status is Status.WAITING:
            edges = (edge for edge in stage.inputs if edge.tracked)
            return max((self._through(edge, key) for edge in edges), default=0.0)
        return 0.0 if status is Status.FRESH else 1.0

    def _through(self, edge: Input, key: str | None) -> float:
        """Returns how likely an edge has something new for a partition."""
        found = self.chances(self._planner.graph[edge.asset])
        if edge.mapping is Reads.SAME and key in found:
            of_flags = edge.asset == _DUPLICATES and edge.segment == FLAGS and key in self._touched and found[key]
            return self._touched[str(key)][1] if of_flags else found[key]
        changed = max(found.values(), default=0.0)
        if changed and edge.mapping is Reads.OWN_SEGMENT and edge.asset.endswith(_BY_CONTENT):
            return self._touched[str(key)][0] if key in self._touched else changed
        return 1.0 if changed else 0.0

    def _is_new(self, key: str | None) -> bool:
        shard = self._planner.shard(key)
        return shard is not None and shard.source == self._added.name

    def _seconds(self, stage: Stage, key: str | None) -> float:
        """Returns the seconds that a partition takes if it is computed."""
        if self._is_new(key):
            return self._of_sample(stage, key)
        records = self._planner.records(stage.name)
        if key not in records:
            known = Stats.of(records.values())
            return known.seconds / max(1, known.partitions)
        seconds = float(records[key].statistics.get("seconds") or 0.0)
        if stage.partitioning is Partitioning.SHARD:
            return seconds
        function = function_of(stage)
        fixed = seconds if function in FIXED else min(seconds, PER_PARTITION)
        return fixed + (seconds - fixed) * self._growth[stage.name in _BEFORE]

    def _of_sample(self, stage: Stage, key: str | None) -> float:
        small, large = self._added.small, self._added.large
        if stage.name not in large.stages:
            return 0.0
        points = [Point(_text(one), one.stages[stage.name].seconds) for one in (small, large)]
        fixed, slope = line(points[0], points[1:])
        shard = self._planner.shard(key)
        raw = sum(one.bytes for one in self._planner.listing.shards if one.source == self._added.name)
        share = shard.bytes / max(1, raw) if shard is not None else 0.0
        return fixed / max(1, large.stages[stage.name].partitions) + slope * self._added.text * share


def _text(measured: Measured) -> float:
    return max(1.0, float(sum(read.text for read in measured.read.values())))


def _touched(planner: Planner, added: Added) -> Mapping[str, tuple[float, float]]:
    """Returns for every other shard how likely what is said of its documents changes, and how likely one of it goes.

    The first: a cluster with a removed document of it grows, or one of it goes. A copy that was not sampled may be in
    any shard, the likelier the larger the shard is.
    """
    copies, part = added.copies, max(added.part, 1e-9)
    shards = [shard for shard in planner.listing.shards if shard.source != added.name]
    whole, removed = max(1, sum(shard.bytes for shard in shards)), sum(again for again, _ in copies.by_shard.values())
    more = (1 - part) / part
    stay = planner.settings.values["dedup"]["keep"][0] in _OLD_ONES_STAY
    found = {}
    for shard in shards:
        again, near = copies.by_shard.get(shard.key, (0, 0))
        share = shard.bytes / whole
        grown = 1.0 if again else -math.expm1(-removed * more * share)
        goes = 0.0 if stay else -math.expm1(-(near / part + copies.near * more * share) / 2)
        found[shard.key] = max(grown, goes), goes
    return found
