"""One build whose driver and workers are timed: `python -m benchmarks.driver_run FOLDER` prints the figures as JSON."""

import json
import os
import resource
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from typing_extensions import override

from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.build import build
from corpus_assets.orchestration.build_report import Progress
from resources.collector import calm_collector
from resources.engine.local import LocalEngine
from resources.stage.declaration import Partitioning, Stage
from resources.stage.job import Job, Outcome, run_job

_TIMES = "CORPUS_BENCHMARK_TIMES"


class Timed(LocalEngine):
    """The local engine; it notes when its first job was asked for and its last one was done."""

    begun = ended = 0.0  # Of the class: the instance that works is another import's (see `main`).

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        Timed.begun = Timed.begun or time.monotonic()
        for outcome in super().run(jobs):
            Timed.ended = time.monotonic()
            yield outcome


class _Timing(NamedTuple):
    """When a job began and ended, and its CPU seconds."""

    asset: str
    began: float
    ended: float
    cpu: float


def timed_job(job: Job) -> Outcome:
    """Runs a job, and appends its times to a file of this worker's own."""
    began, cpu = time.monotonic(), time.process_time()
    outcome = run_job(job)
    timing = _Timing(job.stage.name, began, time.monotonic(), time.process_time() - cpu)
    with Path(os.environ[_TIMES], str(os.getpid())).open("a") as times:
        times.write(f"{json.dumps(timing)}\n")
    return outcome


def _busy_share(timings: Iterable[_Timing], begun: float, ended: float, workers: int) -> float:
    """The share of the time from the first job to the last in which a worker computed or committed."""
    busy = sum(timing.ended - timing.began for timing in timings)
    return round(busy / max(1e-9, (ended - begun) * workers), 3)


def _span_s(timings: Iterable[_Timing], assets: Collection[str]) -> float:
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


def open_timed(section: Mapping[str, Any]) -> Timed:
    """What `engine.kind` names in the benchmark's corpora."""
    return Timed(section["options"]["workers"], timed_job)


class _Silent(Progress):
    def stage(self, stage: Stage, due: int) -> None:
        """Says nothing."""

    def outcome(self, outcome: Outcome) -> None:
        """Says nothing."""


def main() -> None:
    calm_collector()  # As `corpus` does.
    folder = Path(sys.argv[1])
    times = folder / f"times-{os.getpid()}"
    times.mkdir()
    os.environ[_TIMES] = str(times)
    started = time.monotonic()
    corpus = Corpus.open(folder / "corpus.yaml")
    report = build(corpus, list(corpus.graph), _Silent())
    seconds = time.monotonic() - started
    assert report.ok, report.failed
    used = resource.getrusage(resource.RUSAGE_SELF)
    timings = [_Timing(*json.loads(line)) for file in times.iterdir() for line in file.read_text().splitlines()]
    sharded = {stage.name for stage in corpus.graph if stage.partitioning is Partitioning.SHARD}
    # The engine's class is that of another import when this module is the main one.
    engine: Any = type(corpus.engine)
    figures = {
        "partitions": report.recomputed,
        "seconds": round(seconds, 2),
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "memory_mb": used.ru_maxrss // 1024,
        "busy_share": _busy_share(timings, engine.begun, engine.ended, corpus.engine.workers),
        "workers_cpu_s": round(sum(timing.cpu for timing in timings), 3),
        "shard_stages_s": _span_s(timings, sharded),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
