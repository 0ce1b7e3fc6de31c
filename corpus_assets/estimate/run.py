"""Makes the samples of an estimate, within a given time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from corpus_assets.config.selection.sampling import Sample
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.estimate import Estimate, estimated
from corpus_assets.estimate.known import keep_estimate, raw_bytes, recorded
from corpus_assets.estimate.sample_builds import (
    Lasting,
    Measured,
    Place,
    build_sample,
    cpu_seconds,
    own_home,
    some_files,
)
from corpus_assets.estimate.sizes import Samples, factors_of
from resources.engine.local import LocalEngine
from resources.planning.planner import Planner

BLOCKS: Final = 3
MOST_READ: Final = 48 << 20
"""Most raw bytes that are read for each sample, unless one file of each source has more."""

_SMALL: Final = 500_000
"""Raw bytes that the first samples stand for."""

_LEAST: Final = 4
"""Least size of a block, as a multiple of the first samples, even if that takes longer: smaller show nothing."""

_LARGEST: Final = 0.5
"""Share of the rows of a block at most."""


@dataclass(frozen=True)
class Result:
    """An estimate and its basis.

    read, raw: bytes of the raw files that were read, and of all.
    files, of: how many these are.
    shares: of the rows in the small and in the larger samples; nothing if everything is built already.
    """

    estimate: Estimate
    read: int
    raw: int
    files: int
    of: int
    shares: tuple[float, float] | None
    seconds: float


def run_estimate(corpus: Corpus, seconds: float, say: Callable[[str], None]) -> Result:
    """Returns the estimate of the whole build of a corpus. seconds: about how long it may take. Changes nothing of it.

    Keeps the result for `corpus doctor` (`known_cost`). `CorpusError` if samples cannot be built.
    """
    started = time.monotonic()
    planner = corpus.planner()
    shards = planner.listing.shards
    names = {*corpus.settings.sources(), *(one["name"] for one in corpus.settings.inputs())}
    raw = raw_bytes(corpus, planner.listing)
    if all(planner.all_fresh(stage) for stage in corpus.graph) and (built := recorded(corpus, planner)) is not None:
        return Result(built, 0, raw, 0, len(shards), None, time.monotonic() - started)
    chosen = some_files(planner.listing, names, MOST_READ)
    read = sum(shard.bytes for shard in shards if shard.source in names and shard.key in chosen)
    with TemporaryDirectory(prefix="corpus-estimate-") as name, own_home(Path(name)):
        engine = LocalEngine(1) if corpus.config.engine.kind in ("local", "ray") else corpus.engine
        try:
            making = _Making(corpus, planner, Place(Path(name), Lasting(engine)), chosen, say)
            samples = making.samples(_SMALL / max(1, read), started + seconds)
        finally:
            engine.close()
    found = estimated(corpus, planner, samples)
    keep_estimate(corpus, raw, found)
    return Result(found, read, raw, len(chosen), len(shards), making.shares, time.monotonic() - started)


class _Making:
    """Builds samples of some raw files, one after the other."""

    def __init__(
        self, corpus: Corpus, planner: Planner, place: Place, chosen: frozenset[str], say: Callable[[str], None]
    ) -> None:
        self._corpus = corpus
        self._place = place
        self._chosen = chosen
        self._say = say
        self._factors = factors_of(planner.listing, chosen)
        self._made = 0
        self.shares = (0.0, 0.0)

    def samples(self, small: float, until: float) -> Samples:
        """Returns all samples. small: share of the rows that the first ones take. until: when they should be there."""
        small = min(small, _LARGEST / _LEAST)
        cold = self._build(small, "a small sample, for what the start costs")
        # A build is a process that loads everything that this one has loaded.
        cold = replace(cold, driver=cpu_seconds())
        warm = self._build(small, "another one, for what does not grow")
        blocks: list[Measured] = []
        large, rate = small, sum(one.seconds for one in warm.stages.values()) / small
        for number in range(BLOCKS):
            # The first one says how fast the work grows; until then all of it is taken to grow.
            each = (until - time.monotonic()) / (BLOCKS - number)
            large = min(_LARGEST, max(_LEAST * small, large, small + 0.9 * (each - warm.wall) / rate))
            blocks.append(self._build(large, f"sample {number + 1} of {BLOCKS}"))
            rate = max(0.1 * rate, (blocks[-1].wall - warm.wall) / (large - small)) if large > small else rate
        self.shares = (small, large)
        return Samples(cold, warm, blocks, self._factors)

    def _build(self, share: float, what: str) -> Measured:
        """Builds a sample in which every source has its share of the whole, however many of its files are read."""
        self._say(f"{what}: {share:.2%} of the rows")
        self._made += 1
        most = max(self._factors.values(), default=1.0)
        shares = {name: min(1.0, share * factor / most) for name, factor in self._factors.items()}
        sample = Sample(share=share, shares=shares, seed=self._made)
        return build_sample(self._corpus, sample, self._place, f"sample-{self._made}", self._chosen)
