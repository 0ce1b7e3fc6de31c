"""Estimates what one more source costs: looks at it, builds samples of it in a temporary place, and asks the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from corpus_assets.config.selection.sampling import Sample
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.adding.copies import Copies, copies_in
from corpus_assets.estimate.adding.section import OPTION, asked_of, section_of
from corpus_assets.estimate.adding.work import Added, StageWork, Work
from corpus_assets.estimate.extrapolation import Duplicates, Found, duplicates
from corpus_assets.estimate.sample_builds import (
    Lasting,
    Measured,
    Part,
    Place,
    build_part,
    cpu_seconds,
    own_home,
    some_files,
)
from corpus_assets.estimate.sizes import factors_of
from resources.engine.local import LocalEngine
from resources.errors import ConfigError
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning

MOST_READ: Final = 48 << 20
"""Most raw bytes that are read for each sample, unless one file has more."""

_SMALL: Final = 500_000
_LARGEST_SMALL: Final = 0.125
"""Raw bytes that the first samples stand for, and the share of the rows that they have at most."""

_LEAST: Final = 4_000_000
"""Raw bytes that the larger one stands for at least, however long that takes."""

_DUPLICATE: Final = "duplicate"


@dataclass(frozen=True)
class Cost:
    """One more source. section: of corpus.yaml. files, raw: how many raw files it has, and their bytes.

    share: of its rows in the sample. among: share of its documents that are copies of each other. kept: documents that
    are used. start: seconds before the first partition. beside: seconds of a partition in which no worker computes.
    seconds: of wall time as expected, at least and at most. lasted: seconds that the estimate took.
    """

    section: Mapping[str, Any]
    files: int
    raw: int
    share: float
    documents: float
    text: float
    copies: Copies
    among: Duplicates
    kept: float
    stages: Sequence[StageWork]
    start: float
    beside: float
    seconds: tuple[float, float, float]
    workers: int
    lasted: float


def run_added(
    config: Path | None, changes: Sequence[str], given: str, seconds: float, say: Callable[[str], None]
) -> Cost:
    """Returns what a source adds to a corpus that is built. given: `NAME=LOCATION`. Changes nothing of the corpus.

    changes: `KEY=VALUE` each; those of `sources.NAME` are of the new source. seconds: about how long it may take.
    `CorpusError` if the corpus is not built, or the source cannot be used.
    """
    started, loaded = time.monotonic(), cpu_seconds()
    name = given.partition("=")[0]
    own = [one for one in changes if one.startswith(f"sources.{name}.")]
    corpus = Corpus.open(config, [one for one in changes if one not in own], read_only=True)
    asked = asked_of(given, corpus.config)
    _require_built(corpus.planner())
    section = section_of(asked, corpus.file, own, say)
    more = Corpus.open(config, changes, sources=[section], read_only=True)
    planning = time.monotonic()
    planner = more.planner()
    for stage in more.graph:
        planner.decisions(stage)
    planned = time.monotonic() - planning
    shards = [shard for shard in planner.listing.shards if shard.source == name]
    raw = sum(shard.bytes for shard in shards)
    if not raw:
        raise ConfigError(f"{OPTION}: {asked.location!r} has no raw files that are not empty")
    with TemporaryDirectory(prefix="corpus-estimate-") as folder, own_home(Path(folder)):
        engine = LocalEngine(1) if corpus.config.engine.kind in ("local", "ray") else corpus.engine
        try:
            made = _Samples(more, planner, Place(Path(folder), Lasting(engine)), name, say)
            made.build(started + seconds)
            copies = copies_in(corpus, made.largest)
        finally:
            engine.close()
    added, among = _added(made, copies)
    work = Work(planner, added, more.engine.workers)
    stages = [found for stage in more.graph if (found := work.of(stage)) is not None]
    start = loaded + planned + max(0.0, made.cold.wall - made.small.wall)
    beside = _beside(made.small)
    return Cost(
        section=section,
        files=len(shards),
        raw=raw,
        share=added.part,
        documents=added.documents,
        text=added.text,
        copies=copies,
        among=among,
        kept=added.documents * _kept_share(made.large, copies, among),
        stages=stages,
        start=start,
        beside=beside,
        seconds=_wall(stages, beside, start),
        workers=more.engine.workers,
        lasted=time.monotonic() - started,
    )


def _require_built(planner: Planner) -> None:
    due = [stage.name for stage in planner.graph if not planner.all_fresh(stage)]
    if due:
        raise ConfigError(
            f"{OPTION}: the corpus is not built: {due[0]}{f' and {len(due) - 1} more assets' if due[1:] else ''} would "
            "be computed without the source too; run `corpus build` first"
        )


class _Samples:
    """Samples of the source alone, up to the last stage of shards. cold: with new workers. small: as large, then.

    large: larger, as the time allows. largest: the corpus of that.
    """

    cold: Measured
    small: Measured
    large: Measured
    largest: Part

    def __init__(self, corpus: Corpus, planner: Planner, place: Place, name: str, say: Callable[[str], None]) -> None:
        self._corpus = corpus
        self._place = place
        self._say = say
        self.name = name
        sampled = [one["name"] for one in (*planner.settings.values["sources"], *planner.settings.inputs())]
        chosen = some_files(planner.listing, [name], MOST_READ)
        others = {shard.key for shard in planner.listing.shards if shard.source in sampled and shard.source != name}
        self._keys = chosen - others
        self.read = sum(shard.bytes for shard in planner.listing.shards if shard.source == name and shard.key in chosen)
        self.factor = factors_of(planner.listing, self._keys)[name]
        self._names = [
            f"+{stage.name}"
            for stage in corpus.graph
            if stage.partitioning is Partitioning.SHARD and stage.shard_set is None
        ]

    def build(self, until: float) -> None:
        """Builds the samples. until: when they should be there."""
        share = min(_SMALL / self.read, _LARGEST_SMALL)
        cold, _ = self._build(share, "a small sample, for what the start costs")
        self.cold = replace(cold, driver=cpu_seconds())
        self.small, _ = self._build(share, "another one, for what does not grow")
        rate = sum(one.seconds for one in self.small.stages.values()) / share
        left = until - time.monotonic() - self.small.wall
        large = min(1.0, max(4 * share, _LEAST / self.read, share + 0.8 * left / max(rate, 1e-9)))
        self.large, self.largest = self._build(large, "a larger one, for its documents and copies")

    def _build(self, share: float, what: str) -> tuple[Measured, Part]:
        self._say(f"{what}: {share:.2%} of the rows")
        name = f"sample-{share}-{time.monotonic_ns()}"
        part = Part(self._corpus, Sample(share=share, seed=0), self._place, name, self._keys)
        return build_part(part, self._names), part


def _added(made: _Samples, copies: Copies) -> tuple[Added, Duplicates]:
    read = made.large.read[made.name]
    documents, text = read.all_rows * made.factor, read.all_text * made.factor
    part = read.rows / max(1.0, documents)
    among = duplicates(_found(made.small, made, documents), _found(made.large, made, documents))
    kept = _kept_share(made.large, copies, among)
    return Added(made.name, documents, text, kept, part, copies, made.small, made.large), among


def _found(measured: Measured, made: _Samples, documents: float) -> Found:
    rows = measured.read[made.name].rows
    return Found(rows / max(1.0, documents), rows, measured.summary.dropped.get(_DUPLICATE, 0))


def _kept_share(large: Measured, copies: Copies, among: Duplicates) -> float:
    """Returns the share of the documents of a source that are kept: not dropped for themselves, and no copies."""
    rows = max(1, large.summary.documents)
    by_itself = sum(count for why, count in large.summary.dropped.items() if why != _DUPLICATE) / rows
    return max(0.0, 1 - by_itself - among.expected) * (1 - copies.all / max(1, copies.looked_up))


def _beside(small: Measured) -> float:
    parts = max(1, sum(one.partitions for one in small.stages.values()))
    return max(0.0, small.wall - sum(one.seconds for one in small.stages.values())) / parts


def _wall(stages: Sequence[StageWork], beside: float, start: float) -> tuple[float, float, float]:
    """Returns seconds of wall time: the work on all workers, the driver beside it, and the start."""
    found = []
    for which in ("seconds", "least", "most"):
        work = sum(getattr(one, which) / one.at_once for one in stages)
        again = {"seconds": "likely", "least": None, "most": "perhaps"}[which]
        count = sum(one.new + one.again + (getattr(one, again) if again else 0) for one in stages)
        found.append(start + work + beside * count)
    return found[0], found[1], found[2]
