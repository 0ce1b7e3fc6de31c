"""One build whose driver and workers are timed."""

import json
import os
import resource
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.timed_engine import TIMES, Timed, Timing
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress
from resources.processes.collector import calm_collector
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome


def timed_build(folder: Path) -> dict[str, Any]:
    """Builds the corpus of a folder; returns the figures."""
    calm_collector()  # As `corpus` does.
    times = folder / f"times-{os.getpid()}"
    times.mkdir()
    os.environ[TIMES] = str(times)
    started = time.monotonic()
    corpus = Corpus.open(folder / "corpus.yaml")
    report = build(corpus, list(corpus.graph), _Silent())
    seconds = time.monotonic() - started
    assert report.ok, report.failed
    used = resource.getrusage(resource.RUSAGE_SELF)
    timings = [Timing(*json.loads(line)) for file in times.iterdir() for line in file.read_text().splitlines()]
    sharded = {stage.name for stage in corpus.graph if stage.partitioning is Partitioning.SHARD}
    return {
        "partitions": report.recomputed,
        "seconds": round(seconds, 2),
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "memory_mb": used.ru_maxrss // 1024,
        "busy_share": _busy_share(timings, Timed.begun, Timed.ended, corpus.engine.workers),
        "workers_cpu_s": round(sum(timing.cpu for timing in timings), 3),
        "stages_cpu_s": _by_stage(timings),
        "shard_stages_s": _span_s(timings, sharded),
    }


def _by_stage(timings: Sequence[Timing]) -> dict[str, float]:
    """CPU seconds of the jobs of each stage, most first."""
    found = dict.fromkeys((timing.asset for timing in timings), 0.0)
    for timing in timings:
        found[timing.asset] += timing.cpu
    return {stage: round(found[stage], 3) for stage in sorted(found, key=found.__getitem__, reverse=True)}


def _busy_share(timings: Iterable[Timing], begun: float, ended: float, workers: int) -> float:
    """The share of the time from the first job to the last in which a worker computed or committed."""
    busy = sum(timing.ended - timing.began for timing in timings)
    return round(busy / max(1e-9, (ended - begun) * workers), 3)


def _span_s(timings: Iterable[Timing], assets: Collection[str]) -> float:
    """Seconds in which any of these assets was under way: between its first job and its last, waits included."""
    spans: dict[str, tuple[float, float]] = {}
    for timing in timings:
        if timing.asset in assets:
            began, ended = spans.get(timing.asset, (timing.began, timing.ended))
            spans[timing.asset] = min(began, timing.began), max(ended, timing.ended)
    seconds = reached = 0.0
    for began, ended in sorted(spans.values()):
        seconds += max(0.0, ended - max(began, reached))
        reached = max(reached, ended)
    return round(seconds, 3)


class _Silent(Progress):
    def stage(self, stage: Stage, due: int) -> None:
        """Says nothing."""

    def outcome(self, outcome: Outcome) -> None:
        """Says nothing."""
