"""How long the rest of a build takes: what partitions took the last time, or usually take, and what they take now."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from corpus_assets.orchestration.building.forecasting.usual_costs import FIXED, OF_OTHERS, PER_PARTITION, USUAL
from resources.planning.planner import Planner
from resources.shards.listing import Shard
from resources.stage.declaration import Stage

READ: Final = "normalized_documents"
"""The asset whose records say how much text a raw file has."""

ALL: Final = "*"
"""Stands for all sources together."""

_PACKED: Final = (".gz", ".zst", ".bz2", ".xz", ".lz4", ".parquet", ".tar", ".tgz")
_UNPACKED_BYTES, _PLAIN_BYTES = 2.5, 0.9
"""Bytes of text in a byte of a raw file, until some files of its source are read."""

STEADY = 2.0
"""Seconds of work that the first measured speed counts against, so that one odd partition does not decide it."""


class Texts:
    """Bytes of text in a byte of the raw files of each source. raw: the bytes of all raw files, by source."""

    def __init__(self, planner: Planner) -> None:
        self.raw: Counter[str] = Counter()
        self._guessed: dict[str, float] = {}
        self._read: Counter[str] = Counter()
        self._text: Counter[str] = Counter()
        self._densities: dict[str, float] = {}
        for shard in planner.listing.shards:
            self.raw[shard.source] += shard.bytes
            packed = shard.path.lower().endswith(_PACKED)
            text = shard.bytes * (_UNPACKED_BYTES if packed else _PLAIN_BYTES)
            self._guessed[shard.source] = self._guessed.get(shard.source, 0.0) + text
        if READ in planner.graph.stages:
            for key, record in planner.records(READ).items():
                self.read(planner.shard(key), record.statistics.get("text_bytes"))

    def read(self, shard: Shard | None, text: int | None) -> None:
        """Notes how much text a raw file has."""
        if shard is not None and text is not None:
            self._read[shard.source] += shard.bytes
            self._text[shard.source] += text
            self._densities.clear()

    def of(self, raw: Counter[str]) -> float:
        """Returns the bytes of text in so many raw bytes of each source, or of `ALL`."""
        return sum(size * self._density(source) for source, size in raw.items())

    def _density(self, source: str) -> float:
        if source not in self._densities:
            self._densities[source] = self._found(source)
        return self._densities[source]

    def _found(self, source: str) -> float:
        if source == ALL:
            return self.of(self.raw) / max(1, self.raw.total())
        if self._read[source]:
            return self._text[source] / self._read[source]
        guessed = sum(self._read[name] * self._guess(name) for name in self._read)
        return self._guess(source) * (self._text.total() / guessed if guessed else 1.0)

    def _guess(self, source: str) -> float:
        return self._guessed.get(source, 0.0) / max(1, self.raw[source])


@dataclass
class Part:
    """Partitions of one stage: how many, the seconds that some took before, and the raw bytes of the others."""

    count: int = 0
    known: float = 0.0
    new: int = 0
    raw: Counter[str] = field(default_factory=Counter)

    def add(self, seconds: float | None, raw: Counter[str], sign: int = 1) -> None:
        """Counts a partition, or with the sign -1 takes it out."""
        self.count += sign
        if seconds is not None:
            self.known += sign * seconds
        else:
            self.new += sign
            for source, size in raw.items():
                self.raw[source] += sign * size


class Costs:
    """What one stage costs: partitions that are left, those among them that may turn out fresh, and those done.

    alone: whether it runs on one worker. seconds: that the done ones took.
    """

    def __init__(self, stage: Stage, texts: Texts, *, alone: bool) -> None:
        name = function_of(stage)
        self._fixed = FIXED.get(name, PER_PARTITION)
        self._rate = 0.0 if name in FIXED else USUAL.get(name, OF_OTHERS) * 1e-9
        self._texts = texts
        self.alone = alone
        self.left, self.unsure, self.done = Part(), Part(), Part()
        self.seconds = 0.0
        self._largest = 0.0

    def expect(self, seconds: float | None, raw: Counter[str], *, unsure: bool) -> None:
        """Counts a partition that is left. seconds: that it took before; None if it was never made."""
        one = Part()
        one.add(seconds, raw)
        self._largest = max(self._largest, self.usual(one))
        self.left.add(seconds, raw)
        if unsure:
            self.unsure.add(seconds, raw)

    def took(self, before: float | None, raw: Counter[str], seconds: float | None, *, unsure: bool) -> None:
        """Counts a partition that is done. seconds: that it took now; None if it failed."""
        self.left.add(before, raw, -1)
        if unsure:
            self.unsure.add(before, raw, -1)
        if seconds is not None:
            self.done.add(before, raw)
            self.seconds += seconds

    def settle(self) -> None:
        """Notes that nothing is left."""
        self.left, self.unsure = Part(), Part()

    def usual(self, part: Part) -> float:
        """Returns the seconds of work of partitions, as they took before or usually take."""
        return max(0.0, part.known) + part.new * self._fixed + self._rate * self._texts.of(part.raw)

    def rest(self, speed: float, workers: int, *, least: bool = False) -> float:
        """Returns the seconds until it is done on so many workers. speed: seconds that a usual second takes now.

        least: without the partitions that may turn out fresh.
        """
        left, done = self.usual(self.left), self.usual(self.done)
        if least:
            left = max(0.0, left - self.usual(self.unsure))
        if left <= 0:
            return 0.0
        weight = (left + done) / max(1, self._count)
        factor = (self.seconds + speed * weight) / (done + weight)
        return factor * left / self.sharing(workers)

    def behind(self, workers: int) -> float:
        """Returns the seconds of wall time of what is done."""
        return self.seconds / self.sharing(workers)

    def sharing(self, workers: int) -> float:
        """Returns how many workers share the stage: one at most for each partition, and fewer if one is the largest."""
        whole = self.usual(self.left) + self.usual(self.done)
        even = whole / self._largest if self._largest else 1.0
        return 1.0 if self.alone else max(1.0, min(workers, self._count, even))

    @property
    def share_left(self) -> float:
        """The share of its partitions that is left."""
        return self.left.count / max(1, self._count)

    @property
    def _count(self) -> int:
        return self.left.count + self.done.count


def speed_of(stages: Iterable[Costs]) -> float:
    """Returns the seconds that a second of usual work takes in this build: other texts, or another machine."""
    took = usual = STEADY
    for one in stages:
        took += one.seconds
        usual += one.usual(one.done)
    return took / usual


def function_of(stage: Stage) -> str:
    """Returns the name of the function that computes a stage, by which usual costs are known."""
    function = stage.compute.func if isinstance(stage.compute, partial) else stage.compute
    return f"{function.__module__.removeprefix('corpus_assets.')}:{getattr(function, '__name__', '')}"
